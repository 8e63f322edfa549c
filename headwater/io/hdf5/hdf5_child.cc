#include "headwater/io/hdf5/hdf5_child.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "headwater/error.hpp"
#include "headwater/io/files/child_process.hpp"
#include "headwater/io/files/file_bytes.hpp"
#include "headwater/io/hdf5/hdf5.hpp"
#include "headwater/io/hdf5/hdf5_rows.hpp"

namespace headwater {
namespace {

// The request for rows: "rows", FILE, PATH, of some columns alone the first one and their number,
// and kLeavesFile if other files may be read. The answer: the number of rows, the number of columns
// that are read, the length of a sequence, the names of all columns as a number of bytes and so
// many bytes of a StateArchive, then the blocks, each preceded by its number of cells. The request
// for a whole file: "contents", FILE. The answer: a number of bytes, and so many bytes of a
// StateArchive. Instead of a number the child may send kTrouble, followed by the length of an error
// message and the message. All numbers have the machine's own format.
constexpr const char* kRows = "rows";
constexpr const char* kContents = "contents";
constexpr const char* kLeavesFile = "external";
constexpr std::int64_t kTrouble = -1;

constexpr std::int64_t kLargestContents = std::int64_t{1} << 33;  // bytes

constexpr std::int64_t kLongestMessage = 1 << 16;
constexpr const char* kSender = "the reader of HDF5";
constexpr time_t kLongestSeconds = 20;
constexpr time_t kLongestSecondsOfContents = 5;

template <class T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

std::string_view bytes_of(const std::int64_t& number) {
  return bytes_of(std::span<const std::int64_t>(&number, 1));
}

// SIGPROF ends the process if it has used so many seconds of processor time since the last renew().
// Time spent waiting for a disk does not count.
class ProcessorLimit {
 public:
  ProcessorLimit() = default;
  ProcessorLimit(const ProcessorLimit&) = delete;
  ProcessorLimit& operator=(const ProcessorLimit&) = delete;
  ~ProcessorLimit() { set(0); }

  void renew(time_t seconds = kLongestSeconds) { set(seconds); }

 private:
  static void set(time_t seconds) {
    const itimerval limit = {.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
    setitimer(ITIMER_PROF, &limit, nullptr);
  }
};

// Of a damaged file libhdf5 believes any size: 15 GB were needed for a model of 30 kB. While this
// object lives, more memory than a file of this size should need is refused.
class MemoryLimit {
 public:
  explicit MemoryLimit(const std::string& name) {
    getrlimit(RLIMIT_AS, &before_);
    std::error_code none;
    const std::uintmax_t file_size = std::filesystem::file_size(name, none);
    if (none || kIsSanitized) return;
    const rlim_t most = std::min<rlim_t>(kForAnyFile + kForEachByte * file_size, before_.rlim_cur);
    set({.rlim_cur = most, .rlim_max = before_.rlim_max});
  }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
  ~MemoryLimit() { set(before_); }

 private:
  static constexpr rlim_t kForAnyFile = rlim_t{1} << 30;
  static constexpr rlim_t kForEachByte = 16;
  // Sanitizers reserve terabytes of addresses.
  static constexpr bool kIsSanitized =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
      true;
#elif defined(__clang__)
      __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
      false;
#endif

  static void set(const rlimit& limit) { setrlimit(RLIMIT_AS, &limit); }

  rlimit before_ = {};
};

// What a child process sends. A damaged file may have corrupted the child, so every size that it
// sends is checked.
class Answer {
 public:
  Answer(const std::vector<std::string>& words, std::string name, std::function<bool()> should_stop)
      : name_(std::move(name)),
        child_(words),
        bytes_(child_.take_output(), kSender, {.should_stop = std::move(should_stop)}) {}

  bool was_stopped() const { return bytes_.was_stopped(); }

  [[noreturn]] void fail(std::string_view what) const {
    throw InputError(fmt::format("{}: is a damaged HDF5 file: {}", name_, what));
  }

  // Returns early, with the rest of `space` unchanged, if a stop is requested.
  void receive(std::span<std::byte> space) {
    while (!space.empty()) {
      const std::size_t count = bytes_.read({reinterpret_cast<char*>(space.data()), space.size()});
      if (bytes_.was_stopped()) return;
      if (count == 0) fail_at_its_end();
      space = space.subspan(count);
    }
  }

  std::int64_t receive_count() {
    const std::int64_t count = receive_number();
    if (bytes_.was_stopped()) return 0;
    if (count == kTrouble) {
      const std::int64_t length = receive_number();
      if (length < 0 || length > kLongestMessage) fail("reading it crashed");
      std::string message(static_cast<std::size_t>(length), ' ');
      receive(std::as_writable_bytes(std::span(message)));
      if (bytes_.was_stopped()) return 0;
      throw InputError(message);
    }
    if (count < 0) fail("reading it crashed");
    return count;
  }

  // Nothing is read if a stop is requested.
  template <class Read>
  void receive_archive(const Read& read) {
    const std::int64_t size = receive_count();
    if (size > kLargestContents) fail("reading it crashed");
    std::string bytes(static_cast<std::size_t>(size), '\0');
    receive(std::as_writable_bytes(std::span(bytes)));
    if (was_stopped()) return;
    StateArchive archive(std::move(bytes));
    try {
      read(archive);
      archive.expect_end();
    } catch (const InputError&) {
      fail("reading it crashed");
    }
  }

 private:
  // Blames the file only for signals that a damaged file can cause in a library.
  [[noreturn]] void fail_at_its_end() {
    const ChildProcess::End end = child_.wait();
    switch (end.signal) {
      case SIGPROF:
        fail("reading it did not end");
      case SIGSEGV:
      case SIGBUS:
      case SIGABRT:
      case SIGFPE:
      case SIGILL:
        fail("reading it crashed");
      default:
        break;
    }
    throw InputError(
        end.signal != 0
            ? fmt::format("{}: the process that read it was killed by signal {}", name_, end.signal)
            : fmt::format("{}: the process that read it ended with exit code {}", name_, end.code));
  }

  std::int64_t receive_number() {
    std::int64_t number = 0;
    receive(std::as_writable_bytes(std::span(&number, 1)));
    return number;
  }

  std::string name_;
  ChildProcess child_;
  FileBytes bytes_;
};

class BlocksOfChild final : public Hdf5Blocks {
 public:
  BlocksOfChild(const std::vector<std::string>& words, const std::string& name, Index num_kept,
                std::function<bool()> should_stop)
      : answer_(words, name, std::move(should_stop)) {
    num_rows_ = answer_.receive_count();
    num_columns_ = answer_.receive_count();
    sequence_length_ = answer_.receive_count();
    answer_.receive_archive([&](StateArchive& archive) { archive(names_); });
    if (answer_.was_stopped()) throw InputError(name + ": stopped while it was opened");
    const bool has_all = num_kept == 0;
    if (!has_all && num_columns_ != num_kept) answer_.fail("reading it crashed");
    if (has_all && !names_.empty() && std::ssize(names_) != num_columns_) {
      answer_.fail("reading it crashed");
    }
  }

  Index num_rows() const override { return num_rows_; }
  Index num_columns() const override { return num_columns_; }
  Index sequence_length() const override { return sequence_length_; }
  const std::vector<std::string>& column_names() const override { return names_; }

  void read(std::vector<double>& block) override {
    block.clear();
    if (num_received_ == num_rows_) return;
    const std::int64_t num_cells = answer_.receive_count();
    if (answer_.was_stopped()) return;
    const Index rows = num_columns_ == 0 ? 0 : num_cells / num_columns_;
    if (rows == 0 || rows > num_rows_ - num_received_ || rows * num_columns_ != num_cells ||
        (rows > 1 && num_cells > kLargestHdf5Block)) {
      answer_.fail("reading it crashed");
    }
    block.resize(static_cast<std::size_t>(num_cells));
    answer_.receive(std::as_writable_bytes(std::span(block)));
    if (answer_.was_stopped()) block.clear();
    num_received_ += rows;
  }

 private:
  Answer answer_;
  Index num_rows_ = 0;
  Index num_columns_ = 0;
  Index sequence_length_ = 0;
  Index num_received_ = 0;
  std::vector<std::string> names_;
};

using Send = std::function<void(std::string_view)>;

void send_archive(const StateArchive& archive, const Send& send) {
  send(bytes_of(static_cast<std::int64_t>(archive.bytes().size())));
  send(archive.bytes());
}

void send_blocks(const Hdf5Name& name, ProcessorLimit& limit, const Send& send) {
  std::optional<MemoryLimit> memory;
  if (!name.may_leave_file) memory.emplace(name.file);  // else other files count as well
  const auto blocks = open_hdf5_blocks(name);
  send(bytes_of(blocks->num_rows()));
  send(bytes_of(blocks->num_columns()));
  send(bytes_of(blocks->sequence_length()));
  std::vector<std::string> names = blocks->column_names();
  StateArchive archive;
  archive(names);
  send_archive(archive, send);
  std::vector<double> block;
  for (;;) {
    limit.renew();
    blocks->read(block);
    if (block.empty()) return;
    send(bytes_of(static_cast<std::int64_t>(block.size())));
    send(bytes_of(std::span<const double>(block)));
  }
}

void send_contents(const std::string& name, ProcessorLimit& limit, const Send& send) {
  limit.renew(kLongestSecondsOfContents);
  const MemoryLimit memory(name);
  Hdf5Contents contents(Hdf5File::open(name));
  StateArchive archive;
  archive(contents);
  send_archive(archive, send);
}

void send_answer(const std::vector<std::string>& request, ProcessorLimit& limit, const Send& send) {
  if (request.size() >= 3 && request[0] == kRows) {
    Hdf5Name name{request[1], request[2], request.back() == kLeavesFile};
    if (request.size() >= 5) {
      name.first_kept = std::stoll(request[3]);
      name.num_kept = std::stoll(request[4]);
    }
    return send_blocks(name, limit, send);
  }
  if (request.size() == 2 && request[0] == kContents) return send_contents(request[1], limit, send);
  throw UsageError("a request that the reader of HDF5 does not know");
}

}  // namespace

std::unique_ptr<Hdf5Blocks> receive_hdf5_blocks(std::vector<std::string> reader,
                                                const Hdf5Name& name,
                                                std::function<bool()> should_stop) {
  for (const std::string& word : {std::string(kRows), name.file, name.path}) reader.push_back(word);
  if (name.num_kept > 0) {
    reader.push_back(fmt::to_string(name.first_kept));
    reader.push_back(fmt::to_string(name.num_kept));
  }
  if (name.may_leave_file) reader.emplace_back(kLeavesFile);
  return std::make_unique<BlocksOfChild>(reader, name.file, name.num_kept, std::move(should_stop));
}

Hdf5Contents receive_hdf5_contents(std::vector<std::string> reader, const std::string& name) {
  reader.emplace_back(kContents);
  reader.push_back(name);
  Answer answer(reader, name, {});
  Hdf5Contents contents;
  answer.receive_archive([&](StateArchive& archive) { archive(contents); });
  return contents;
}

void answer_hdf5_request(const std::vector<std::string>& request, const FileDescriptor& output) {
  std::signal(SIGPROF, SIG_DFL);
  const auto send = [&](std::string_view bytes) { write_all(output, bytes, kSender); };
  std::string trouble;
  try {
    ProcessorLimit limit;
    limit.renew();
    send_answer(request, limit, send);
    return;
  } catch (const std::bad_alloc&) {
    trouble = request.at(1) + ": out of memory";
  } catch (const std::exception& error) {
    trouble = error.what();
  }
  trouble.resize(std::min<std::size_t>(trouble.size(), kLongestMessage));
  send(bytes_of(kTrouble));
  send(bytes_of(static_cast<std::int64_t>(trouble.size())));
  send(trouble);
}

}  // namespace headwater
