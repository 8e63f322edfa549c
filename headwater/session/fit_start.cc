#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "headwater/emission/negative_binomial.hpp"
#include "headwater/error.hpp"
#include "headwater/law_table.hpp"
#include "headwater/learning/initialise.hpp"
#include "headwater/registry.hpp"
#include "headwater/session/fit.hpp"

// How a fit starts: what is held back, the search or the random start, the learners' options.

namespace headwater {

namespace {

// How many observations a random start is scaled to.
constexpr std::int64_t kStartObservations = 100;

// The first M-step waits for so many observations where no start was searched for.
constexpr std::int64_t kBurnIn = 100;

// Entries of a starting basis for which counts over intensities are safe.
constexpr double kSmallestStart = 1e-200;
constexpr double kLargestStart = 1e15;

constexpr double kExponentAfterSearch = 0.7;
constexpr double kRidgeAfterSearch = 0.15;

// Observations after which a component may be found idle.
constexpr std::int64_t kReviveAfter = 1000;

MStepOptions m_step_options(const Config& config, const AnyPrior& prior) {
  MStepOptions options = config.effective_m_step();
  const bool has_particles =
      prior.is_finite() && choose_engine(config, prior, 0).kind == EngineKind::kParticle;
  if (has_particles && !config.paper_exact) {
    options.transition_floor = std::min(0.1, 2 / static_cast<double>(config.engine.num_particles));
  }
  return options;
}

}  // namespace

void Session::Fit::check_start() const {
  const Matrix& basis = config_.initial_basis;
  if (basis.size() == 0) return;
  const Index columns = config_.num_components + (config_.background ? 1 : 0);
  if (basis.cols() != config_.num_components && basis.cols() != columns) {
    throw InputError(
        fmt::format("the starting basis has {} columns; expected {}, one for each "
                    "component",
                    basis.cols(), config_.num_components));
  }
  for (const double entry : basis.reshaped()) {
    if (entry == 0 || (entry >= kSmallestStart && entry <= kLargestStart)) continue;
    throw InputError(
        fmt::format("the starting basis has the entry {}; expected 0, or from {:g} to {:g}", entry,
                    kSmallestStart, kLargestStart));
  }
}

bool Session::Fit::searches() const {
  return config_.init == Init::kAuto && config_.initial_basis.size() == 0 &&
         !config_.m_step.hold_basis && !config_.paper_exact;
}

Index Session::Fit::num_to_hold_back() const {
  const Index wanted = searches() ? start_buffer(num_channels_, prior_) : kStartObservations;
  return config_.start_on > 0 ? std::min<Index>(wanted, config_.start_on) : wanted;
}

bool Session::Fit::wants_to_hold_back() const {
  if (config_.method == Method::kBatch) return true;
  const bool start_is_given =
      config_.initial_basis.cols() == config_.num_components + (config_.background ? 1 : 0);
  return !start_is_given && observations_ < num_to_hold_back();
}

std::vector<AnyLaw> Session::Fit::laws() const {
  const bool is_auto = config_.counts.law == CountsConfig::kAuto;
  if (!is_auto) return {make_law(num_channels_, config_.counts)};
  if (config_.paper_exact) return {AnyLaw()};
  CountsConfig counts = config_.counts;
  counts.law = NegativeBinomial::kName;
  return {AnyLaw(), make_law(num_channels_, counts)};
}

Estimate Session::Fit::starting_estimate() {
  if (searches()) {
    const Index most = std::min<Index>(held_back_.size(), num_to_hold_back());
    const Record searched = guards() ? without_lone_giants(held_back_) : held_back_;
    StartSearch found =
        automatic_start(searched.first(most), prior_, laws(), config_.background,
                        m_step_options(config_, prior_), config_.seed, on_search.get());
    start_report_ = std::move(found.report);
    return std::move(found.estimate);
  }
  const Matrix rates = RecordView(held_back_).rates();
  Matrix basis = config_.initial_basis.size() > 0 ? config_.initial_basis
                                                  : random_start(rates, prior_, config_.seed);
  if (config_.background && basis.cols() == config_.num_components) {
    basis.conservativeResize(Eigen::NoChange, basis.cols() + 1);
    basis.rightCols(1) = background_start(rates);
  }
  return {std::move(basis), prior_, laws().front()};
}

// After a search the first M-step waits until what was searched is in, with equal weights: the
// start fits these observations already, and statistics of the latest of them would undo that. From
// there smaller steps suffice, lengthened by less, and bring less noise. Steps or a burn-in that
// somebody has asked for are taken as they are.
OnlineEmOptions Session::Fit::learner_options() const {
  OnlineEmOptions options;
  options.step_size = config_.step_size;
  options.burn_in = config_.burn_in > 0 ? config_.burn_in : kBurnIn;
  if (waits_for_search()) {
    options.burn_in = num_to_hold_back();
    options.step_size = StepSize::power(kExponentAfterSearch).with_even_beginning(options.burn_in);
    options.least_ridge = kRidgeAfterSearch;
  }
  options.average = config_.averages();
  options.rescue_short_streams = !config_.paper_exact;
  options.lengthen_steps = !config_.paper_exact;
  options.revive_after = config_.paper_exact ? 0 : kReviveAfter;
  options.seed = config_.seed;
  options.m_step = m_step_options(config_, prior_);
  return options;
}

BatchEmOptions Session::Fit::batch_options() const {
  BatchEmOptions options;
  options.max_iterations = config_.iterations;
  options.tolerance = config_.tolerance;
  options.unseen_past = !config_.paper_exact;
  options.m_step = m_step_options(config_, prior_);
  return options;
}

}  // namespace headwater
