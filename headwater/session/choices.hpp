#pragma once

#include <string>
#include <vector>

#include "headwater/session/config.hpp"

namespace headwater {

// The names that options go by, in the shell as in Python.
template <class Value>
struct Choice {
  const char* name;
  Value value;
};
template <class Value>
using Choices = std::vector<Choice<Value>>;

inline Choices<Method> method_choices() {
  return {{"online", Method::kOnline}, {"batch", Method::kBatch}};
}

inline Choices<EngineKind> engine_choices() {
  return {{"auto", EngineKind::kAuto},
          {"exact", EngineKind::kExact},
          {"beam", EngineKind::kBeam},
          {"particle", EngineKind::kParticle},
          {"fast", EngineKind::kFast}};
}

inline Choices<ProposalKind> proposal_choices() {
  return {{"auto", ProposalKind::kAuto},
          {"prior", ProposalKind::kPrior},
          {"guided", ProposalKind::kGuided}};
}

inline Choices<SmootherKind> smoother_choices() {
  return {{"auto", SmootherKind::kAuto},
          {"path", SmootherKind::kPath},
          {"forward", SmootherKind::kForward},
          {"paris", SmootherKind::kParis},
          {"lag", SmootherKind::kLag}};
}

inline Choices<BackwardDraw> backward_choices() {
  return {{"mcmc", BackwardDraw::kMcmc},
          {"rejection", BackwardDraw::kRejection},
          {"exact", BackwardDraw::kExact}};
}

inline Choices<Scale> scale_choices() {
  return {{"auto", Scale::kAuto}, {"basis", Scale::kPlain}, {"prior", Scale::kCentred}};
}

inline Choices<Average> average_choices() {
  return {{"auto", Average::kAuto}, {"none", Average::kNone}, {"polyak", Average::kPolyak}};
}

}  // namespace headwater
