#pragma once

// The public nouns of headwater.
//
//   Config, Session, Model         a fit, from options to result
//   ModelFilter                    a fitted model at work on a stream
//   AnyPrior and the concepts      priors, ours and yours; check_prior tests one
//   AnyLaw and the concepts        laws of the counts, ours and yours; check_emission tests one
//   Simulator                      streams drawn from a model
//   ObservationSource, MatrixSink  data in and out; read_model, write_model

#include "headwater/core/error.hpp"
#include "headwater/emission/conformance.hpp"
#include "headwater/emission/law_table.hpp"
#include "headwater/io/sink.hpp"
#include "headwater/io/source.hpp"
#include "headwater/learning/matching.hpp"
#include "headwater/models/any_prior.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/conformance.hpp"
#include "headwater/models/finite_prior.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/models/relaxed_selection.hpp"
#include "headwater/models/simulate.hpp"
#include "headwater/session/inference.hpp"
#include "headwater/session/model_file.hpp"
#include "headwater/session/registry.hpp"
#include "headwater/session/session.hpp"
