#pragma once

#include <string>
#include <string_view>

namespace headwater {

// The first 512 bytes of a file that headwater writes: a title and a checksum, as text. The
// checksum detects damage before libhdf5, which trusts its input, reads the file. HDF5 leaves this
// space (the user block) to applications.
std::string make_seal(std::string_view title, std::string_view contents);

// Throws InputError if the file has no seal with this title, or if its contents do not match the
// checksum.
void check_seal(std::string_view title, const std::string& name);

}  // namespace headwater
