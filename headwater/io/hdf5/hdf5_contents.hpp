#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "headwater/matrix.hpp"
#include "headwater/state_archive.hpp"

namespace headwater {

class Hdf5File;

// A dataset or an attribute, as it was stored.
struct Hdf5Value {
  enum class Kind : std::uint8_t { other, number, text };

  Kind kind = Kind::other;  // other: of a type that headwater does not use
  bool is_whole = false;    // a number of an integer type
  std::vector<Index> lengths;
  std::vector<double> numbers;  // in row-major order
  std::int64_t whole = 0;       // a single number of an integer type, exactly
  std::vector<std::string> texts;

  void exchange(StateArchive& archive) { archive(kind, is_whole, lengths, numbers, whole, texts); }
};

// All datasets of a small HDF5 file and the attributes of the file itself, in memory. One process
// can read a file, and another one make use of what is in it. The functions that read have the
// names and the errors of Hdf5File's.
class Hdf5Contents {
 public:
  Hdf5Contents() = default;
  // Throws InputError if it is too large or cannot be read.
  explicit Hdf5Contents(const Hdf5File& file);

  void exchange(StateArchive& archive);

  bool contains(const std::string& path) const;  // a dataset, or a group with a dataset in it
  Matrix read_matrix(const std::string& path) const;
  Matrix read_array(const std::string& path) const;
  Vector read_vector(const std::string& path) const;
  double read_double(const std::string& path) const;
  std::int64_t read_int(const std::string& path) const;
  std::string read_string(const std::string& path) const;
  std::vector<std::string> read_strings(const std::string& path) const;
  std::string read_bytes(const std::string& path) const;  // see Hdf5File::write_bytes
  std::vector<std::string> children(const std::string& group) const;

  bool has_attribute(const std::string& attribute) const { return attributes_.contains(attribute); }
  std::string string_attribute(const std::string& attribute) const;
  std::int64_t int_attribute(const std::string& attribute) const;

 private:
  using Values = std::map<std::string, Hdf5Value>;

  const Hdf5Value& dataset(const std::string& path) const;
  const Hdf5Value& attribute(const std::string& name) const;
  Matrix read_numbers(const std::string& path, std::size_t num_dimensions) const;

  Values datasets_;  // by their paths
  Values attributes_;
};

}  // namespace headwater
