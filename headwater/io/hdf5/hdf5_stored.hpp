#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/io/hdf5/hdf5_contents.hpp"
#include "headwater/io/hdf5/hdf5_handle.hpp"
#include "headwater/matrix.hpp"

namespace headwater {

// A dataset or attribute opened for reading; HDF5 has different functions for the two. Sizes are
// checked before memory is allocated.
class Hdf5Stored {
 public:
  static Hdf5Stored dataset(const Hdf5Place& place);
  static Hdf5Stored attribute(const Hdf5Place& place, const std::string& name);
  // A dataset that is open already; the place is for messages.
  static Hdf5Stored opened(const Hdf5Place& place, Hdf5Handle object);

  Matrix read_matrix() const;
  Matrix read_array() const;
  Vector read_vector() const;
  double read_double() const;
  std::int64_t read_int() const;
  std::string read_string() const;
  bool is_list_of_texts(Index length) const;
  std::vector<std::string> read_strings() const;
  Hdf5Value read_any() const;  // what it is; of kind `other` if it cannot be used

 private:
  Hdf5Stored(Hdf5Place place, Hdf5Handle object, bool is_attribute);

  std::vector<Index> shape(std::size_t num_dimensions) const;
  std::vector<Index> any_shape() const;
  void check_size(const std::vector<std::uint64_t>& lengths) const;
  void expect_numbers() const;
  void expect_single() const;
  void read(std::int64_t type, void* data) const;
  std::vector<std::string> read_fixed_strings(std::size_t count) const;
  std::vector<std::string> read_variable_strings(std::size_t count) const;

  Hdf5Place place_;
  Hdf5Handle object_;
  bool is_attribute_;
  Hdf5Handle type_;
  Hdf5Handle space_;
};

}  // namespace headwater
