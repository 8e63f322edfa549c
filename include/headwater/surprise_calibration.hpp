#pragma once

#include "headwater/export.hpp"
#include "headwater/p_value_ranks.hpp"
#include "headwater/surprise.hpp"

namespace headwater {

struct StepReport;

// Makes the three probabilities of a RowSurprise uniform on streams that no model describes quite.
// Each is ranked among those of earlier observations (PValueRanks). So one in a hundred
// observations has a probability below .01, whether or not the model knows how counts scatter, and
// nothing is ranked among what came later. A rank needs few numbers that stand in: a model that is
// far too sure of itself has small p-values from the first row on.
class HEADWATER_EXPORT SurpriseCalibration {
 public:
  // Of the next observation, given the probabilities that its model gives it.
  RowSurprise operator()(const RowSurprise& by_model);
  // The same of a fit, which restarts where its predictions come of another start: p-values of a
  // provisional fit say nothing of those of the fit that follows it.
  RowSurprise operator()(const RowSurprise& by_model, const StepReport& report);

  void exchange(StateArchive& archive);

 private:
  // As many as tell what one in a hundred is, and few enough to follow a stream that changes.
  static constexpr std::size_t kWindow = 500;
  static constexpr std::size_t kStandingIn = 10;

  struct Ranks {
    PValueRanks row{kWindow, kStandingIn};
    PValueRanks total{kWindow, kStandingIn};
    PValueRanks channels{kWindow, kStandingIn};
  };
  Ranks ranks_;
  bool provisional_ = false;  // of the observation before
  bool in_start_ = false;
};

}  // namespace headwater
