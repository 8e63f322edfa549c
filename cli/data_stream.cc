#include "data_stream.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "hdf5_reader.hpp"
#include "headwater/error.hpp"
#include "headwater/io/channel_names.hpp"
#include "headwater/io/reordered_source.hpp"
#include "shared_source.hpp"

using namespace headwater;

DataStream::DataStream(DataOptions options, std::function<bool()> should_stop,
                       const PipeBefore& before)
    : options_(std::move(options)),
      should_stop_(std::move(should_stop)),
      source_(options_.open(should_stop_, before)) {
  if (!options_.time_column.empty()) {
    auto timed = std::make_unique<TimedSource>(std::move(source_), options_.max_gap, before.memory);
    clock_ = timed.get();
    source_ = std::move(timed);
  }
  if (options_.exposure.empty()) return;
  // --header is about DATA; a header of exposures that was missed shows in the number of rows.
  exposure_source_ = open_source(options_.exposure, {.header = HeaderRow::by_names,
                                                     .subject = "exposures",
                                                     .hdf5_reader = hdf5_reader(),
                                                     .allow_external = options_.allow_external});
  const Index columns = exposure_source_->num_channels();
  if (num_channels() == 0) return;  // stopped before the first row
  if (columns != 1 && columns != num_channels()) {
    throw InputError(fmt::format("{}: has {} columns; expected 1 or {}, as {} has channels",
                                 options_.exposure, columns, num_channels(), options_.name));
  }
}

std::vector<std::string> DataStream::match_names(const std::vector<std::string>& names,
                                                 const std::string& model) {
  std::vector<std::string> reordered;
  const auto reorder = [&](auto& source, std::vector<Index> order, const std::string& file) {
    if (order.empty()) return;
    source = std::make_unique<ReorderedSource>(std::move(source), std::move(order));
    reordered.push_back(file);
  };
  const std::vector<std::string> found = channel_names();
  const std::vector<Index> order = order_by_name(names, found, options_.name, model);
  if (exposure_source_ && num_channels() > 1 &&
      exposure_source_->num_channels() == num_channels()) {
    const std::vector<std::string> of_exposures = exposure_source_->channel_names();
    const bool have_names = !of_exposures.empty() && !(names.empty() && found.empty());
    reorder(exposure_source_,
            have_names ? order_by_name(names.empty() ? found : names, of_exposures,
                                       options_.exposure, names.empty() ? options_.name : model)
                       : order,
            options_.exposure);
  }
  reorder(source_, order, options_.name);
  return reordered;
}

void DataStream::share(const SharedChannels& channels) {
  const Index first = channels.first_own();
  if (!source_->keep_columns(first, channels.end_of_own() - first)) return;
  source_ = std::make_unique<SharedSource>(std::move(source_), channels);
}

bool DataStream::next() {
  for (;;) {
    bool is_bad = false;
    std::string message;
    try {
      if (!read_counts()) return false;
    } catch (const BadRow& error) {
      if (options_.on_bad_row != BadRowPolicy::kSkip || !source_->can_go_on_after_error()) throw;
      is_bad = true;
      message = error.what();
    }
    if (!is_bad && clock_ != nullptr && clock_->is_filled()) return true;  // it is no row of DATA
    ++num_rows_;
    if (exposure_source_ && !read_exposures()) {
      throw InputError(fmt::format("{}: ends after {} rows; {} has more", options_.exposure,
                                   num_rows_ - 1, options_.name));
    }
    if (!is_bad) {
      if (exposure_source_) observation_.set_exposures(exposures_);
      num_sequences_ += num_sequences_ == 0 || observation_.begins_sequence();
      return true;
    }
    ++num_bad_rows_;
    if (on_bad_row_) on_bad_row_(message);
  }
}

bool DataStream::read_counts() {
  if (source_->next(observation_)) return true;
  const bool was_stopped = should_stop_ && should_stop_();
  if (exposure_source_ && !was_stopped && read_exposures()) {
    throw InputError(fmt::format("{}: has more rows than {}, which ends after {}",
                                 options_.exposure, options_.name, num_rows_));
  }
  return false;
}

SourceMemory DataStream::memory(bool with_last_row) const {
  SourceMemory memory;
  source_->remember(memory, with_last_row);
  return memory;
}

// Reads one exposure for all channels or one per channel. A channel whose exposure is missing or 0
// counts as missing.
bool DataStream::read_exposures() {
  if (!exposure_source_->next(exposures_)) return false;
  const auto channels = static_cast<std::size_t>(num_channels());
  if (exposures_.size() == 1) exposures_.resize(channels, exposures_[0]);
  for (double& exposure : exposures_) {
    if (std::isnan(exposure)) exposure = 0;
  }
  return true;
}
