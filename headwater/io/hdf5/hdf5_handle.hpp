#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

// Internals of hdf5.hpp. HDF5's identifiers are declared as plain integers, so that only source
// files include hdf5.h.
namespace headwater {

// Stops HDF5 from printing its errors. The destructor restores the previous setting.
class Hdf5Silence {
 public:
  Hdf5Silence();
  Hdf5Silence(const Hdf5Silence&) = delete;
  Hdf5Silence& operator=(const Hdf5Silence&) = delete;
  ~Hdf5Silence();

 private:
  int (*function_)(std::int64_t, void*) = nullptr;
  void* data_ = nullptr;
  bool was_set_ = false;
};

// An open HDF5 object, closed when it goes out of scope. The identifier is negative if the object
// could not be opened.
class Hdf5Handle {
 public:
  explicit Hdf5Handle(std::int64_t id) : id_(id) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Hdf5Handle& operator=(Hdf5Handle&&) = delete;
  ~Hdf5Handle();

  std::int64_t id() const { return id_; }

 private:
  std::int64_t id_;
};

inline constexpr std::string_view kCannotBeRead = "cannot be read";

// A path in a file, which is open as `file`.
struct Hdf5Place {
  std::int64_t file;
  std::string name;
  std::string path;
  bool may_leave_file = false;  // whether links to other files are followed

  // Whether the object and all groups on its path exist. Fails if the path leads to another file,
  // unless it may. A file from elsewhere could otherwise name any file that the user can read.
  bool exists() const;
  enum class Reach { missing, inside, outside };
  Reach reach() const;
  // Fails if the dataset keeps its numbers in other files (external storage, or a virtual dataset),
  // unless it may. Called before anything else is asked of the dataset.
  void check_storage(std::int64_t dataset) const;

  // Throws an error such as "model.h5: /basis: is missing".
  [[noreturn]] void fail(std::string_view what) const;

  // Calls fail() if `status` is negative, which is how HDF5 reports failure.
  template <class Status>
  Status check(Status status, std::string_view what) const {
    if (status < 0) fail(what);
    return status;
  }

  // Fails if an array of this shape cannot fit into the file, even compressed by the given factor.
  // Such a file is damaged: reading it would exhaust the memory or return zeros almost without end.
  void check_size(std::int64_t object, std::span<const std::uint64_t> lengths,
                  std::size_t value_size, std::uint64_t compression) const;
};

// Deflate, the filter that every HDF5 reader supports, compresses by a factor of at most 1032.
inline constexpr std::uint64_t kDeflateCompression = 1032;

// The type of variable-length UTF-8 strings, which h5py reads as str.
Hdf5Handle hdf5_text_type();

}  // namespace headwater
