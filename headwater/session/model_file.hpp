#pragma once

#include <memory>
#include <string>

#include "headwater/session/model.hpp"

namespace headwater {

class Hdf5File;

// Model files are HDF5, documented field by field in docs/file_formats.md. The same model gives the
// same bytes.

// Reserves a name: fails at once when it cannot be written; the file appears with write().
class ModelFile {
 public:
  explicit ModelFile(const std::string& name);
  ModelFile(ModelFile&&) noexcept;
  ~ModelFile();
  void write(const Model& model);

 private:
  std::unique_ptr<Hdf5File> file_;
};

void write_model(const Model& model, const std::string& name);

// Throws InputError if it is not a model file, is of a later version, or has a prior that is not in
// the registry.
Model read_model(const std::string& name);
// For a prior of one's own, which is given the parameters in the file.
Model read_model(const std::string& name, const AnyPrior& prior);

}  // namespace headwater
