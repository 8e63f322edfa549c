#include "headwater/io/hdf5/hdf5_handle.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <type_traits>

#include "headwater/error.hpp"

namespace headwater {

static_assert(std::is_same_v<hid_t, std::int64_t>);
static_assert(std::is_same_v<H5E_auto2_t, int (*)(std::int64_t, void*)>);

Hdf5Silence::Hdf5Silence() {
  was_set_ = H5Eget_auto2(H5E_DEFAULT, &function_, &data_) >= 0;
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Silence::~Hdf5Silence() {
  H5Eclear2(H5E_DEFAULT);
  if (was_set_) H5Eset_auto2(H5E_DEFAULT, function_, data_);
}

Hdf5Handle::~Hdf5Handle() {
  if (id_ >= 0) H5Idec_ref(id_);
}

namespace {

constexpr std::string_view kElsewhere =
    "refers to another file; such data are read with --allow-external, such models never";

// HDF5 calls this before it opens the target of a link to another file.
herr_t refuse_external_link(const char*, const char*, const char*, const char*, unsigned*, hid_t,
                            void* was_met) {
  *static_cast<bool*>(was_met) = true;
  return -1;
}

}  // namespace

Hdf5Place::Reach Hdf5Place::reach() const {
  if (path == "/") return Reach::inside;
  bool was_met = false;
  const Hdf5Handle access(H5Pcreate(H5P_LINK_ACCESS));
  if (!may_leave_file) {
    check(H5Pset_elink_cb(access.id(), refuse_external_link, &was_met), kCannotBeRead);
  }
  const auto is_there = [&] {
    // HDF5 can be asked for a link only if the group that contains it exists.
    for (std::size_t end = path.find('/', 1); end != path.npos; end = path.find('/', end + 1)) {
      if (H5Lexists(file, path.substr(0, end).c_str(), access.id()) <= 0) return false;
    }
    return H5Lexists(file, path.c_str(), access.id()) > 0 &&
           H5Oexists_by_name(file, path.c_str(), access.id()) > 0;
  };
  const bool found = is_there();
  if (was_met) return Reach::outside;
  return found ? Reach::inside : Reach::missing;
}

bool Hdf5Place::exists() const {
  const Reach found = reach();
  if (found == Reach::outside) fail(kElsewhere);
  return found == Reach::inside;
}

void Hdf5Place::check_storage(std::int64_t dataset) const {
  if (may_leave_file) return;
  const Hdf5Handle properties(H5Dget_create_plist(dataset));
  check(properties.id(), kCannotBeRead);
  const bool is_outside =
      H5Pget_layout(properties.id()) == H5D_VIRTUAL || H5Pget_external_count(properties.id()) != 0;
  if (is_outside) fail(kElsewhere);
}

void Hdf5Place::fail(std::string_view what) const {
  throw InputError(fmt::format("{}: {}: {}", name, path, what));
}

void Hdf5Place::check_size(std::int64_t object, std::span<const std::uint64_t> lengths,
                           std::size_t value_size, std::uint64_t compression) const {
  const Hdf5Handle owner(H5Iget_file_id(object));  // differs from `file` after an external link
  hsize_t file_size = 0;
  check(H5Fget_filesize(owner.id(), &file_size), "cannot be read");
  const std::uint64_t most = compression * file_size / std::max<std::size_t>(1, value_size);
  std::uint64_t count = 1;
  for (const std::uint64_t length : lengths) {
    if (__builtin_mul_overflow(count, length, &count) || count > most) {
      fail("claims to hold more than the file can");
    }
  }
}

Hdf5Handle hdf5_text_type() {
  Hdf5Handle type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.id(), H5T_VARIABLE);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

}  // namespace headwater
