#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headwater/matrix.hpp"
#include "headwater/observation.hpp"
#include "headwater/parameter.hpp"
#include "headwater/standard_errors.hpp"

// Conversions between NumPy and Eigen. Arrays from Python are contiguous, row-major and of doubles;
// arrays returned to Python own their memory.
namespace headwater::python {

namespace nb = nanobind;

// Names of channels may hold bytes that are no UTF-8: Python keeps them as surrogate escapes.
inline std::vector<std::string> to_names(const std::vector<nb::bytes>& names) {
  std::vector<std::string> texts;
  for (const nb::bytes& name : names) texts.emplace_back(name.c_str(), name.size());
  return texts;
}
inline nb::list names_to_python(const std::vector<std::string>& names) {
  nb::list list;
  for (const std::string& name : names) {
    list.append(nb::steal(PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()),
                                               "surrogateescape")));
  }
  return list;
}

using RowsIn = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using RowIn = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using IndicesIn = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using RowsOut = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using RowOut = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using NumpyTable = nb::ndarray<nb::numpy, double, nb::ndim<2>, nb::c_contig>;
using NumpyVector = nb::ndarray<nb::numpy, double, nb::ndim<1>, nb::c_contig>;

inline Eigen::Map<const RowMatrix> as_map(const RowsIn& rows) {
  return {rows.data(), static_cast<Index>(rows.shape(0)), static_cast<Index>(rows.shape(1))};
}

inline Eigen::Map<RowMatrix> as_map(const RowsOut& rows) {
  return {rows.data(), static_cast<Index>(rows.shape(0)), static_cast<Index>(rows.shape(1))};
}

inline std::span<const double> row_of(const RowsIn& rows, std::size_t i) {
  return {rows.data() + i * rows.shape(1), rows.shape(1)};
}

// number: of the observation, for messages.
inline void assign_row(const RowsIn& rows, const std::optional<RowsIn>& exposures, std::size_t i,
                       std::int64_t number, Observation& out) {
  out.assign(row_of(rows, i), exposures ? row_of(*exposures, i) : std::span<const double>(),
             number);
}

// Row i of a sparse matrix, compressed by row; column indices are ascending in each.
inline void assign_sparse_row(const RowIn& values, const IndicesIn& columns,
                              const IndicesIn& begins, std::size_t i, Index num_channels,
                              std::int64_t number, Observation& out) {
  out.begin(num_channels);
  for (std::int64_t at = begins(i); at < begins(i + 1); ++at) {
    out.add(columns(static_cast<std::size_t>(at)), values(static_cast<std::size_t>(at)), number);
  }
}

// Rows at which a new sequence begins, ascending; nothing where there are no sequences.
class SequenceBegins {
 public:
  explicit SequenceBegins(const std::optional<IndicesIn>& begins) : begins_(begins) {}

  // For ascending rows.
  bool at(std::size_t row) {
    if (!begins_ || next_ == begins_->shape(0)) return false;
    if ((*begins_)(next_) != static_cast<std::int64_t>(row)) return false;
    ++next_;
    return true;
  }

 private:
  const std::optional<IndicesIn>& begins_;
  std::size_t next_ = 0;
};

// The caller must hold the GIL.
inline NumpyTable to_numpy(RowMatrix matrix) {
  auto owned = std::make_unique<RowMatrix>(std::move(matrix));
  RowMatrix* const at = owned.get();
  const nb::capsule owner(owned.release(),
                          [](void* p) noexcept { delete static_cast<RowMatrix*>(p); });
  return NumpyTable(at->data(),
                    {static_cast<std::size_t>(at->rows()), static_cast<std::size_t>(at->cols())},
                    owner);
}

inline NumpyVector vector_to_numpy(Vector vector) {
  auto owned = std::make_unique<Vector>(std::move(vector));
  Vector* const at = owned.get();
  const nb::capsule owner(owned.release(),
                          [](void* p) noexcept { delete static_cast<Vector*>(p); });
  return NumpyVector(at->data(), {static_cast<std::size_t>(at->size())}, owner);
}

// Parameters by name: a float if all components share it, otherwise an array.
inline nb::dict to_dict(const Parameters& parameters) {
  nb::dict dict;
  for (const auto& [name, value] : parameters) {
    if (value.size() == 1) {
      dict[name.c_str()] = nb::float_(value(0));
    } else if (value.cols() == 1) {
      dict[name.c_str()] = vector_to_numpy(value).cast();
    } else {
      dict[name.c_str()] = to_numpy(value).cast();
    }
  }
  return dict;
}

// The profiles whose errors are known, by their periods.
inline nb::dict profile_errors_to_python(const ErrorsOfEstimate& errors) {
  nb::dict found;
  for (const Matrix& profile : errors.profiles) {
    if (profile.size() > 0) found[nb::int_(profile.cols())] = to_numpy(profile);
  }
  return found;
}

// Basis, parameters and profiles, the same of the plain form, and whether all was taken together;
// None if there are none.
inline nb::object errors_to_python(const std::optional<StandardErrors>& errors) {
  if (!errors) return nb::none();
  return nb::make_tuple(to_numpy(errors->robust.basis), to_dict(errors->robust.parameters),
                        profile_errors_to_python(errors->robust), to_numpy(errors->plain.basis),
                        to_dict(errors->plain.parameters), profile_errors_to_python(errors->plain),
                        errors->is_full);
}

}  // namespace headwater::python
