#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "data_stream.hpp"
#include "fit_options.hpp"
#include "headwater/inference.hpp"
#include "headwater/reports.hpp"
#include "headwater/surprise_calibration.hpp"
#include "line_file.hpp"

// The files that a fit writes while it runs: --log and --activations.
class LiveOutputs {
 public:
  // resumed: the checkpoint that the fit goes on from, if any.
  LiveOutputs(const FitOptions& options, const DataStream& data,
              const headwater::Checkpoint& resumed);

  void write(const headwater::StepReport& report, const headwater::Session& session);
  void write_bad_row(const std::string& message);

  std::vector<headwater::GrowingFile> files() const;
  std::int64_t sent() const { return sent_; }  // see Checkpoint
  const headwater::SurpriseCalibration& calibration() const { return calibration_; }

 private:
  // Whether the lines of this observation are to be written to the file, and not sent before.
  bool is_due(const std::optional<LineFile>& file, std::int64_t t) const;

  const DataStream& data_;
  std::optional<LineFile> log_;
  std::optional<LineFile> x_;
  headwater::SurpriseMeter meter_;
  headwater::SurpriseCalibration calibration_;
  std::vector<std::string> labels_;  // of channels, once they are needed
  bool with_surprise_;
  std::int64_t sent_before_;
  std::atomic<std::int64_t> sent_;  // read by the thread that ends the program
};
