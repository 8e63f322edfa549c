#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

// Inner parts of hdf5.hpp. HDF5's identifiers appear as the integers that they are, so that only
// sources include hdf5.h.
namespace headwater {

// HDF5 prints its errors unless told otherwise. What the program around us has set comes back.
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

// An open object of HDF5, closed when it goes out of scope; negative when it could not be opened.
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

  // Whether every group on the way is there, and the object itself.
  bool exists() const;

  // "model.h5: /basis: is missing"
  [[noreturn]] void fail(std::string_view what) const;

  // HDF5 reports failure by negative numbers.
  template <class Status>
  Status check(Status status, std::string_view what) const {
    if (status < 0) fail(what);
    return status;
  }

  // Fails when an array of this shape is more than the whole file that the object lies in can hold,
  // compressed by such a factor: then the file is damaged, and would have us take memory, or read
  // zeros, without end.
  void check_size(std::int64_t object, std::span<const std::uint64_t> lengths,
                  std::size_t value_size, std::uint64_t compression) const;
};

// Deflate, the filter that every reader of HDF5 has, shrinks to no less than a 1032nd.
inline constexpr std::uint64_t kDeflateCompression = 1032;

// UTF-8 of any length, which h5py gives back as str.
Hdf5Handle hdf5_text_type();

}  // namespace headwater
