#include "headwater/sink.hpp"

#include "headwater/io/by_extension.hpp"
#include "headwater/io/npy/npy_sink.hpp"
#include "headwater/io/text/csv_sink.hpp"

namespace headwater {
namespace {

using CreateSink = std::unique_ptr<MatrixSink>(const std::string&, const std::vector<std::string>&,
                                               bool);

constexpr FileKind<CreateSink> kSinks[] = {
    {".csv", create_csv},
    {".tsv", create_tsv},
    {".npy", create_npy},
};

}  // namespace

std::unique_ptr<MatrixSink> create_sink(const std::string& name,
                                        const std::vector<std::string>& header,
                                        bool flush_each_row) {
  if (name == "-") return create_csv(name, header, flush_each_row);
  return choose_by_extension(name, kSinks)(name, header, flush_each_row);
}

}  // namespace headwater
