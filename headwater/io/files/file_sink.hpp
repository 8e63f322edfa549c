#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "headwater/io/files/atomic_file.hpp"
#include "headwater/sink.hpp"

namespace headwater {

// The common part of all sinks: it buffers the output and checks that all rows have the same
// length. A subclass formats the rows.
class FileSink : public MatrixSink {
 public:
  FileSink(const std::string& name, bool flush_each_row);

  void write_row(std::span<const double> row) final { write_row({}, row); }
  void write_row(std::span<const std::string> texts, std::span<const double> row) final;
  void commit() final;

 protected:
  virtual void append_row(std::span<const double> row, std::string& bytes) = 0;
  // Returns how many columns they take: none in a format without texts.
  virtual std::size_t append_texts(std::span<const std::string> /*texts*/, std::string& /*bytes*/) {
    return 0;
  }
  virtual void complete(AtomicFile&) {}  // called after the last row, before the file gets its name

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
