#include "headwater/config.hpp"

#include "headwater/session/options.hpp"

namespace headwater {

void EngineConfig::validate() const { check_values(engine_options(), *this); }

}  // namespace headwater
