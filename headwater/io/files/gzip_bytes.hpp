#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "headwater/io/files/byte_source.hpp"

struct z_stream_s;

namespace headwater {

// Decompresses gzip data, which may consist of several members in sequence. Memory: zlib's state,
// slightly over 32 KB, and a buffer. All bytes that can be decompressed from the input so far are
// returned before more input is waited for.
class GzipBytes final : public ByteSource {
 public:
  explicit GzipBytes(std::unique_ptr<ByteSource> compressed);
  ~GzipBytes() override;

  std::size_t read(std::span<char> space) override;
  std::optional<double> fraction_used(std::size_t unused) const override;
  bool was_stopped() const override { return compressed_->was_stopped(); }
  bool is_pipe() const override { return compressed_->is_pipe(); }
  bool can_be_cut_off() const override { return false; }  // the end of the data is marked
  std::int64_t num_replaced() const override { return compressed_->num_replaced(); }

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
