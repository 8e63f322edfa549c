#include "headwater/io/npy/npy_sink.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <bit>

#include "headwater/error.hpp"
#include "headwater/io/npy/npy_header.hpp"

namespace headwater {

static_assert(std::endian::native == std::endian::little, "doubles are written as they lie");

NpySink::NpySink(const std::string& name, bool flush_each_row) : FileSink(name, flush_each_row) {
  if (lseek(file().descriptor().number(), 0, SEEK_CUR) < 0) {
    throw InputError(fmt::format("{}: cannot be written: .npy needs a regular file", name));
  }
  append(std::string(kNpyHeaderSize, '\0'));
}

void NpySink::append_row(std::span<const double> row, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(row.data()), row.size_bytes());
}

void NpySink::complete(AtomicFile& file) {
  file.overwrite(0, format_npy_header(num_rows(), static_cast<std::int64_t>(num_columns())));
}

std::unique_ptr<MatrixSink> create_npy(const std::string& name, const std::vector<std::string>&,
                                       bool flush_each_row) {
  return std::make_unique<NpySink>(name, flush_each_row);
}

}  // namespace headwater
