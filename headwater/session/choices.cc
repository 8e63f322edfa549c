#include "headwater/session/choices.hpp"

#include "headwater/filters/resampling.hpp"
#include "headwater/law_table.hpp"
#include "headwater/session/engine_table.hpp"

namespace headwater {

const Choices<Method>& method_choices() {
  static const Choices<Method> choices = {{"online", Method::kOnline}, {"batch", Method::kBatch}};
  return choices;
}

const Choices<Init>& init_choices() {
  static const Choices<Init> choices = {{"auto", Init::kAuto}, {"random", Init::kRandom}};
  return choices;
}

const Choices<std::string>& law_choices() {
  static const Choices<std::string> choices = [] {
    Choices<std::string> all = {{CountsConfig::kAuto, CountsConfig::kAuto}};
    for (const LawInfo& law : law_table()) all.push_back({law.name, law.name});
    return all;
  }();
  return choices;
}

const Choices<DispersionOf>& dispersion_choices() {
  static const Choices<DispersionOf> choices = {{"channel", DispersionOf::kChannel},
                                                {"shared", DispersionOf::kShared}};
  return choices;
}

const Choices<Outliers>& outlier_choices() {
  static const Choices<Outliers> choices = {{"skip", Outliers::kSkip}, {"keep", Outliers::kKeep}};
  return choices;
}

const Choices<Average>& average_choices() {
  static const Choices<Average> choices = {
      {"auto", Average::kAuto}, {"none", Average::kNone}, {"polyak", Average::kPolyak}};
  return choices;
}

const Choices<EngineKind>& engine_choices() {
  static const Choices<EngineKind> choices = [] {
    Choices<EngineKind> all = {{"auto", EngineKind::kAuto}};
    for (const EngineInfo& engine : engine_table()) all.push_back({engine.name, engine.kind});
    return all;
  }();
  return choices;
}

const Choices<ProposalKind>& proposal_choices() {
  static const Choices<ProposalKind> choices = {{"auto", ProposalKind::kAuto},
                                                {"prior", ProposalKind::kPrior},
                                                {"guided", ProposalKind::kGuided}};
  return choices;
}

// These have their names in resampling.cc, which knows nothing of options.
const Choices<Resampling>& resampling_choices() {
  static const Choices<Resampling> choices = [] {
    Choices<Resampling> named;
    for (const Resampling scheme : {Resampling::kSystematic, Resampling::kStratified,
                                    Resampling::kMultinomial, Resampling::kResidual}) {
      named.push_back({to_string(scheme), scheme});
    }
    return named;
  }();
  return choices;
}

const Choices<SmootherKind>& smoother_choices() {
  static const Choices<SmootherKind> choices = {{"auto", SmootherKind::kAuto},
                                                {"path", SmootherKind::kPath},
                                                {"forward", SmootherKind::kForward},
                                                {"paris", SmootherKind::kParis},
                                                {"lag", SmootherKind::kLag}};
  return choices;
}

const Choices<BackwardDraw>& backward_choices() {
  static const Choices<BackwardDraw> choices = {{"mcmc", BackwardDraw::kMcmc},
                                                {"rejection", BackwardDraw::kRejection},
                                                {"exact", BackwardDraw::kExact}};
  return choices;
}

const Choices<Scale>& scale_choices() {
  static const Choices<Scale> choices = {{"auto", Scale::kExpanded}, {"basis", Scale::kPlain}};
  return choices;
}

std::string to_string(Method method) { return name_of(method, method_choices()); }
std::string to_string(EngineKind engine) { return name_of(engine, engine_choices()); }
std::string to_string(ProposalKind proposal) { return name_of(proposal, proposal_choices()); }
std::string to_string(SmootherKind smoother) { return name_of(smoother, smoother_choices()); }
std::string to_string(BackwardDraw draw) { return name_of(draw, backward_choices()); }

}  // namespace headwater
