#pragma once

#include <string>
#include <vector>

#include "data_stream.hpp"
#include "headwater/inference.hpp"
#include "headwater/model.hpp"

// Opens data for use with a model. Throws InputError if their numbers of channels differ.
DataStream open_for_model(const DataOptions& data, const std::string& model_name,
                          const headwater::Model& model);

// What channels are called: names from the header of the data, or numbers.
std::vector<std::string> channel_labels(const DataStream& data);

// The texts of a row of output before its numbers: the time of the last observation, if rows have
// times.
std::vector<std::string> time_texts(const DataStream& data);
// The header of an output whose rows begin so; none if rows have no times.
std::vector<std::string> header_with_time(const DataStream& data, std::vector<std::string> names);

// Prints a line to standard error if rows were skipped.
void report_bad_rows(const DataStream& data, bool quiet);
