#pragma once

#include <string>
#include <string_view>

namespace headwater {

// What stands before the contents of a file of ours, so that damage is noticed before a library
// that trusts its files reads it: 512 bytes, the title and a checksum as text. HDF5 leaves that
// much room at the beginning of a file to whoever wants it.
std::string make_seal(std::string_view title, std::string_view contents);

// Throws InputError if a file has no seal with this title, or if its contents are not those that
// were sealed.
void check_seal(std::string_view title, const std::string& name);

}  // namespace headwater
