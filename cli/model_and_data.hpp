#pragma once

#include <memory>
#include <string>

#include "data_options.hpp"
#include "headwater/io/source.hpp"
#include "headwater/session/inference.hpp"
#include "headwater/session/model_file.hpp"

// Opens data that a model is to work on; InputError if they have other channels than the model.
std::unique_ptr<headwater::ObservationSource> open_for_model(const DataOptions& data,
                                                             const std::string& model_name,
                                                             const headwater::Model& model);

// All that is left of a source, M x T.
headwater::Matrix read_record(headwater::ObservationSource& source);
