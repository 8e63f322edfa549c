#include "headwater/io/text/parameter_json.hpp"

namespace headwater {

namespace {

template <class Values>
void write_list(JsonWriter& json, const Values& values) {
  json.begin_array();
  for (Index i = 0; i < values.size(); ++i) json.value(values[i]);
  json.end_array();
}

}  // namespace

void write_value(JsonWriter& json, const Matrix& value) {
  if (value.size() == 1) {
    json.value(value(0));
  } else if (value.cols() == 1) {
    write_list(json, value.col(0));
  } else {
    json.begin_array();
    for (Index i = 0; i < value.rows(); ++i) write_list(json, value.row(i));
    json.end_array();
  }
}

void write_parameters(JsonWriter& json, const Parameters& parameters) {
  json.begin_object();
  for (const auto& [name, value] : parameters) {
    json.key(name);
    write_value(json, value);
  }
  json.end_object();
}

}  // namespace headwater
