#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/core/matrix.hpp"

namespace headwater {

class AtomicFile;
class Hdf5Rows;
struct Hdf5Place;

// An HDF5 file, as far as we need it: numbers, arrays of doubles and strings under paths such as
// "/prior/parameters/alpha", with attributes. The same contents give the same bytes. Failures throw
// InputError, "model.h5: /basis: is missing". One thread at a time may use an Hdf5File.
class Hdf5File {
 public:
  // Starts a new file, which grows in memory and appears under its name complete, by commit().
  // Fails at once when that name cannot be written.
  static Hdf5File create(const std::string& name);
  void commit(std::string_view seal_title = {});  // with a title: behind a seal

  // Opens a file to read.
  static Hdf5File open(const std::string& name);

  Hdf5File(Hdf5File&& other) noexcept;
  Hdf5File& operator=(Hdf5File&& other) noexcept;
  ~Hdf5File();

  // Groups on the way to a path are created. A matrix has the same rows and columns for every other
  // reader of HDF5, whatever its order here.
  void write(const std::string& path, const RowMatrix& matrix);
  void write(const std::string& path, const Matrix& matrix);
  void write(const std::string& path, const Vector& vector);
  void write(const std::string& path, double number);
  void write(const std::string& path, std::string_view text);
  void write(const std::string& path, std::integral auto number) {
    write_int(path, static_cast<std::int64_t>(number));
  }

  bool contains(const std::string& path) const;
  Matrix read_matrix(const std::string& path) const;
  // A single number as 1x1, a vector as one column, or a matrix.
  Matrix read_array(const std::string& path) const;
  Vector read_vector(const std::string& path) const;
  double read_double(const std::string& path) const;
  std::int64_t read_int(const std::string& path) const;
  std::string read_string(const std::string& path) const;
  std::vector<std::string> children(const std::string& group) const;  // in alphabetical order
  // The paths of datasets, at most so many, and none that are deeper than 8 groups.
  std::vector<std::string> datasets(std::size_t most) const;
  // Of a dataset that is too large to be read at once. The file must outlive them.
  Hdf5Rows open_rows(const std::string& path) const;

  // Of a group or an array that is there; "/" is the file itself.
  void set_attribute(const std::string& path, const std::string& attribute, std::string_view text);
  void set_attribute(const std::string& path, const std::string& attribute, std::int64_t number);
  bool has_attribute(const std::string& path, const std::string& attribute) const;
  std::string string_attribute(const std::string& path, const std::string& attribute) const;
  std::int64_t int_attribute(const std::string& path, const std::string& attribute) const;

 private:
  Hdf5File(std::int64_t id, const std::string& name, std::unique_ptr<AtomicFile> target);
  Hdf5Place at(const std::string& path) const;
  void add_datasets(const std::string& group, int depth, std::size_t most,
                    std::vector<std::string>& paths) const;
  void write_int(const std::string& path, std::int64_t number);

  std::int64_t id_ = -1;
  std::string name_;
  std::unique_ptr<AtomicFile> target_;  // null when the file is open to read
};

}  // namespace headwater
