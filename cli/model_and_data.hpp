#pragma once

#include <string>

#include "data_stream.hpp"
#include "headwater/inference.hpp"
#include "headwater/model.hpp"

// Opens data for use with a model. Throws InputError if their numbers of channels differ.
DataStream open_for_model(const DataOptions& data, const std::string& model_name,
                          const headwater::Model& model);

// Prints a line to standard error if rows were skipped.
void report_bad_rows(const DataStream& data, bool quiet);
