#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "headwater/io/files/atomic_file.hpp"
#include "headwater/io/sink.hpp"

namespace headwater {

// What sinks have in common: bytes are gathered and go out in large pieces, every row is as wide as
// the first. A format adds how its rows look.
class FileSink : public MatrixSink {
 public:
  FileSink(const std::string& name, bool flush_each_row);

  void write_row(std::span<const double> row) final;
  void commit() final;

 protected:
  virtual void append_row(std::span<const double> row, std::string& bytes) = 0;
  virtual void complete(AtomicFile&) {}  // once all rows are in the file, before it gets its name

  void append(std::string_view bytes) { pending_ += bytes; }
  void expect_columns(std::size_t count);
  const AtomicFile& file() const { return file_; }
  std::int64_t num_rows() const { return num_rows_; }
  std::size_t num_columns() const { return num_columns_; }

 private:
  void flush();

  AtomicFile file_;
  bool flush_each_row_;
  bool knows_columns_ = false;
  std::size_t num_columns_ = 0;
  std::int64_t num_rows_ = 0;
  std::string pending_;
};

}  // namespace headwater
