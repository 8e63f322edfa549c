#include "headwater/io/hdf5/hdf5_stored.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <limits>
#include <utility>

namespace headwater {
namespace {

// A file that claims more is damaged or hostile, and not worth the memory.
constexpr std::uint64_t kMostValues = std::uint64_t{1} << 31;

}  // namespace

Hdf5Stored Hdf5Stored::dataset(const Hdf5Place& place) {
  if (!place.exists()) place.fail("is missing");
  Hdf5Handle object(H5Dopen2(place.file, place.path.c_str(), H5P_DEFAULT));
  place.check(object.id(), "cannot be opened as a dataset");
  place.check_storage(object.id());
  return Hdf5Stored(place, std::move(object), false);
}

Hdf5Stored Hdf5Stored::opened(const Hdf5Place& place, Hdf5Handle object) {
  return Hdf5Stored(place, std::move(object), false);
}

Hdf5Stored Hdf5Stored::attribute(const Hdf5Place& place, const std::string& name) {
  if (!place.exists()) place.fail("is missing");
  const std::string title = fmt::format("attribute '{}'", name);
  Hdf5Handle object(
      H5Aopen_by_name(place.file, place.path.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT));
  place.check(object.id(), title + " is missing");
  return Hdf5Stored({place.file, place.name, place.path + ": " + title, false}, std::move(object),
                    true);
}

Hdf5Stored::Hdf5Stored(Hdf5Place place, Hdf5Handle object, bool is_attribute)
    : place_(std::move(place)),
      object_(std::move(object)),
      is_attribute_(is_attribute),
      type_(is_attribute ? H5Aget_type(object_.id()) : H5Dget_type(object_.id())),
      space_(is_attribute ? H5Aget_space(object_.id()) : H5Dget_space(object_.id())) {
  place_.check(type_.id(), kCannotBeRead);
  place_.check(space_.id(), kCannotBeRead);
}

Matrix Hdf5Stored::read_matrix() const {
  expect_numbers();
  const std::vector<Index> lengths = shape(2);
  RowMatrix matrix(lengths[0], lengths[1]);
  read(H5T_NATIVE_DOUBLE, matrix.data());
  return matrix;
}

Matrix Hdf5Stored::read_array() const {
  expect_numbers();
  std::vector<Index> lengths = any_shape();
  if (lengths.size() > 2) shape(2);  // always fails here, and says what was expected
  lengths.resize(2, 1);
  RowMatrix matrix(lengths[0], lengths[1]);
  read(H5T_NATIVE_DOUBLE, matrix.data());
  return matrix;
}

Vector Hdf5Stored::read_vector() const {
  expect_numbers();
  Vector vector(shape(1)[0]);
  read(H5T_NATIVE_DOUBLE, vector.data());
  return vector;
}

double Hdf5Stored::read_double() const {
  expect_numbers();
  expect_single();
  double number = 0;
  read(H5T_NATIVE_DOUBLE, &number);
  return number;
}

std::int64_t Hdf5Stored::read_int() const {
  if (H5Tget_class(type_.id()) != H5T_INTEGER) place_.fail("does not hold a whole number");
  expect_single();
  std::int64_t number = 0;
  read(H5T_NATIVE_INT64, &number);
  // HDF5 converts a value that does not fit to the largest one that does.
  const bool is_unsigned = H5Tget_sign(type_.id()) == H5T_SGN_NONE;
  if (is_unsigned && number == std::numeric_limits<std::int64_t>::max()) {
    place_.fail("is out of range; expected a whole number below 2^63");
  }
  return number;
}

std::string Hdf5Stored::read_string() const {
  if (H5Tget_class(type_.id()) != H5T_STRING) place_.fail("does not hold a string");
  expect_single();
  return read_strings()[0];
}

bool Hdf5Stored::is_list_of_texts(Index length) const {
  return H5Tget_class(type_.id()) == H5T_STRING && H5Sget_simple_extent_ndims(space_.id()) == 1 &&
         H5Sget_simple_extent_npoints(space_.id()) == length;
}

std::vector<std::string> Hdf5Stored::read_strings() const {
  if (H5Tget_class(type_.id()) != H5T_STRING) place_.fail("does not hold strings");
  std::size_t count = 1;
  for (const Index length : any_shape()) count *= static_cast<std::size_t>(length);
  if (count == 0) return {};
  return H5Tis_variable_str(type_.id()) > 0 ? read_variable_strings(count)
                                            : read_fixed_strings(count);
}

Hdf5Value Hdf5Stored::read_any() const {
  Hdf5Value value;
  const H5T_class_t kind = H5Tget_class(type_.id());
  if (kind == H5T_STRING) {
    value.kind = Hdf5Value::Kind::text;
    value.lengths = any_shape();
    value.texts = read_strings();
  } else if (kind == H5T_FLOAT || kind == H5T_INTEGER) {
    value.kind = Hdf5Value::Kind::number;
    value.is_whole = kind == H5T_INTEGER;
    value.lengths = any_shape();
    Index count = 1;
    for (const Index length : value.lengths) count *= length;
    value.numbers.resize(static_cast<std::size_t>(count));
    if (count > 0) read(H5T_NATIVE_DOUBLE, value.numbers.data());
    if (value.is_whole && count == 1) value.whole = read_int();
  }
  return value;
}

std::vector<Index> Hdf5Stored::shape(std::size_t num_dimensions) const {
  std::vector<Index> lengths = any_shape();
  if (lengths.size() != num_dimensions) {
    place_.fail(fmt::format("has {} dimension{}; expected {}", lengths.size(),
                            lengths.size() == 1 ? "" : "s", num_dimensions));
  }
  return lengths;
}

std::vector<Index> Hdf5Stored::any_shape() const {
  if (H5Sget_simple_extent_type(space_.id()) == H5S_NULL) place_.fail("is empty");
  hsize_t lengths[H5S_MAX_RANK] = {};
  const int count =
      place_.check(H5Sget_simple_extent_dims(space_.id(), lengths, nullptr), kCannotBeRead);
  check_size({lengths, lengths + count});
  return {lengths, lengths + count};
}

void Hdf5Stored::check_size(const std::vector<std::uint64_t>& lengths) const {
  place_.check_size(object_.id(), lengths, H5Tget_size(type_.id()), kDeflateCompression);
  std::uint64_t count = 1;
  for (const std::uint64_t length : lengths) {
    count *= length;
    if (count > kMostValues) place_.fail("is too large");
  }
}

void Hdf5Stored::expect_numbers() const {
  const H5T_class_t kind = H5Tget_class(type_.id());
  if (kind != H5T_FLOAT && kind != H5T_INTEGER) place_.fail("does not hold numbers");
}

// Some languages have no scalars and write arrays of length 1 instead.
void Hdf5Stored::expect_single() const {
  for (const Index length : any_shape()) {
    if (length != 1) place_.fail("holds an array; expected a single value");
  }
}

void Hdf5Stored::read(std::int64_t type, void* data) const {
  place_.check(is_attribute_ ? H5Aread(object_.id(), type, data)
                             : H5Dread(object_.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data),
               kCannotBeRead);
}

std::vector<std::string> Hdf5Stored::read_fixed_strings(std::size_t count) const {
  check_size({count});
  const std::size_t size = H5Tget_size(type_.id());
  std::string bytes(count * size, '\0');
  read(type_.id(), bytes.data());
  const char padding = H5Tget_strpad(type_.id()) == H5T_STR_SPACEPAD ? ' ' : '\0';
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    std::string& text = texts.emplace_back(bytes.substr(i * size, size));
    text.erase(text.find_last_not_of(padding) + 1);
  }
  return texts;
}

std::vector<std::string> Hdf5Stored::read_variable_strings(std::size_t count) const {
  const Hdf5Handle type = hdf5_text_type();
  H5Tset_cset(type.id(), H5Tget_cset(type_.id()));  // HDF5 cannot convert between encodings
  std::vector<char*> given(count, nullptr);
  read(type.id(), given.data());
  std::vector<std::string> texts;
  for (char* text : given) {
    texts.emplace_back(text == nullptr ? "" : text);
    H5free_memory(text);
  }
  return texts;
}

}  // namespace headwater
