#include "headwater/surprise_calibration.hpp"

#include "headwater/reports.hpp"
#include "headwater/state_archive.hpp"

namespace headwater {

namespace {

double ranked(PValueRanks& ranks, double p) {
  const double rank = ranks.rank(p);
  ranks.add(p);
  return rank;
}

}  // namespace

RowSurprise SurpriseCalibration::operator()(const RowSurprise& by_model) {
  RowSurprise row = by_model;
  row.p_row = ranked(ranks_.row, by_model.p_row);
  row.p_total = ranked(ranks_.total, by_model.p_total);
  row.p_channels = ranked(ranks_.channels, by_model.p_channels);
  return row;
}

RowSurprise SurpriseCalibration::operator()(const RowSurprise& by_model, const StepReport& report) {
  if (report.provisional != provisional_ || report.in_start != in_start_) ranks_ = {};
  provisional_ = report.provisional;
  in_start_ = report.in_start;
  // Nothing is unusual where nothing is known, or seen.
  if (report.is_blind || !report.observation->any_seen()) return by_model;
  return (*this)(by_model);
}

void SurpriseCalibration::exchange(StateArchive& archive) {
  archive(ranks_.row, ranks_.total, ranks_.channels, provisional_, in_start_);
}

}  // namespace headwater
