#include "headwater/any_law.hpp"

#include "headwater/emission/poisson.hpp"

namespace headwater {

AnyLaw::AnyLaw() : AnyLaw(Poisson()) {}

void AnyLaw::exchange(StateArchive& archive) {
  for (Parameter parameter : parameters()) {
    archive(parameter.value);
    if (archive.is_reading()) set_parameter(parameter);
  }
}

}  // namespace headwater
