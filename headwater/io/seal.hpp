#pragma once

#include <string>
#include <string_view>

namespace headwater {

// What stands before the contents of a file of ours, so that damage is noticed before a library
// that trusts its files reads it: 512 bytes, the title and a checksum as text. HDF5 leaves that
// much room at the beginning of a file to whoever wants it.
std::string make_seal(std::string_view title, std::string_view contents);

// Throws InputError if the contents of a file that has a seal with this title are not those that
// were sealed. A file without one passes.
void check_seal(std::string_view title, const std::string& name);

}  // namespace headwater
