#pragma once

#include <string>

#include "data_stream.hpp"
#include "headwater/session/inference.hpp"
#include "headwater/session/model_file.hpp"

// Opens data that a model is to work on; InputError if they have other channels than the model.
DataStream open_for_model(const DataOptions& data, const std::string& model_name,
                          const headwater::Model& model);

// A line on standard error if rows were left out.
void report_bad_rows(const DataStream& data, bool quiet);
