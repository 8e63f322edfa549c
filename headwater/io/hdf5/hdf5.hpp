#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/matrix.hpp"

namespace headwater {

class AtomicFile;
class Hdf5Rows;
struct Hdf5Place;
struct Hdf5Value;

// The part of HDF5 that headwater uses: numbers, strings and arrays of doubles under paths such as
// "/prior/parameters/alpha", with attributes. The same contents give the same bytes. Failures throw
// InputError, such as "model.h5: /basis: is missing". An Hdf5File must not be used by two threads
// at once.
class Hdf5File {
 public:
  // Starts a new file, which is kept in memory until commit() writes it. Throws at once if the file
  // cannot be written.
  static Hdf5File create(const std::string& name);
  void commit(std::string_view seal_title = {});  // a title puts a seal before the file

  // Opens an existing file for reading. Unless it may leave the file, what it would have to read
  // from other files (links, external storage, virtual datasets) is refused.
  static Hdf5File open(const std::string& name, bool may_leave_file = false);

  Hdf5File(Hdf5File&& other) noexcept;
  Hdf5File& operator=(Hdf5File&& other) noexcept;
  ~Hdf5File();

  // Missing groups in `path` are created. Matrices are stored in row-major order, as HDF5 requires,
  // whatever their order in memory.
  void write(const std::string& path, const RowMatrix& matrix);
  void write(const std::string& path, const Matrix& matrix);
  void write(const std::string& path, const Vector& vector);
  void write(const std::string& path, double number);
  void write(const std::string& path, std::string_view text);
  void write(const std::string& path, const std::vector<std::string>& texts);
  void write_bytes(const std::string& path, std::string_view bytes);  // any bytes, as uint8
  void write(const std::string& path, std::integral auto number) {
    write_int(path, static_cast<std::int64_t>(number));
  }

  bool contains(const std::string& path) const;
  Matrix read_matrix(const std::string& path) const;
  // Reads a scalar as a 1x1 matrix, a vector as one column, or a matrix.
  Matrix read_array(const std::string& path) const;
  Vector read_vector(const std::string& path) const;
  double read_double(const std::string& path) const;
  std::int64_t read_int(const std::string& path) const;
  std::string read_string(const std::string& path) const;
  std::vector<std::string> read_strings(const std::string& path) const;
  Hdf5Value read_any(const std::string& path) const;
  std::vector<std::string> children(const std::string& group) const;  // in alphabetical order
  // The paths of the first `most` datasets. Groups nested deeper than 8 are not searched.
  std::vector<std::string> datasets(std::size_t most) const;
  // For a dataset too large to be read at once. The file must outlive the result.
  Hdf5Rows open_rows(const std::string& path) const;

  // Sets an attribute of an existing group or dataset; "/" is the file itself.
  void set_attribute(const std::string& path, const std::string& attribute, std::string_view text);
  void set_attribute(const std::string& path, const std::string& attribute, std::int64_t number);
  bool has_attribute(const std::string& path, const std::string& attribute) const;
  std::string string_attribute(const std::string& path, const std::string& attribute) const;
  std::int64_t int_attribute(const std::string& path, const std::string& attribute) const;
  std::vector<std::string> attributes() const;  // of the file itself
  Hdf5Value read_any_attribute(const std::string& attribute) const;

 private:
  Hdf5File(std::int64_t id, const std::string& name, std::unique_ptr<AtomicFile> target);
  Hdf5Place at(const std::string& path) const;
  void add_datasets(const std::string& group, int depth, std::size_t most,
                    std::vector<std::string>& paths) const;
  void write_int(const std::string& path, std::int64_t number);

  std::int64_t id_ = -1;
  std::string name_;
  std::unique_ptr<AtomicFile> target_;  // null if the file is open for reading
  bool may_leave_file_ = false;
};

}  // namespace headwater
