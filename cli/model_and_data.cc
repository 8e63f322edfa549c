#include "model_and_data.hpp"

#include <fmt/format.h>

#include <vector>

#include "headwater/core/error.hpp"

using namespace headwater;

std::unique_ptr<ObservationSource> open_for_model(const DataOptions& data,
                                                  const std::string& model_name,
                                                  const Model& model) {
  auto source = data.open();
  if (source->num_channels() != model.num_channels()) {
    throw InputError(fmt::format("{}: has {} channels; {} was fitted to {}", data.name,
                                 source->num_channels(), model_name, model.num_channels()));
  }
  return source;
}

Matrix read_record(ObservationSource& source) {
  std::vector<double> values;
  std::vector<double> y;
  while (source.next(y)) values.insert(values.end(), y.begin(), y.end());
  const Index channels = source.num_channels();
  return Eigen::Map<const Matrix>(values.data(), channels,
                                  static_cast<Index>(values.size()) / channels);
}
