#include "headwater/learning/online_em.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "headwater/core/state_checks.hpp"
#include "headwater/emission/levels.hpp"
#include "headwater/learning/estimate_layout.hpp"
#include "headwater/learning/revival.hpp"
#include "headwater/parallel/ranks.hpp"

namespace headwater {

namespace {

constexpr double kRidgePerStep = 3;

// Of what is taken up, for standard errors.
constexpr Index kStretchesTakenUp = 256;

}  // namespace

OnlineEm::OnlineEm(std::unique_ptr<Engine> engine, Estimate start, OnlineEmOptions options)
    : engine_(std::move(engine)),
      estimate_(std::move(start)),
      options_(std::move(options)),
      m_step_(options_.m_step, estimate_.basis, estimate_.prior),
      learn_prior_(m_step_.learns(estimate_.prior)),
      next_revival_(options_.revive_after) {}

void OnlineEm::exchange(StateArchive& archive) {
  archive(estimate_, m_step_, curvature_, next_curvature_, average_, observations_, clock_,
          impossible_, m_steps_, revivals_, next_revival_, log_likelihood_, lost_mass_);
  if (options_.keep_blocks) archive(blocks_);
  engine_->exchange(archive);
  if (!archive.is_reading()) return;
  archive.expect(m_step_.fits(estimate_.basis), "an M-step of the wrong size");
  learn_prior_ = m_step_.learns(estimate_.prior);
  archive.expect(std::isfinite(log_likelihood_) && std::isfinite(lost_mass_),
                 "a log-likelihood that is not finite");
  const std::int64_t counts[] = {next_curvature_, observations_, clock_,       impossible_,
                                 m_steps_,        revivals_,     next_revival_};
  archive.expect(std::ranges::all_of(counts, is_count), "an invalid number of steps");
  const Matrix& basis = estimate_.basis;
  const bool may_be_longer = m_steps_ < next_curvature_;  // or else it is measured anew
  archive.expect(!may_be_longer || curvature_.fits(basis), "a curvature of the wrong size");
  const Statistics& sums = engine_->statistics();
  const Index fewest = sums.s1.size() + sums.s2.size() + sums.s3.size() + sums.s4.size();
  if (options_.keep_blocks) {
    archive.expect(blocks_.fits(sums, EstimateLayout(estimate_).size), "blocks of the wrong size");
  }
  archive.expect(average_.has_lengths(fewest, fewest + sums.s2.size()),
                 "averages of the wrong size");
}

StepReport OnlineEm::update(const Observation& y, const BeforeMStep& before_m_step) {
  StepReport report;
  report.t = ++observations_;
  report.observation = &y;
  report.step_size = options_.step_size(++clock_);
  if (options_.keep_blocks) {
    if (!blocks_.has_begun()) begin_block();
    blocks_.expect(report.step_size);
  }
  const FilterStep step = engine_->step(y, report.step_size);
  report.filter = step;
  if (step.impossible) {
    ++impossible_;
  } else {
    log_likelihood_ += step.log_predictive;
  }
  if (const BeamReport* beam = step.beam()) lost_mass_ += beam->lost_mass;
  const bool has_new = engine_->has_new_statistics();
  report.updated = has_new && is_settled();
  if (options_.keep_blocks && has_new) blocks_.add(engine_->statistics());
  if (report.updated) {
    if (before_m_step) before_m_step(report);
    maximise();
    report.revived = revive_if_due();
  }
  if (options_.keep_blocks && has_new) begin_block();
  return report;
}

// The weight of a round is that which its observations would have if they came one by one. Within a
// round all weigh the same.
OnlineEm::RoundReport OnlineEm::take_in(const RoundSums& round) {
  if (options_.keep_blocks && !blocks_.has_begun()) begin_block();
  double kept = 1;
  for (std::int64_t i = 0; i < round.observations; ++i) {
    const double step_size = options_.step_size(++clock_);
    kept *= 1 - step_size;
    if (options_.keep_blocks) blocks_.expect(step_size);
  }
  observations_ += round.observations;
  impossible_ += round.impossible;
  log_likelihood_ += round.log_likelihood;
  lost_mass_ += round.lost_mass;
  RoundReport report{.weight = 1 - kept, .updated = is_settled()};
  round.enter(report.weight, *engine_->mutable_statistics());
  if (options_.keep_blocks) blocks_.add(engine_->statistics());
  if (report.updated) {
    maximise();
    report.revived = revive_if_due();
  }
  if (options_.keep_blocks) begin_block();
  return report;
}

void OnlineEm::finish() {
  engine_->finish();
  if (options_.keep_blocks && blocks_.has_begun() && engine_->has_new_statistics()) {
    blocks_.add(engine_->statistics());
  }
  if (engine_->has_new_statistics() && is_settled()) maximise();
  const bool was_too_short = m_steps_ == 0 && observations_ > 0;
  if (was_too_short && options_.rescue_short_streams) maximise();
  curvature_ = {};  // should the fit go on, it is measured anew
  next_curvature_ = 0;
  if (options_.keep_blocks) begin_block();
}

void OnlineEm::begin_block() { blocks_.begin(engine_->statistics(), numbers_of(last())); }

void OnlineEm::set_emission(const Matrix& basis, const AnyLaw& law) {
  engine_->finish();  // observations that wait for their statistics were filtered under the old one
  estimate_.basis = basis;
  estimate_.law = law;
  engine_->set_basis(basis);
  engine_->set_law(law);
}

void OnlineEm::set_past(const Past& past) {
  observations_ = past.observations;
  clock_ = past.observations;
  impossible_ = past.impossible;
  m_steps_ = past.m_steps;
  revivals_ = past.revivals;
  log_likelihood_ = past.log_likelihood;
  if (next_revival_ > 0) next_revival_ = std::max(next_revival_, 2 * observations_);
}

// The average is one of iterates that came from what is forgotten.
void OnlineEm::forget_all_but(std::int64_t observations) {
  if (observations >= clock_) return;
  clock_ = observations;
  average_ = {};
  Statistics* const statistics = engine_->mutable_statistics();
  if (statistics != nullptr) statistics->weigh_at_most(static_cast<double>(observations));
}

bool OnlineEm::go_on_under(const AnyLaw& law, std::unique_ptr<Engine> engine) {
  Statistics* const to = engine->mutable_statistics();
  if (to == nullptr || engine_->mutable_statistics() == nullptr) return false;
  engine_->finish();
  // What the new law wants to know of the counts begins with nothing.
  const Statistics& from = engine_->statistics();
  to->s1 = from.s1;
  to->s2 = from.s2;
  to->s3 = from.s3;
  if (from.unseen.size() > 0) to->unseen = from.unseen;
  to->phases = from.phases;
  to->observations = from.observations;
  to->squared_weights = from.squared_weights;
  engine_ = std::move(engine);
  estimate_.law = law;
  average_ = {};
  blocks_.clear();
  next_curvature_ = 0;
  return true;
}

void OnlineEm::collect_rows(SharedChannels& shared) {
  Statistics& statistics = *engine_->mutable_statistics();
  average_.change_all([&](Vector& sums) {
    // One matrix at a time, and each of the vectors has the parts of Statistics::sums().
    Statistics whole(0, statistics.s2.cols(), statistics.s3.size(), statistics.s4.size());
    whole.s2.resize(statistics.s2.rows(), Eigen::NoChange);
    whole.set_sums(sums);
    sums = {};
    shared.collect_rows(whole.s2);
    if (whole.unseen.size() > 0) shared.collect_rows(whole.unseen);
    sums.resize(whole.size());
    Index at = 0;
    for (const std::span<const double> part : std::as_const(whole).sums()) {
      const Index size = std::ssize(part);
      sums.segment(at, size) = Eigen::Map<const Vector>(part.data(), size);
      at += size;
    }
  });
  shared.collect_rows(statistics.s2);
  if (statistics.unseen.size() > 0) shared.collect_rows(statistics.unseen);
  m_step_.collect_rows(shared);
  shared.collect_rows(estimate_.basis);
  shared.end();
  if (shared.ranks().rank() == 0) engine_->set_basis(estimate_.basis);
}

void OnlineEm::maximise() {
  ++m_steps_;
  const bool lengthens = lengthens_steps();
  const Matrix before = lengthens ? estimate_.basis : Matrix();
  const Vector unit = m_step_.is_expanded() ? column_sums(estimate_.basis) : Vector();
  m_step_.update_basis(engine_->statistics(), estimate_.basis);
  if (lengthens) lengthen_step(before);
  if (learn_prior_) m_step_.update_prior(engine_->statistics(), estimate_.prior);
  if (m_step_.is_expanded()) {
    // The unit of the activations does not move, so that statistics can be added up.
    estimate_ = with_column_sums(std::move(estimate_), unit);
  }
  engine_->set_basis(estimate_.basis);
  if (engine_->statistics().s4.size() > 0) {
    m_step_.update_law(engine_->statistics(), estimate_.law);
    engine_->set_law(estimate_.law);
  }
  if (m_step_.learns(estimate_.season)) {
    m_step_.update_season(engine_->statistics(), m_steps_, estimate_.season);
    engine_->set_season(estimate_.season);
  }
  if (learn_prior_) engine_->set_prior(estimate_.prior);
  if (!options_.average) return;
  // Blocks that begin with one observation count by their length; those of 16 to 64 count alike.
  const bool counts_length = drifts(estimate_.law);
  average_.add(engine_->statistics().sums(), counts_length ? clock_ : m_steps_);
}

// Not where the prior has a scale: its activations know no bound, and follow the noise that longer
// steps bring into the basis.
bool OnlineEm::lengthens_steps() {
  return options_.lengthen_steps && !options_.m_step.hold_basis &&
         engine_->mutable_statistics() != nullptr && !estimate_.prior.has_scale() &&
         BasisCurvature::is_affordable(estimate_.basis.rows(), estimate_.basis.cols());
}

// The statistics are made those of the basis that the longer step ends at, so that the next one
// begins there.
void OnlineEm::lengthen_step(const Matrix& before) {
  if (m_steps_ >= next_curvature_) {
    // A step that is long already is not made much longer: noise would carry it into another
    // valley.
    const double ridge = std::max(options_.least_ridge, kRidgePerStep * options_.step_size(clock_));
    curvature_.measure({before, estimate_.prior, estimate_.law}, ridge);
    next_curvature_ = m_steps_ + m_steps_ / 8 + 1;
  }
  const Matrix by_em = estimate_.basis;
  curvature_.lengthen_step(before, estimate_.basis);
  engine_->mutable_statistics()->s2.array() *=
      (by_em.array() > 0).select(estimate_.basis.array() / by_em.array(), 1);
}

// One at a time, and ever more rarely: a component that the data have no use for would otherwise
// never be left in peace.
Index OnlineEm::revive_if_due() {
  if (options_.revive_after == 0 || observations_ < next_revival_ || options_.m_step.hold_basis) {
    return -1;
  }
  next_revival_ = 2 * observations_;
  Statistics* const statistics = engine_->mutable_statistics();
  if (statistics == nullptr) return -1;
  const Index components = estimate_.prior.num_components();
  const auto idle =
      components > 1 ? find_idle(*statistics, estimate_.basis, components) : std::nullopt;
  if (!idle) return -1;
  const double activation = statistics->s1[idle->component];
  revive(idle->component, components, options_.seed, observations_, *statistics, estimate_.basis);
  if (m_step_.is_expanded()) {
    give_back_unit(idle->component, activation, *statistics, estimate_.basis);
  }
  engine_->set_basis(estimate_.basis);
  ++revivals_;
  average_ = {};
  blocks_.clear();
  next_curvature_ = 0;  // it was that of another column
  return idle->component;
}

Vector OnlineEm::filtered_activation() const {
  Vector x = engine_->filtered_activation();
  if (estimate_.prior.has_scale()) {
    const Vector scale = estimate_.prior.scale();
    x.head(scale.size()).array() /= scale.array();
  }
  return x;
}

void OnlineEm::begin_from_average() {
  Statistics* const statistics = engine_->mutable_statistics();
  if (average_.empty() || statistics == nullptr) return;
  estimate_ = working_average();
  statistics->set_sums(average_.mean());
  statistics->squared_weights = 1 / static_cast<double>(std::max<std::int64_t>(clock_, 1));
  engine_->set_basis(estimate_.basis);
  engine_->set_law(estimate_.law);
  engine_->set_prior(estimate_.prior);
  average_ = {};
  blocks_.clear();
}

bool OnlineEm::take_up(Estimate estimate, const StatisticsOf& statistics_of) {
  if (engine_->mutable_statistics() == nullptr) return false;
  if (m_step_.is_expanded()) {
    estimate = with_column_sums(std::move(estimate), column_sums(estimate_.basis));
  }
  const Statistics found = statistics_of(estimate, 1).front();
  if (options_.keep_blocks) {
    blocks_.set_all(statistics_of(estimate, kStretchesTakenUp),
                    numbers_of(with_unit_scale(estimate)));
  }
  engine_->finish();  // observations that wait for their statistics are among those of the estimate
  Statistics& statistics = *engine_->mutable_statistics();
  statistics.s1 = found.s1;
  statistics.s2 = found.s2;
  statistics.s3 = found.s3;
  statistics.s4 = found.s4;
  if (found.unseen.size() > 0) {
    statistics.unseen = found.unseen;
  } else if (statistics.unseen.size() > 0) {
    statistics.unseen.setZero();
  }
  statistics.squared_weights = 1 / static_cast<double>(std::max<std::int64_t>(clock_, 1));
  estimate_ = std::move(estimate);
  engine_->set_basis(estimate_.basis);
  engine_->set_law(estimate_.law);
  engine_->set_prior(estimate_.prior);
  next_curvature_ = 0;
  if (options_.average && !average_.empty()) average_.set_all(statistics.sums());
  if (options_.keep_blocks) begin_block();
  return true;
}

Estimate OnlineEm::averaged() const {
  return average_.empty() ? last() : with_unit_scale(working_average());
}

Statistics OnlineEm::reported_statistics() const {
  Statistics mean = engine_->statistics();
  if (!options_.average || average_.empty()) return mean;
  const Index fewest = mean.s1.size() + mean.s2.size() + mean.s3.size() + mean.s4.size();
  if (average_.length() > fewest) mean.unseen.resize(mean.s2.rows(), mean.s2.cols());
  average_.write_mean(mean.mutable_sums());
  return mean;
}

double OnlineEm::worth_of_reported() const {
  if (!options_.average || average_.empty()) return engine_->statistics().effective_count();
  return average_.part() * static_cast<double>(clock_);
}

Estimate OnlineEm::working_average() const {
  const Statistics mean = reported_statistics();
  Estimate estimate = working_average_but_law(mean);
  m_step_.update_law(mean, estimate.law);
  return estimate;
}

Estimate OnlineEm::reported_but_law() const {
  if (!options_.average || average_.empty()) return last();
  return with_unit_scale(working_average_but_law(reported_statistics()));
}

AnyPrior OnlineEm::reported_prior() const {
  AnyPrior prior = estimate_.prior;
  if (options_.average && !average_.empty() && learn_prior_) {
    const Statistics& now = engine_->statistics();
    Statistics mean(0, 0, now.s3.size());
    mean.s3 = average_.mean_of(now.s1.size() + now.s2.size(), now.s3.size());
    mean.squared_weights = now.squared_weights;
    for (int i = 0; i < 2; ++i) m_step_.update_prior(mean, prior);
  }
  if (prior.has_scale()) prior.set_scale(Vector::Ones(prior.scale().size()));
  return prior;
}

Estimate OnlineEm::working_average_but_law(const Statistics& mean) const {
  Estimate estimate = estimate_;
  m_step_.update_basis(mean, estimate.basis);
  // Twice, since the best value of one parameter may be taken where another one stands, and that
  // is, the first time, where the last iterate left it.
  for (int i = 0; i < 2 && learn_prior_; ++i) m_step_.update_prior(mean, estimate.prior);
  if (!m_step_.is_expanded()) return estimate;
  return with_column_sums(std::move(estimate), column_sums(estimate_.basis));
}

}  // namespace headwater
