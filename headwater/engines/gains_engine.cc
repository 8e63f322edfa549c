#include "headwater/engines/gains_engine.hpp"

#include <limits>

namespace headwater {

namespace {

// Empty for a law without any.
Vector dispersions_of(const AnyLaw& law) {
  for (const Parameter& parameter : law.parameters()) {
    if (parameter.name == "dispersion") return parameter.value.reshaped();
  }
  return {};
}

}  // namespace

GainsEngine::GainsEngine(std::unique_ptr<Engine> engine, ChannelGains gains, Gains kind)
    : engine_(std::move(engine)),
      gains_(std::move(gains)),
      kind_(kind),
      gains_now_(Vector::Ones(engine_->emission().num_channels())),
      dispersions_(dispersions_of(engine_->emission().law())) {}

void GainsEngine::set_basis(const Matrix& basis) {
  engine_->set_basis(basis);
  now_.reset();
}

void GainsEngine::set_law(const AnyLaw& law) {
  engine_->set_law(law);
  dispersions_ = dispersions_of(law);
  now_.reset();
}

void GainsEngine::set_season(const Season& season) {
  engine_->set_season(season);
  now_.reset();
}

const Emission& GainsEngine::emission_now() const {
  const Emission& of_components = engine_->emission_now();
  if (!any_) return of_components;
  if (!now_) {
    const Matrix basis = gains_now_.asDiagonal() * of_components.basis();
    now_.emplace(basis, of_components.law());
  }
  return *now_;
}

FilterStep GainsEngine::step(const Observation& y, double step_size) {
  now_.reset();
  any_ = gains_.write(y.position(), y.num_channels(), gains_now_);
  if (any_) {
    exposed_ = y;
    exposed_.multiply_exposures(gains_now_);
  }
  const FilterStep step = engine_->step(any_ ? exposed_ : y, step_size);
  const bool is_learned = step_size > 0;  // or else the engine only filters
  if (kind_ == Gains::kLearned && is_learned && !step.impossible && y.any_seen()) learn(y);
  return step;
}

void GainsEngine::learn(const Observation& y) {
  const Matrix& basis = engine_->emission_now().basis();
  predicted_.noalias() = basis * engine_->predicted_activation();
  filtered_.noalias() = basis * engine_->filtered_activation();
  const ExpectedLevels& levels = engine_->expected_levels();
  if (levels.any()) {
    predicted_.array() *= levels.means.array();
    filtered_.array() *= levels.means.array();
  }
  const Vector& dispersions = levels.any() ? levels.dispersions : dispersions_;
  const bool has_hurdle = engine_->emission().law()->variance(0).has_hurdle();
  gains_.learn(has_hurdle ? behind_hurdles(y) : y, predicted_, filtered_, dispersions);
}

const Observation& GainsEngine::behind_hurdles(const Observation& y) {
  const AnyLaw& law = engine_->emission().law();
  levelled_ = y;
  if (engine_->expected_levels().any()) levelled_.set_levels(engine_->expected_levels());
  const auto channels = static_cast<std::size_t>(y.num_channels());
  behind_counts_.assign(channels, std::numeric_limits<double>::quiet_NaN());
  behind_exposures_.assign(channels, 0);
  for_each_seen(y, [&](Index m, double count, double exposure) {
    const auto at = static_cast<std::size_t>(m);
    const double gained = exposure * gains_now_[m];
    behind_exposures_[at] = exposure;
    behind_counts_[at] =
        law->forces_in(levelled_, m, count, gained, filtered_[m]).gain * filtered_[m];
  });
  behind_.assign(behind_counts_, behind_exposures_);
  behind_.set_position(y.position());
  return behind_;
}

void GainsEngine::exchange(StateArchive& archive) {
  engine_->exchange(archive);
  archive(gains_, any_, gains_now_);
  if (!archive.is_reading()) return;
  archive.expect(gains_now_.allFinite() && (gains_now_.array() > 0).all(), "an invalid gain");
  dispersions_ = dispersions_of(engine_->emission().law());
  now_.reset();
}

std::unique_ptr<Engine> with_channel_gains(std::unique_ptr<Engine> engine, const Season& season,
                                           bool learns) {
  using Gains = GainsEngine::Gains;
  if (!learns) {
    if (season.channel_profiles().empty()) return engine;
    return std::make_unique<GainsEngine>(std::move(engine), ChannelGains(season.channel_profiles()),
                                         Gains::kHeld);
  }
  std::vector<Index> periods;
  for (const Matrix& profile : season.profiles()) periods.push_back(profile.cols());
  const Index channels = engine->emission().num_channels();
  if (periods.empty() || !ChannelGains::are_affordable(channels, periods)) return engine;
  return std::make_unique<GainsEngine>(std::move(engine), ChannelGains(channels, periods),
                                       Gains::kLearned);
}

std::vector<Matrix> found_channel_profiles(std::unique_ptr<Engine> engine, const Season& season,
                                           const RecordView& observations) {
  const auto learning = with_channel_gains(std::move(engine), season, true);
  for (Index t = 0; t < observations.size(); ++t) {
    learning->step(observations[t], 1 / static_cast<double>(t + 1));
  }
  return learning->channel_profiles();
}

RecordView with_channel_profiles(const RecordView& observations,
                                 const std::vector<Matrix>& profiles, Record& room) {
  if (profiles.empty()) return observations;
  const ChannelGains gains(profiles);
  Vector now;
  for (Index t = 0; t < observations.size(); ++t) {
    Observation y = observations[t];
    gains.write(y.position(), y.num_channels(), now);
    y.multiply_exposures(now);
    room.add(y);
  }
  return room;
}

}  // namespace headwater
