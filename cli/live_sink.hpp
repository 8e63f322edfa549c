#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data_options.hpp"
#include "headwater/sink.hpp"
#include "line_file.hpp"

// Whether an output of a command that filters these data is written line by line while it runs:
// text on standard output or a pipe, and with --follow any file of text. Other files appear whole
// at the end.
bool grows_with(const DataOptions& data, const std::string& name);

// The output of that name for such data; null if the name is empty. If they come line by line, from
// a pipe or with --follow, each row can be read as soon as it is written.
std::unique_ptr<headwater::MatrixSink> open_output(const DataOptions& data, const std::string& name,
                                                   const std::vector<std::string>& header = {});

// Tells RunFiles of such an output.
void add_output(RunFiles& files, const DataOptions& data, const std::string& option,
                const std::string& name);
