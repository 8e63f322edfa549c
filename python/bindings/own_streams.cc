// The C library's stdout and stderr under private names: see StaticHdf5.cmake.
#include <dlfcn.h>

extern "C" {
void* own_stdout = nullptr;
void* own_stderr = nullptr;
}

namespace {

void* stream_named(const char* name) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  return found == nullptr ? nullptr : *static_cast<void**>(found);
}

// Runs before other initialisers, which might print.
__attribute__((constructor(101))) void find_streams() {
  own_stdout = stream_named("stdout");
  own_stderr = stream_named("stderr");
}

}  // namespace
