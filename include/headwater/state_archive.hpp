#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "headwater/export.hpp"
#include "headwater/matrix.hpp"

namespace headwater {

class StateArchive;

// A class whose state can be saved and restored lists its members once,
//   void exchange(StateArchive& archive) { archive(statistics_, num_steps_); }
// and this list is used both for writing and for reading, so that the two cannot differ.
template <class T>
concept Exchangeable = requires(T value, StateArchive& archive) {
  value.exchange(archive);
};

// The state of a computation as bytes, exact to the last bit. Numbers are stored as in memory, in
// little-endian order. Reading checks sizes: bytes that end too early, or a matrix whose shape
// differs from the one it replaces, throw InputError.
class HEADWATER_EXPORT StateArchive {
 public:
  StateArchive() = default;  // for writing
  explicit StateArchive(std::string bytes) : bytes_(std::move(bytes)), is_reading_(true) {}

  bool is_reading() const { return is_reading_; }

  template <class... Values>
  void operator()(Values&... values) {
    (exchange(values), ...);
  }

  // A number of elements that follow, each of which takes at least one byte.
  void count(Index& value);

  // For the checks that only a class itself can make of what it has read, such as indices and sizes
  // that belong together: throws InputError, "the saved state has ...", if `is_right` is false.
  void expect(bool is_right, const char* otherwise) const;

  const std::string& bytes() const { return bytes_; }
  std::string take_bytes() { return std::move(bytes_); }
  void expect_end() const;  // throws if bytes are left after reading

 private:
  template <class T>
  void exchange(T& value) {
    if constexpr (Exchangeable<T>) {
      value.exchange(*this);
    } else {
      static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
      exchange_bytes(&value, sizeof value);
    }
  }
  void exchange(bool& value);
  void exchange(std::string& text);
  void exchange(Vector& values);
  void exchange(Matrix& values) { exchange_matrix(values); }
  void exchange(RowMatrix& values) { exchange_matrix(values); }
  template <class T>
  void exchange(std::vector<T>& values) {
    values.resize(exchange_count(values.size(), std::is_arithmetic_v<T> ? sizeof(T) : 1));
    if constexpr (std::is_arithmetic_v<T>) {
      exchange_bytes(values.data(), values.size() * sizeof(T));
    } else {
      for (T& value : values) exchange(value);
    }
  }

  template <class M>
  void exchange_matrix(M& values);
  // The number of elements that follow, each of which takes at least `least_bytes`.
  std::size_t exchange_count(std::size_t count, std::size_t least_bytes);
  void exchange_bytes(void* data, std::size_t size);

  std::string bytes_;
  std::size_t at_ = 0;
  bool is_reading_ = false;
};

// The first `count` elements of a vector that keeps further elements for reuse.
template <class T>
void exchange_first(StateArchive& archive, std::vector<T>& values, Index& count) {
  archive.count(count);
  if (static_cast<Index>(values.size()) < count) values.resize(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) archive(values[i]);
}

}  // namespace headwater
