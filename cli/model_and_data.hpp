#pragma once

#include <string>
#include <vector>

#include "data_stream.hpp"
#include "headwater/inference.hpp"
#include "headwater/model.hpp"

// Opens data for use with a model, their channels in the order of the model's names. Throws
// InputError if their numbers of channels, or their names, differ.
DataStream open_for_model(const DataOptions& data, const std::string& model_name,
                          const headwater::Model& model, bool quiet = false);

// Puts the channels of data into the order of these names, and says so: see
// DataStream::match_names().
void match_names(DataStream& data, const std::vector<std::string>& names,
                 const std::string& model_name, bool quiet);

// What channels are called: the model's names, those in the header of the data, or numbers.
std::vector<std::string> channel_labels(const DataStream& data, const headwater::Model& model);
// These names, and numbers where there are none.
std::vector<std::string> channel_labels(std::vector<std::string> names,
                                        headwater::Index num_channels);
// The header of an output with a column for each channel: none if channels have no names and rows
// have no times.
std::vector<std::string> channel_header(const DataStream& data, const headwater::Model& model);

// The texts of a row of output before its numbers: the time of the last observation, if rows have
// times.
std::vector<std::string> time_texts(const DataStream& data);
// The header of an output whose rows begin so; none if rows have no times.
std::vector<std::string> header_with_time(const DataStream& data, std::vector<std::string> names);

// Prints a line to standard error if rows were skipped.
void report_bad_rows(const DataStream& data, bool quiet);
