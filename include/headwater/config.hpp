#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headwater/export.hpp"
#include "headwater/m_step_options.hpp"
#include "headwater/parameter.hpp"
#include "headwater/particle_choices.hpp"
#include "headwater/step_size.hpp"

namespace headwater {

enum class EngineKind {
  kAuto,      // by the prior and the size of the basis: see choose_engine
  kExact,     // all states of a finite prior
  kBeam,      // the most probable states of a large finite prior
  kParticle,  // sequential Monte Carlo, any prior
  kFast,      // a product of normal or gamma laws, for priors with affine moments
};

// An engine and why it was chosen. The reason is empty if the user named the engine.
struct EngineChoice {
  EngineKind kind;
  std::string reason;
};

enum class SmootherKind {
  kAuto,     // the engine's own choice
  kPath,     // genealogies of particles, back to the first observation
  kForward,  // exact: every statistic carried forward; particle: all backward weights
  kParis,    // particle: a few backward draws
  kLag,      // a window of later observations
};

// How particles move.
enum class ProposalKind {
  kAuto,    // guided where that pays
  kPrior,   // by the prior alone
  kGuided,  // by the prior and the observation together
};

HEADWATER_EXPORT std::string to_string(EngineKind engine);
HEADWATER_EXPORT std::string to_string(ProposalKind proposal);
HEADWATER_EXPORT std::string to_string(SmootherKind smoother);
HEADWATER_EXPORT std::string to_string(BackwardDraw draw);

// How the E-step is done: the options that fitting a model and applying one share.
struct HEADWATER_EXPORT EngineConfig {
  EngineKind kind = EngineKind::kAuto;
  Index num_particles = 1000;
  ProposalKind proposal = ProposalKind::kAuto;
  Index beam_width = 256;  // states that the beam keeps
  Resampling resampling = Resampling::kSystematic;
  double resample_below = 0.5;
  int num_threads = 1;

  void validate() const;  // throws UsageError
};

// The largest number of components. No memory would hold a model of this size, and products of
// sizes below it fit into 64 bits.
inline constexpr Index kMostComponents = 65536;
// The largest number of observations. Sums of a few such numbers fit into 64 bits.
inline constexpr std::int64_t kMostObservations = 1'000'000'000'000'000;

inline constexpr std::uint64_t kDefaultSeed = 1;  // of every command

enum class Method { kOnline, kBatch };
// Where the basis starts, if none is given.
enum class Init {
  kAuto,    // the best start of a search among the first observations
  kRandom,  // at random, scaled to the first observations
};

enum class Average {
  kAuto,    // kPolyak for decreasing steps, kNone for constant ones, which are to follow a drift
  kNone,    // report the last iterate
  kPolyak,  // report the average of the iterates
};

HEADWATER_EXPORT std::string to_string(Method method);

struct PriorConfig {
  static constexpr const char* kAuto = "auto";  // the search for a start decides

  std::string name = "basis-selection";
  Parameters parameters = {};  // starting values, for those that are not to start at the default
  bool per_component = false;  // parameters for each component instead of shared ones
};

// Which channels share the dispersion of a law of the counts.
enum class DispersionOf {
  kChannel,  // each channel has its own
  kShared,   // all channels have the same
};

// The law of the counts, by its name in law_table().
struct CountsConfig {
  static constexpr const char* kAuto = "auto";  // the search for a start decides

  std::string law = kAuto;
  DispersionOf dispersion = DispersionOf::kChannel;
  Parameters parameters = {};  // starting values, for those that are not to start at the default
};

// A period as the user gives it.
struct HEADWATER_EXPORT Period {
  Index steps = 0;     // in observations
  double seconds = 0;  // or in seconds, for a stream with time stamps
  bool is_auto() const { return steps == 0 && seconds == 0; }  // the search looks for it

  std::string text() const;
  // "24", "24h" or "auto". Throws UsageError.
  static Period parse(const std::string& text);
};

// The season of the stream: see Season.
struct SeasonConfig {
  std::vector<Period> periods = {};
  std::int64_t phase = 0;  // of the first observation
};

// What happens to an observation that is practically impossible.
enum class Outliers {
  kSkip,  // it is treated as missing, and counted
  kKeep,  // it is learned from as any other
};

// Every option of a fit. Each has a row in options.cc, which defines the option for the command
// line, Python and model files. The defaults are written here and nowhere else.
struct HEADWATER_EXPORT Config {
  Index num_components = 0;
  PriorConfig prior;
  CountsConfig counts;
  SeasonConfig season;
  Matrix initial_basis;  // M x K (or K + 1, background last); empty: as `init` says
  Init init = Init::kAuto;
  std::int64_t start_on = 0;  // most that the search for a start uses; 0: as many as it needs
  bool background = false;    // one more component that is always on

  Method method = Method::kOnline;
  EngineConfig engine;
  SmootherKind smoother = SmootherKind::kAuto;
  BackwardDraw backward = BackwardDraw::kMcmc;  // of smoother paris
  Index backward_draws = 2;
  Index lag = 0;                   // of the window; 0: as the tolerance asks, or the smoother's own
  double window_tolerance = 1e-6;  // see WindowOptions
  Index block = 0;                 // observations between two M-steps; 0: 16 to 64, or 1
  bool paper_exact = false;        // statistics and M-step as Algorithm 1 prints them

  std::int64_t round = 0;  // sequences between two M-steps (see SequenceRound); 0: no rounds
  StepSize step_size = StepSize::automatic();
  // 0: 100, or after a search for a start the number of observations that it used (see Session).
  std::int64_t burn_in = 0;
  Average average = Average::kAuto;

  std::int64_t iterations = 200;  // batch
  double tolerance = 1e-9;        // batch

  MStepOptions m_step;  // weak priors, floors, what is held

  Index restarts = 1;  // fits at the same time, see Restarts; a Session is one of them
  std::uint64_t seed = kDefaultSeed;
  Outliers outliers = Outliers::kSkip;
  bool strict = false;           // an impossible observation ends the fit
  bool standard_errors = false;  // of the estimate, for the model
  std::int64_t trace_every = 0;  // 0: often enough for some hundred rows, whatever the length

  // Throws UsageError, naming the option as the command does.
  void validate() const;
  // The options of the M-step as they take effect: without weak priors if paper_exact is set.
  MStepOptions effective_m_step() const;
  // Whether each channel's own season is learned: see Season::channel_profiles.
  bool learns_channel_profiles() const;
  bool averages() const;  // whether the average is reported
};

// Where an option is written down with a result.
enum class Recorded {
  kNowhere,      // the result does not depend on it, or it is recorded by other means
  kCheckpoints,  // in checkpoints; a model file has it in a place of its own, or not at all
  kModels,       // in model files, and in checkpoints too
};

// The options that are recorded in such files, as name and text, in the order of the table. For an
// option that is automatic or overruled by another one, the text is the value that takes effect.
HEADWATER_EXPORT std::vector<std::pair<std::string, std::string>> describe(
    const Config& config, Recorded recorded = Recorded::kModels);

}  // namespace headwater
