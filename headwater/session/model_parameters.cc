#include "headwater/session/model_parameters.hpp"

namespace headwater {

void write_parameters(Hdf5File& file, const std::string& group, const Parameters& parameters) {
  for (const auto& [name, value] : parameters) {
    const std::string path = group + "/" + name;
    if (value.size() == 1) {
      file.write(path, value(0));
    } else if (value.cols() == 1) {
      file.write(path, Vector(value));
    } else {
      file.write(path, value);
    }
  }
}

Parameters read_parameters(const Hdf5Contents& file, const std::string& group) {
  Parameters parameters;
  if (!file.contains(group)) return parameters;
  for (const std::string& name : file.children(group)) {
    parameters.push_back({name, file.read_array(group + "/" + name)});
  }
  return parameters;
}

}  // namespace headwater
