#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/error.hpp"
#include "headwater/io/files/file_descriptor.hpp"
#include "headwater/source.hpp"

// Helpers shared by the tests of this folder.
namespace headwater {

// A temporary folder, removed when the test ends.
class TestFolder {
 public:
  TestFolder() {
    std::string name = std::filesystem::temp_directory_path() / "headwater.XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a test folder");
    path_ = name;
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string path(std::string_view name) const { return path_ / name; }

  // Writes a file and returns its path.
  std::string write(std::string_view name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

  std::string read(std::string_view name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // All files in the folder, including hidden ones.
  std::vector<std::string> list() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  // The message without the folder's path, which differs from run to run.
  std::string shorten(std::string message) const {
    const std::string prefix = path_.string() + "/";
    for (auto at = message.find(prefix); at != std::string::npos; at = message.find(prefix)) {
      message.erase(at, prefix.size());
    }
    return message;
  }

 private:
  std::filesystem::path path_;
};

// A pipe with both its ends open.
struct TestPipe {
  TestPipe() {
    std::array<int, 2> ends = {};
    if (pipe(ends.data()) != 0) throw std::runtime_error("cannot make a pipe");
    reading = FileDescriptor(ends[0]);
    writing = FileDescriptor(ends[1]);
  }
  FileDescriptor reading;
  FileDescriptor writing;
};

using Rows = std::vector<std::vector<double>>;

// Rows that can be compared with ==: a missing cell becomes -1, which no source returns.
inline Rows read_rows(ObservationSource& source) {
  Rows rows;
  std::vector<double> values;
  while (source.next(values)) {
    EXPECT_EQ(static_cast<Index>(values.size()), source.num_channels());
    for (double& value : values) value = std::isnan(value) ? -1 : value;
    rows.push_back(values);
  }
  EXPECT_FALSE(source.next(values));
  return rows;
}

// Like read_rows(), but skips bad rows and collects their error messages.
inline Rows read_good_rows(ObservationSource& source, std::vector<std::string>& messages) {
  EXPECT_TRUE(source.can_go_on_after_error());
  Rows rows;
  std::vector<double> values;
  for (;;) {
    try {
      if (!source.next(values)) return rows;
      for (double& value : values) value = std::isnan(value) ? -1 : value;
      rows.push_back(values);
    } catch (const BadRow& error) {
      messages.emplace_back(error.what());
    }
  }
}

// Wraps the text as a gzip file without compressing it: stored blocks of at most 65535 bytes [RFC
// 1951, 3.2.4], with the checksum of [RFC 1952].
inline std::string gzip_of(std::string_view text) {
  const auto low_bytes = [](std::uint64_t number, int count) {
    std::string bytes;
    for (int i = 0; i < count; ++i) bytes += static_cast<char>(number >> (8 * i));
    return bytes;
  };
  std::uint32_t checksum = 0xffffffff;
  for (const char c : text) {
    checksum ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) checksum = checksum >> 1 ^ (checksum & 1) * 0xedb88320;
  }
  std::string bytes("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  std::string_view rest = text;
  do {
    const std::string_view piece = rest.substr(0, 65535);
    rest.remove_prefix(piece.size());
    bytes += rest.empty() ? '\1' : '\0';
    bytes += low_bytes(piece.size(), 2) + low_bytes(~piece.size(), 2);
    bytes += piece;
  } while (!rest.empty());
  return bytes + low_bytes(~checksum, 4) + low_bytes(text.size(), 4);
}

// The message of the error of type Expected that the call throws.
template <class Expected = InputError, class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Expected& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace headwater
