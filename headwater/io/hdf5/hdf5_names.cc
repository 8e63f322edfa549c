#include "headwater/io/hdf5/hdf5_names.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <utility>

#include "headwater/io/hdf5/hdf5_stored.hpp"

namespace headwater {
namespace {

constexpr const char* kAttributes[] = {"names", "channels", "channel_names", "columns"};
constexpr const char* kScales = "DIMENSION_LIST";  // of the specification of dimension scales

// For each dimension of the dataset, references to its scales.
class ScaleLists {
 public:
  explicit ScaleLists(hid_t dataset)
      : attribute_(H5Aexists(dataset, kScales) > 0 ? H5Aopen(dataset, kScales, H5P_DEFAULT) : -1),
        type_(H5Tvlen_create(H5T_STD_REF_OBJ)),
        space_(attribute_.id() < 0 ? -1 : H5Aget_space(attribute_.id())) {
    if (space_.id() < 0 || H5Sget_simple_extent_ndims(space_.id()) != 1) return;
    const Hdf5Handle stored(H5Aget_type(attribute_.id()));
    if (H5Tget_class(stored.id()) != H5T_VLEN) return;
    const Hdf5Handle element(H5Tget_super(stored.id()));
    const hssize_t count = H5Sget_simple_extent_npoints(space_.id());
    if (H5Tget_class(element.id()) != H5T_REFERENCE || count < 1 || count > H5S_MAX_RANK) return;
    lists_.resize(static_cast<std::size_t>(count));
    if (H5Aread(attribute_.id(), type_.id(), lists_.data()) < 0) lists_.clear();
  }
  ScaleLists(const ScaleLists&) = delete;
  ScaleLists& operator=(const ScaleLists&) = delete;
  ~ScaleLists() {
    if (!lists_.empty()) H5Dvlen_reclaim(type_.id(), space_.id(), H5P_DEFAULT, lists_.data());
  }

  std::vector<hobj_ref_t> of_last_dimension() const {
    if (lists_.empty()) return {};
    const auto* first = static_cast<const hobj_ref_t*>(lists_.back().p);
    return {first, first + lists_.back().len};
  }

 private:
  Hdf5Handle attribute_;
  Hdf5Handle type_;
  Hdf5Handle space_;
  std::vector<hvl_t> lists_;
};

}  // namespace

std::vector<std::string> hdf5_column_names(const Hdf5Place& place, std::int64_t dataset,
                                           Index num_columns) {
  const Hdf5Silence silence;
  const ScaleLists scales(dataset);
  for (hobj_ref_t reference : scales.of_last_dimension()) {
    Hdf5Handle scale(H5Rdereference2(dataset, H5P_DEFAULT, H5R_OBJECT, &reference));
    if (scale.id() < 0 || H5Iget_type(scale.id()) != H5I_DATASET) continue;
    const Hdf5Place of_scale = {place.file, place.name, place.path + ": its dimension scale",
                                place.may_leave_file};
    of_scale.check_storage(scale.id());
    const Hdf5Stored stored = Hdf5Stored::opened(of_scale, std::move(scale));
    if (stored.is_list_of_texts(num_columns)) return stored.read_strings();
  }
  for (const char* name : kAttributes) {
    if (H5Aexists(dataset, name) <= 0) continue;
    const Hdf5Stored stored = Hdf5Stored::attribute(place, name);
    if (stored.is_list_of_texts(num_columns)) return stored.read_strings();
  }
  return {};
}

}  // namespace headwater
