#include "headwater/session/model_errors.hpp"

#include <fmt/format.h>

#include "headwater/error.hpp"
#include "headwater/session/model_parameters.hpp"

namespace headwater {

namespace {

constexpr const char* kErrors = "/standard_errors";

std::string profile_errors_name(const std::string& group, Index period) {
  return fmt::format("{}/periods/{}", group, period);
}

void write_errors_of(Hdf5File& file, const std::string& group, const ErrorsOfEstimate& errors) {
  file.write(group + "/basis", errors.basis);
  write_parameters(file, group + "/parameters", errors.parameters);
  for (const Matrix& profile : errors.profiles) {
    if (profile.size() > 0) file.write(profile_errors_name(group, profile.cols()), profile);
  }
}

ErrorsOfEstimate read_errors_of(const Hdf5Contents& file, const std::string& group,
                                const Estimate& estimate) {
  ErrorsOfEstimate errors{file.read_matrix(group + "/basis"),
                          read_parameters(file, group + "/parameters")};
  const Matrix& basis = errors.basis;
  if (basis.rows() != estimate.basis.rows() || basis.cols() != estimate.basis.cols()) {
    throw InputError(fmt::format("{}/basis is {}x{}; expected {}x{}", group, basis.rows(),
                                 basis.cols(), estimate.basis.rows(), estimate.basis.cols()));
  }
  if (!is_basis(basis)) {
    throw InputError(fmt::format("{}/basis has an entry that is negative or not finite", group));
  }
  for (const Parameter& parameter : errors.parameters) {
    if (is_basis(parameter.value)) continue;
    throw InputError(
        fmt::format("{}/parameters/{} is negative or not finite", group, parameter.name));
  }
  for (const Matrix& profile : estimate.season.profiles()) {
    const std::string name = profile_errors_name(group, profile.cols());
    errors.profiles.push_back(file.contains(name) ? file.read_matrix(name) : Matrix());
    const Matrix& found = errors.profiles.back();
    if (found.size() == 0) continue;
    if (found.rows() != profile.rows() || found.cols() != profile.cols() || !is_basis(found)) {
      throw InputError(fmt::format("{} is not a table of {}x{} standard errors", name,
                                   profile.rows(), profile.cols()));
    }
  }
  return errors;
}

}  // namespace

void write_errors(Hdf5File& file, const std::optional<StandardErrors>& errors) {
  if (!errors) return;
  const std::string group = kErrors;
  file.write(group + "/full", errors->is_full ? 1 : 0);
  write_errors_of(file, group + "/robust", errors->robust);
  write_errors_of(file, group + "/plain", errors->plain);
}

std::optional<StandardErrors> read_errors(const Hdf5Contents& file, const Estimate& estimate) {
  const std::string group = kErrors;
  if (!file.contains(group)) return std::nullopt;
  return StandardErrors{read_errors_of(file, group + "/robust", estimate),
                        read_errors_of(file, group + "/plain", estimate),
                        file.read_int(group + "/full") != 0};
}

}  // namespace headwater
