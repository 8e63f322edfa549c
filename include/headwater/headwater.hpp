#pragma once

// The public names of headwater. This header includes, directly or not, all others of its folder.
// Headers outside of this folder are internal and may change without notice.
//
//   Config, Session, Model         a fit, from options to result; read_model, write_model
//   SequenceRound, RoundStatistics a fit of many sequences, shared by threads or machines
//   ModelFilter, SurpriseMeter     a fitted model at work on a stream; smoothed_activations
//   Watch                          alarms where a stream is unusual, at an asked rate
//   Forecast                       means and quantiles of the observations to come
//   ObservationSource, MatrixSink  data in and out; Observation, Record
//   AnyPrior and the concepts      priors, ours (make_prior) and yours; check_prior tests one
//   AnyLaw and CellLaw             laws of the counts, Poisson or yours; check_emission tests one
//   Simulator                      streams drawn from a model
//   Error                          what every exception is derived from

#include "headwater/any_law.hpp"
#include "headwater/any_prior.hpp"
#include "headwater/config.hpp"
#include "headwater/conformance.hpp"
#include "headwater/error.hpp"
#include "headwater/forecast.hpp"
#include "headwater/inference.hpp"
#include "headwater/law_table.hpp"
#include "headwater/matching.hpp"
#include "headwater/model.hpp"
#include "headwater/observation.hpp"
#include "headwater/registry.hpp"
#include "headwater/reports.hpp"
#include "headwater/round.hpp"
#include "headwater/score_error.hpp"
#include "headwater/session.hpp"
#include "headwater/simulate.hpp"
#include "headwater/sink.hpp"
#include "headwater/source.hpp"
#include "headwater/surprise.hpp"
#include "headwater/surprise_calibration.hpp"
#include "headwater/watch.hpp"
