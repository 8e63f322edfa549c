#include "headwater/io/text/text_file.hpp"

#include <unistd.h>

#include <utility>

#include "headwater/io/by_extension.hpp"
#include "headwater/io/files/file_bytes.hpp"
#include "headwater/io/files/gzip_bytes.hpp"

namespace headwater {
namespace {

// Some bytes, and then those of a pipe that goes on after them.
class BytesBefore final : public ByteSource {
 public:
  BytesBefore(std::string before, std::unique_ptr<ByteSource> rest)
      : before_(std::move(before)), rest_(std::move(rest)) {}

  std::size_t read(std::span<char> space) override {
    if (used_ == before_.size()) return rest_->read(space);
    const std::size_t count = before_.copy(space.data(), space.size(), used_);
    used_ += count;
    return count;
  }
  std::optional<double> fraction_used(std::size_t unused) const override {
    return rest_->fraction_used(unused);
  }
  bool was_stopped() const override { return rest_->was_stopped(); }
  bool is_pipe() const override { return rest_->is_pipe(); }
  bool can_be_cut_off() const override { return rest_->can_be_cut_off(); }
  std::int64_t num_replaced() const override { return rest_->num_replaced(); }

 private:
  std::string before_;
  std::size_t used_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

}  // namespace

TextFile open_text(const std::string& name, const SourceOptions& options) {
  const bool is_standard_input = name == "-";
  const std::string shown = is_standard_input ? "standard input" : name;
  FileDescriptor file = is_standard_input ? duplicate(STDIN_FILENO, shown) : open_for_reading(name);
  auto bytes = std::make_unique<FileBytes>(std::move(file), shown,
                                           WaitingRules{.follow = options.follow,
                                                        .path = is_standard_input ? "" : name,
                                                        .should_stop = options.should_stop});
  const bool can_be_read_again = !is_standard_input && bytes->is_regular();
  if (extension_of(name) == ".gz") {
    return {std::make_unique<GzipBytes>(std::move(bytes)), shown, can_be_read_again};
  }
  if (!options.before.empty() && bytes->is_pipe()) {
    return {std::make_unique<BytesBefore>(options.before, std::move(bytes)), shown, false};
  }
  return {std::move(bytes), shown, can_be_read_again};
}

}  // namespace headwater
