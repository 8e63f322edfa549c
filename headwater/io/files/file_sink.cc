#include "headwater/io/files/file_sink.hpp"

#include <fmt/format.h>

#include "headwater/error.hpp"

namespace headwater {
namespace {

constexpr std::size_t kEnoughToWrite = 1 << 16;

}  // namespace

FileSink::FileSink(const std::string& name, bool flush_each_row)
    : file_(name), flush_each_row_(flush_each_row) {}

void FileSink::write_row(std::span<const std::string> texts, std::span<const double> row) {
  expect_columns(append_texts(texts, pending_) + row.size());
  append_row(row, pending_);
  ++num_rows_;
  if (flush_each_row_ || pending_.size() >= kEnoughToWrite) flush();
}

void FileSink::commit() {
  flush();
  complete(file_);
  file_.commit();
}

void FileSink::expect_columns(std::size_t count) {
  if (knows_columns_ && count != num_columns_) {
    throw UsageError(fmt::format("{}: row {} has {} values where {} were expected", file_.name(),
                                 num_rows_ + 1, count, num_columns_));
  }
  knows_columns_ = true;
  num_columns_ = count;
}

void FileSink::flush() {
  file_.write(pending_);
  pending_.clear();
}

}  // namespace headwater
