#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "headwater/io/files/byte_source.hpp"

struct z_stream_s;

namespace headwater {

// What gzip compressed, also in several pieces one behind the other. Memory is that of zlib, 32 KB
// and a little, and a buffer. Nothing is held back: all that the compressed bytes so far tell is
// handed out before more of them are waited for.
class GzipBytes final : public ByteSource {
 public:
  explicit GzipBytes(std::unique_ptr<ByteSource> compressed);
  ~GzipBytes() override;

  std::size_t read(std::span<char> space) override;
  std::optional<double> fraction_used(std::size_t unused) const override;
  bool was_stopped() const override { return compressed_->was_stopped(); }

 private:
  bool fill();
  bool begin_piece();
  std::size_t inflate_into(std::span<char> space);

  std::unique_ptr<ByteSource> compressed_;
  std::vector<char> buffer_;
  std::unique_ptr<z_stream_s> stream_;
  bool in_piece_ = false;
  bool is_first_piece_ = true;
  std::int64_t num_read_ = 0;
};

}  // namespace headwater
