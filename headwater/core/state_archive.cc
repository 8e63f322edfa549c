#include "headwater/state_archive.hpp"

#include <bit>
#include <cstring>

#include "headwater/error.hpp"

namespace headwater {

static_assert(std::endian::native == std::endian::little);

namespace {

constexpr std::size_t kMostAtAll = std::size_t{1} << 40;

[[noreturn]] void throw_too_short() { throw InputError("the saved state ends too early"); }

}  // namespace

void StateArchive::expect_end() const {
  if (at_ != bytes_.size()) throw InputError("the saved state is longer than it should be");
}

void StateArchive::expect(bool is_right, const char* otherwise) const {
  if (!is_right) throw InputError(std::string("the saved state has ") + otherwise);
}

void StateArchive::exchange_bytes(void* data, std::size_t size) {
  if (size == 0) return;
  if (is_reading_) {
    if (size > bytes_.size() - at_) throw_too_short();
    std::memcpy(data, bytes_.data() + at_, size);
    at_ += size;
  } else {
    bytes_.append(static_cast<const char*>(data), size);
  }
}

std::size_t StateArchive::exchange_count(std::size_t count, std::size_t least_bytes) {
  std::uint64_t stored = count;
  exchange_bytes(&stored, sizeof stored);
  // Checked before memory is allocated for elements that the file cannot contain.
  const std::size_t most = least_bytes > 0 ? (bytes_.size() - at_) / least_bytes : kMostAtAll;
  if (is_reading_ && stored > most) throw_too_short();
  return stored;
}

void StateArchive::count(Index& value) {
  value = static_cast<Index>(exchange_count(static_cast<std::size_t>(value), 1));
}

void StateArchive::exchange(bool& value) {
  char stored = value ? 1 : 0;
  exchange_bytes(&stored, 1);
  value = stored != 0;
}

void StateArchive::exchange(std::string& text) {
  text.resize(exchange_count(text.size(), 1));
  exchange_bytes(text.data(), text.size());
}

void StateArchive::exchange(Vector& values) { exchange_matrix(values); }

template <class M>
void StateArchive::exchange_matrix(M& values) {
  // If one dimension is 0, the matrix takes no bytes, so the other dimension is not bounded here.
  const std::size_t rows = exchange_count(static_cast<std::size_t>(values.rows()), 0);
  const std::size_t columns = exchange_count(static_cast<std::size_t>(values.cols()), 0);
  if (is_reading_) {
    const auto fits = [](std::size_t stored, Index size) {
      return stored == static_cast<std::size_t>(size);
    };
    const bool is_free = values.size() == 0;
    if (!is_free && !(fits(rows, values.rows()) && fits(columns, values.cols()))) {
      throw InputError("the saved state has a matrix of the wrong shape");
    }
    if (columns > 0 && rows > (bytes_.size() - at_) / sizeof(double) / columns) throw_too_short();
    if constexpr (M::ColsAtCompileTime == 1) {
      if (columns != 1) throw InputError("the saved state has a matrix in place of a vector");
    }
    values.resize(static_cast<Index>(rows), static_cast<Index>(columns));
  }
  exchange_bytes(values.data(), static_cast<std::size_t>(values.size()) * sizeof(double));
}

template void StateArchive::exchange_matrix(Matrix&);
template void StateArchive::exchange_matrix(RowMatrix&);

}  // namespace headwater
