// One program for all libFuzzer targets: HEADWATER_FUZZ names the target.

#include <cstdlib>

#include "fuzz.hpp"
#include "headwater/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Target& target = targets().at(std::getenv("HEADWATER_FUZZ"));
  try {
    target(std::string(reinterpret_cast<const char*>(data), size));
  } catch (const headwater::Error&) {
    // The expected way to refuse the bytes.
  }
  return 0;
}
