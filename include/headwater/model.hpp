#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headwater/config.hpp"
#include "headwater/estimate.hpp"
#include "headwater/export.hpp"
#include "headwater/reports.hpp"
#include "headwater/standard_errors.hpp"

namespace headwater {

class Hdf5File;

// The version of the library: 1.2.3.
HEADWATER_EXPORT std::string version();

// The estimates in the course of the fit: one row for each recorded time.
struct TraceTable {
  // Whether the entries of the basis are among the columns; those of a very large basis are not.
  bool has_basis() const;

  std::vector<std::string> names;  // of the columns of `reported` and `last`
  Vector t;                        // observations so far, or iterations of batch EM
  Vector log_likelihood;           // summed so far, or of the whole record
  Matrix reported;
  Matrix last;
};

// How well a fit with this number of components has predicted the stream.
struct ComponentScore {
  Index components = 0;
  double score = 0;           // mean of log p(y_t | y_1..t-1) over the observations after the start
  double standard_error = 0;  // of its difference to the best score; 0 for the best
  bool chosen = false;
};

// How much better a fit has predicted the observations after its first search for a start than the
// running mean of each channel does, with negative binomial counts around it: the mean difference
// of log p, in nats an observation.
struct GainOverMean {
  double gain = 0;
  double standard_error = 0;      // infinite where there are too few observations to tell
  std::int64_t observations = 0;  // that were compared; 0: none
};

// How often each component was found by fits of the same stream with other seeds.
struct Stability {
  Index restarts = 0;        // fits with this one; 0: there was one fit alone
  std::vector<Index> found;  // of each component: how many of these fits have found it

  bool empty() const { return found.empty(); }
};

// The result of a fit, with the options that it was made with.
struct HEADWATER_EXPORT Model {
  Model(Estimate reported_estimate, Estimate last_iterate)
      : reported(std::move(reported_estimate)), last(std::move(last_iterate)) {}

  Estimate reported;               // the average of the iterates where averaging is on
  Estimate last;                   // the last iterate
  bool background = false;         // whether the basis has a last column that is always on
  std::vector<std::string> names;  // of the channels, as the data had them; empty: they had none

  EngineKind engine = EngineKind::kExact;
  std::string engine_reason;             // why it was chosen; empty if it was asked for
  std::optional<ProposalKind> proposal;  // how particles moved, if there were any
  double effective_part = 1;  // of the particles, on average over the stream; 1 where not known
  Method method = Method::kOnline;
  std::uint64_t seed = 0;
  std::string version;
  std::int64_t observations = 0;
  std::int64_t impossible_observations = 0;
  std::int64_t outliers = 0;       // observations that were treated as missing: see --outliers
  std::int64_t first_outlier = 0;  // its number, from 1; 0 if there is none
  std::int64_t revivals = 0;       // components that were given a new column
  std::int64_t iterations = 0;     // of batch EM, or M-steps of online EM
  bool converged = false;          // batch EM stopped because it gained little
  double log_likelihood = 0;
  // Of the observations that the start had not seen: predictions in the strict sense. Online EM.
  double log_likelihood_after_start = 0;
  std::int64_t observations_after_start = 0;
  double lost_mass = 0;  // of the beam: the mean over the stream (see FilterStep)
  std::vector<std::pair<std::string, std::string>> options;
  TraceTable trace;
  GainOverMean over_running_mean;                    // online EM
  std::vector<ComponentScore> choice_of_components;  // empty where there was no choice
  std::vector<PriorScore> choice_of_prior;           // empty where there was no choice
  Stability stability;                               // of the components, where there were restarts
  std::optional<StandardErrors> standard_errors;     // where they were asked for, and there are any
  // What a fit needs beside all this to continue from here (see Session): statistics, averages, the
  // law of the activations. Bytes that only the same version reads; empty if the fit has not ended.
  std::string state;

  Index num_channels() const { return reported.basis.rows(); }
  Index num_components() const { return reported.basis.cols() - (background ? 1 : 0); }
  // Whether the first M-step waited until all observations of the search for a start were processed
  // (see Session), so that it does not spoil the start. A model file does not record this.
  bool keeps_its_start = true;
  // Whether online EM made so few M-steps that the estimate is close to its start. False if the
  // start was searched for and is kept: the search has used the same observations many times.
  bool has_hardly_moved() const;
};

// The options that the model was fitted with, with its own prior, periods and seed where they were
// found or chosen by the fit, and its last iterate as the start. The law of the counts is `auto`:
// that of the model, until one that was chosen proves too narrow. For a Session that continues it.
// Throws InputError for an option with a value that it cannot have.
HEADWATER_EXPORT Config config_of(const Model& model);

// The basis without the background, and the background alone (empty if there is none).
HEADWATER_EXPORT Matrix basis_of(const Estimate& estimate, bool background);
HEADWATER_EXPORT Vector background_of(const Estimate& estimate, bool background);

// Model files are HDF5, documented field by field in docs/file_formats.md. The same model gives the
// same bytes.

// Reserves the name of a model file: the constructor throws if the file cannot be written. The file
// appears with write().
class HEADWATER_EXPORT ModelFile {
 public:
  explicit ModelFile(const std::string& name);
  ModelFile(ModelFile&&) noexcept;
  ~ModelFile();
  void write(const Model& model);

 private:
  std::unique_ptr<Hdf5File> file_;
};

HEADWATER_EXPORT void write_model(const Model& model, const std::string& name);

// Whether it is a regular file that begins as model files do.
HEADWATER_EXPORT bool is_model_file(const std::string& name);

// Throws InputError if it is not a model file, is of a later version, or has a prior that is not in
// the registry. hdf5_reader: see SourceOptions. Nothing outside the file is read.
HEADWATER_EXPORT Model read_model(const std::string& name,
                                  const std::vector<std::string>& hdf5_reader = {});
// For a prior of one's own, which is given the parameters in the file.
HEADWATER_EXPORT Model read_model(const std::string& name, const AnyPrior& prior);

}  // namespace headwater
