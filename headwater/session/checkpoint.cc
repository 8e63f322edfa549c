#include "headwater/session/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headwater/error.hpp"
#include "headwater/io/files/atomic_file.hpp"
#include "headwater/io/files/checksum.hpp"
#include "headwater/io/files/file_bytes.hpp"

namespace headwater {

namespace {

constexpr std::string_view kMagic = "headwater checkpoint\n";
constexpr std::uint32_t kFormatVersion = 7;

// What stands between the magic line and the contents.
struct Head {
  std::uint32_t format_version = kFormatVersion;
  std::uint64_t size = 0;      // of the contents, in bytes
  std::uint32_t checksum = 0;  // of the contents

  static constexpr std::size_t kBytes = 16;
  void exchange(StateArchive& archive) { archive(format_version, size, checksum); }
};

// All but the state, which is the last and may be large.
void exchange_head(StateArchive& archive, std::string& version, Checkpoint& checkpoint) {
  archive(version);
  auto num_options = static_cast<Index>(checkpoint.options.size());
  archive.count(num_options);
  checkpoint.options.resize(static_cast<std::size_t>(num_options));
  for (auto& [name, text] : checkpoint.options) archive(name, text);
  archive(checkpoint.files, checkpoint.seen, checkpoint.sent, checkpoint.unread, checkpoint.memory,
          checkpoint.calibration);
}

Checkpoint without_state(const Checkpoint& checkpoint) {
  return {.options = checkpoint.options,
          .seen = checkpoint.seen,
          .files = checkpoint.files,
          .state = "",
          .sent = checkpoint.sent,
          .unread = checkpoint.unread,
          .memory = checkpoint.memory,
          .calibration = checkpoint.calibration};
}

std::string read_all(const std::string& name) {
  FileBytes file(open_for_reading(name), name);
  std::string bytes;
  for (;;) {
    const std::size_t size = bytes.size();
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    bytes.resize(size + kPiece);
    const std::size_t count = file.read({bytes.data() + size, kPiece});
    bytes.resize(size + count);
    if (count == 0) return bytes;
  }
}

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw InputError(fmt::format("{}: {}", name, why));
}

std::string contents_of(const std::string& name) {
  const std::string bytes = read_all(name);
  const std::size_t known = std::min(bytes.size(), kMagic.size());
  if (known == 0 || bytes.compare(0, known, kMagic, 0, known) != 0) {
    refuse(name, "is not a checkpoint of headwater");
  }
  constexpr std::size_t kBegin = kMagic.size() + Head::kBytes;
  if (bytes.size() < kBegin) refuse(name, "is truncated; the checkpoint cannot be used");
  Head head;
  StateArchive(bytes.substr(kMagic.size(), Head::kBytes))(head);
  if (head.format_version != kFormatVersion) {
    refuse(name, fmt::format("is a checkpoint of format {}; this program reads format {}",
                             head.format_version, kFormatVersion));
  }
  if (bytes.size() - kBegin < head.size) {
    refuse(name, fmt::format("is truncated: {} bytes of contents where {} were written; the "
                             "checkpoint cannot be used",
                             bytes.size() - kBegin, head.size));
  }
  std::string contents = bytes.substr(kBegin);
  if (contents.size() != head.size || checksum(contents) != head.checksum) {
    refuse(name, "is damaged: its checksum is wrong");
  }
  return contents;
}

using Options = std::vector<std::pair<std::string, std::string>>;

const std::string* find_option(const Options& options, const std::string& name) {
  const auto found = std::ranges::find(options, name, &Options::value_type::first);
  return found == options.end() ? nullptr : &found->second;
}

// The names of the options in which two fits differ.
std::vector<std::string> differences(const Options& a, const Options& b) {
  std::vector<std::string> names;
  for (const Options* options : {&a, &b}) {
    for (const auto& [name, text] : *options) {
      const std::string* in_a = find_option(a, name);
      const std::string* in_b = find_option(b, name);
      const bool differ = in_a == nullptr || in_b == nullptr || *in_a != *in_b;
      if (differ && std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

// "seed 1, no stay_on"
std::string list_options(const Options& options, const std::vector<std::string>& names) {
  std::vector<std::string> words;
  for (const std::string& name : names) {
    const std::string* text = find_option(options, name);
    words.push_back(text == nullptr ? "no " + name : fmt::format("{} {}", name, *text));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string text_of(const Parameter& parameter) {
  return fmt::format("{}", fmt::join(as_span(parameter.value), ","));
}

}  // namespace

void write_checkpoint(const Checkpoint& checkpoint, const std::string& name) {
  StateArchive archive;
  std::string program = version();
  Checkpoint copy = without_state(checkpoint);
  exchange_head(archive, program, copy);
  // The state is written from where it lies, as archive(checkpoint.state) would write it.
  auto state_size = static_cast<Index>(checkpoint.state.size());
  archive.count(state_size);
  Head head{.size = archive.bytes().size() + checkpoint.state.size(),
            .checksum = checksum(checkpoint.state, checksum(archive.bytes()))};
  StateArchive begin;
  begin(head);
  AtomicFile file(name);
  file.write(kMagic);
  file.write(begin.bytes());
  file.write(archive.bytes());
  file.write(checkpoint.state);
  file.commit();
}

Checkpoint read_checkpoint(const std::string& name) {
  StateArchive archive(contents_of(name));
  Checkpoint checkpoint;
  std::string program;
  try {
    exchange_head(archive, program, checkpoint);
    archive(checkpoint.state);
    archive.expect_end();
  } catch (const InputError& error) {
    refuse(name, error.what());
  }
  if (program != version()) {
    refuse(name, fmt::format("was written by headwater {}; this is {}, which may not give the same "
                             "bits",
                             program, version()));
  }
  return checkpoint;
}

std::vector<std::pair<std::string, std::string>> fit_options(const Restarts& restarts) {
  const Config& config = restarts.session(0).config();
  std::vector<std::pair<std::string, std::string>> options = describe(config);
  for (auto& option : describe(config, Recorded::kCheckpoints)) {
    options.push_back(std::move(option));
  }
  for (const Parameter& parameter : config.prior.parameters) {
    options.emplace_back(parameter.name, text_of(parameter));
  }
  if (restarts.choice() != nullptr) {
    options.emplace_back("numbers of components",
                         fmt::format("{}", fmt::join(restarts.choice()->candidates(), ",")));
  } else {
    options.emplace_back("restarts", fmt::format("{}", restarts.size()));
  }
  const Matrix& start = config.initial_basis;
  if (start.size() > 0) {
    StreamDigest digest;
    for (Index k = 0; k < start.cols(); ++k) digest.add(Observation(as_span(start.col(k))));
    StateArchive archive;
    archive(digest);
    options.emplace_back("starting basis", fmt::format("{:08x}", checksum(archive.bytes())));
  }
  return options;
}

std::string put_away(Restarts& restarts) {
  StateArchive archive;
  archive(restarts);
  return archive.bytes();
}

void take_up(const Checkpoint& checkpoint, const std::string& name, Restarts& restarts) {
  const auto here = fit_options(restarts);
  if (here != checkpoint.options) {
    const std::vector<std::string> names = differences(checkpoint.options, here);
    refuse(name, fmt::format("belongs to a fit with {}; this one has {}",
                             list_options(checkpoint.options, names), list_options(here, names)));
  }
  StateArchive archive(checkpoint.state);
  try {
    archive(restarts);
    archive.expect_end();
  } catch (const Error& error) {
    refuse(name, error.what());
  }
}

}  // namespace headwater
