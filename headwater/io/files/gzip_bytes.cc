#include "headwater/io/files/gzip_bytes.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

namespace headwater {
namespace {

constexpr std::size_t kBufferSize = 1 << 16;
constexpr int kOnlyGzip = 16;  // added to the window size: accept only gzip format

}  // namespace

GzipBytes::GzipBytes(std::unique_ptr<ByteSource> compressed)
    : compressed_(std::move(compressed)),
      buffer_(kBufferSize),
      stream_(std::make_unique<z_stream>()) {
  if (inflateInit2(stream_.get(), MAX_WBITS + kOnlyGzip) != Z_OK) throw std::bad_alloc();
}

GzipBytes::~GzipBytes() { inflateEnd(stream_.get()); }

std::size_t GzipBytes::read(std::span<char> space) {
  while (in_piece_ || begin_piece()) {
    if (const std::size_t count = inflate_into(space); count > 0) return count;
    if (in_piece_ && stream_->avail_in == 0 && !fill()) {
      if (was_stopped()) return 0;
      throw DamagedBytes("the compressed data are cut off");
    }
  }
  return 0;
}

std::optional<double> GzipBytes::fraction_used(std::size_t unused) const {
  const auto fraction = compressed_->fraction_used(stream_->avail_in);
  if (!fraction || num_read_ == 0) return fraction;
  return *fraction * (1 - static_cast<double>(unused) / static_cast<double>(num_read_));
}

bool GzipBytes::fill() {
  const std::size_t count = compressed_->read(buffer_);
  stream_->next_in = reinterpret_cast<Bytef*>(buffer_.data());
  stream_->avail_in = static_cast<uInt>(count);
  return count > 0;
}

// Returns false at the end of the file. Zeros after a gzip member are padding, as on tapes.
bool GzipBytes::begin_piece() {
  for (;;) {
    if (stream_->avail_in == 0 && !fill()) break;
    if (is_first_piece_ || *stream_->next_in != 0) {
      if (!is_first_piece_) inflateReset(stream_.get());
      is_first_piece_ = false;
      in_piece_ = true;
      return true;
    }
    ++stream_->next_in;
    --stream_->avail_in;
  }
  if (is_first_piece_ && !was_stopped()) throw DamagedBytes("is not compressed by gzip");
  return false;
}

std::size_t GzipBytes::inflate_into(std::span<char> space) {
  const std::size_t room = std::min<std::size_t>(space.size(), std::numeric_limits<uInt>::max());
  stream_->next_out = reinterpret_cast<Bytef*>(space.data());
  stream_->avail_out = static_cast<uInt>(room);
  const int status = inflate(stream_.get(), Z_SYNC_FLUSH);
  const std::size_t count = room - stream_->avail_out;
  num_read_ += static_cast<std::int64_t>(count);
  in_piece_ = status != Z_STREAM_END;
  if (count > 0) return count;  // the next call meets the same error again
  if (status == Z_MEM_ERROR) throw std::bad_alloc();
  // inflate() returns Z_BUF_ERROR if it has no input to work on, which is not an error here.
  if (status == Z_DATA_ERROR || status == Z_NEED_DICT || status == Z_STREAM_ERROR) {
    throw DamagedBytes(num_read_ == 0 ? "is not compressed by gzip"
                                      : "the compressed data are damaged");
  }
  return count;
}

}  // namespace headwater
