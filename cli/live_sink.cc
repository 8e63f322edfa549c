#include "live_sink.hpp"

#include <sys/stat.h>

#include "headwater/io/by_extension.hpp"
#include "headwater/io/text/csv_sink.hpp"

using namespace headwater;

namespace {

constexpr std::size_t kEnough = 1 << 16;

// Lines of CSV or TSV.
class LiveSink final : public MatrixSink {
 public:
  LiveSink(const std::string& name, const std::vector<std::string>& header, bool flush_each_row)
      : separator_(extension_of(name) == ".tsv" ? '\t' : ','),
        flush_each_row_(flush_each_row),
        file_(GrowingFile{name, 0, ""}) {
    if (!header.empty()) lines_ = csv_header(header, separator_);
    write();
  }

  void write_row(std::span<const double> row) override { write_row({}, row); }
  void write_row(std::span<const std::string> texts, std::span<const double> row) override {
    append_csv_row(texts, row, separator_, lines_);
    if (flush_each_row_ || lines_.size() >= kEnough) write();
  }
  void commit() override { write(); }

 private:
  void write() {
    file_.add(lines_);
    lines_.clear();
    file_.flush();
  }

  char separator_;
  bool flush_each_row_;
  LineFile file_;
  std::string lines_;
};

bool is_stream(const std::string& name) {
  struct stat status = {};
  return name == "-" || (stat(name.c_str(), &status) == 0 && !S_ISREG(status.st_mode));
}

bool is_text(const std::string& name) {
  const std::string extension = extension_of(name);
  return name == "-" || extension == ".csv" || extension == ".tsv" || is_below_dev(name);
}

}  // namespace

bool grows_with(const DataOptions& data, const std::string& name) {
  return is_text(name) && (data.follow || is_stream(name));
}

std::unique_ptr<MatrixSink> open_output(const DataOptions& data, const std::string& name,
                                        const std::vector<std::string>& header) {
  if (name.empty()) return nullptr;
  if (!grows_with(data, name)) return create_sink(name, header);
  return std::make_unique<LiveSink>(name, header, data.follow || data.is_pipe());
}

void add_output(RunFiles& files, const DataOptions& data, const std::string& option,
                const std::string& name) {
  if (grows_with(data, name)) {
    files.grows(option, name);
  } else {
    files.replaces(option, name);
  }
}
