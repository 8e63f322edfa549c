#include "headwater/io/hdf5/hdf5.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <cassert>
#include <initializer_list>
#include <utility>

#include "headwater/error.hpp"
#include "headwater/io/files/atomic_file.hpp"
#include "headwater/io/files/file_descriptor.hpp"
#include "headwater/io/files/seal.hpp"
#include "headwater/io/hdf5/hdf5_handle.hpp"
#include "headwater/io/hdf5/hdf5_rows.hpp"
#include "headwater/io/hdf5/hdf5_stored.hpp"

namespace headwater {
namespace {

using Handle = Hdf5Handle;
using Place = Hdf5Place;
using Silence = Hdf5Silence;
using Stored = Hdf5Stored;

constexpr int kDeepestGroup = 8;

// By default HDF5 stores an object's creation time. We turn that off so that the same contents give
// the same bytes.
Handle timeless(hid_t kind) {
  Handle properties(H5Pcreate(kind));
  H5Pset_obj_track_times(properties.id(), false);
  return properties;
}

Handle make_space(std::initializer_list<Index> shape) {
  if (shape.size() == 0) return Handle(H5Screate(H5S_SCALAR));
  const std::vector<hsize_t> lengths(shape.begin(), shape.end());
  return Handle(H5Screate_simple(static_cast<int>(lengths.size()), lengths.data(), nullptr));
}

void create_groups_above(const Place& place) {
  const std::string& path = place.path;
  for (std::size_t end = path.find('/', 1); end != path.npos; end = path.find('/', end + 1)) {
    const Place group = {place.file, place.name, path.substr(0, end), false};
    if (group.exists()) continue;
    const Handle made(H5Gcreate2(group.file, group.path.c_str(), H5P_DEFAULT,
                                 timeless(H5P_GROUP_CREATE).id(), H5P_DEFAULT));
    group.check(made.id(), "cannot be created");
  }
}

void write_dataset(const Place& place, hid_t stored, hid_t given,
                   std::initializer_list<Index> shape, const void* data) {
  const Silence silence;
  assert(place.path.starts_with('/'));
  if (place.exists()) place.fail("is there already");
  create_groups_above(place);
  const Handle dataset(H5Dcreate2(place.file, place.path.c_str(), stored, make_space(shape).id(),
                                  H5P_DEFAULT, timeless(H5P_DATASET_CREATE).id(), H5P_DEFAULT));
  place.check(dataset.id(), "cannot be created");
  place.check(H5Dwrite(dataset.id(), given, H5S_ALL, H5S_ALL, H5P_DEFAULT, data),
              "cannot be written");
}

void write_doubles(const Place& place, std::initializer_list<Index> shape, const double* data) {
  write_dataset(place, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, shape, data);
}

void write_attribute(const Place& place, const std::string& attribute, hid_t stored, hid_t given,
                     const void* data) {
  const Silence silence;
  if (!place.exists()) place.fail("is missing");
  const char* path = place.path.c_str();
  const char* name = attribute.c_str();
  if (H5Aexists_by_name(place.file, path, name, H5P_DEFAULT) > 0) {
    H5Adelete_by_name(place.file, path, name, H5P_DEFAULT);
  }
  const Handle made(H5Acreate_by_name(place.file, path, name, stored, make_space({}).id(),
                                      H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  const std::string failure = fmt::format("attribute '{}' cannot be written", attribute);
  place.check(made.id(), failure);
  place.check(H5Awrite(made.id(), given, data), failure);
}

// HDF5 takes C strings, which end at the first NUL byte.
std::string without_nul(std::string_view text, const Place& place) {
  if (text.find('\0') != text.npos) place.fail("a string with a NUL byte cannot be written");
  return std::string(text);
}

// A file that HDF5 keeps in memory, so that we write it to disk ourselves: after a disk error HDF5
// cannot close its files. We use the oldest file format because H5Fget_file_image() corrupts a
// checksum in newer ones (HDFGroup/hdf5 issue 1915).
hid_t create_in_memory(const std::string& label) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_fapl_core(access.id(), 1 << 16, false);
  return H5Fcreate(label.c_str(), H5F_ACC_TRUNC, timeless(H5P_FILE_CREATE).id(), access.id());
}

std::string file_image(hid_t file, const std::string& name) {
  const auto failure = [&] { return InputError(name + ": cannot be written as HDF5"); };
  if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) throw failure();
  const ssize_t size = H5Fget_file_image(file, nullptr, 0);
  if (size < 0) throw failure();
  std::string image(static_cast<std::size_t>(size), '\0');
  if (H5Fget_file_image(file, image.data(), image.size()) != size) throw failure();
  return image;
}

}  // namespace

Hdf5File::Hdf5File(std::int64_t id, const std::string& name, std::unique_ptr<AtomicFile> target)
    : id_(id), name_(target ? target->name() : name), target_(std::move(target)) {}

Hdf5File::Hdf5File(Hdf5File&& other) noexcept
    : id_(std::exchange(other.id_, -1)),
      name_(std::move(other.name_)),
      target_(std::move(other.target_)),
      may_leave_file_(other.may_leave_file_) {}

Hdf5File& Hdf5File::operator=(Hdf5File&& other) noexcept {
  std::swap(id_, other.id_);
  std::swap(name_, other.name_);
  std::swap(target_, other.target_);
  std::swap(may_leave_file_, other.may_leave_file_);
  return *this;
}

Hdf5File::~Hdf5File() {
  if (id_ < 0) return;
  const Silence silence;
  H5Fclose(id_);
}

Hdf5File Hdf5File::create(const std::string& name) {
  auto target = std::make_unique<AtomicFile>(name);
  const Silence silence;
  // HDF5 needs a name that no other open file has, and checks whether such a file is on the disk.
  const hid_t id = create_in_memory(fmt::format("headwater image {}", fmt::ptr(target.get())));
  if (id < 0) throw InputError(name + ": cannot be written as HDF5");
  return Hdf5File(id, name, std::move(target));
}

void Hdf5File::commit(std::string_view seal_title) {
  assert(target_ != nullptr);
  const Silence silence;
  const std::string image = file_image(id_, name_);
  if (!seal_title.empty()) target_->write(make_seal(seal_title, image));
  target_->write(image);
  target_->commit();
}

Hdf5File Hdf5File::open(const std::string& name, bool may_leave_file) {
  open_for_reading(name);  // its error says why a file cannot be opened
  const Silence silence;
  if (H5Fis_hdf5(name.c_str()) <= 0) throw InputError(name + ": is not an HDF5 file");
  // Files are replaced and never modified, so locks are not needed; some file systems have none.
  const Handle access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_file_locking(access.id(), false, true);
  const hid_t id = H5Fopen(name.c_str(), H5F_ACC_RDONLY, access.id());
  if (id < 0) throw InputError(name + ": is a damaged HDF5 file");
  Hdf5File file(id, name, nullptr);
  file.may_leave_file_ = may_leave_file;
  return file;
}

Hdf5Place Hdf5File::at(const std::string& path) const {
  return {id_, name_, path, may_leave_file_};
}

void Hdf5File::write(const std::string& path, const RowMatrix& matrix) {
  write_doubles(at(path), {matrix.rows(), matrix.cols()}, matrix.data());
}

void Hdf5File::write(const std::string& path, const Matrix& matrix) {
  write(path, RowMatrix(matrix));
}

void Hdf5File::write(const std::string& path, const Vector& vector) {
  write_doubles(at(path), {vector.size()}, vector.data());
}

void Hdf5File::write(const std::string& path, double number) {
  write_doubles(at(path), {}, &number);
}

void Hdf5File::write_int(const std::string& path, std::int64_t number) {
  write_dataset(at(path), H5T_STD_I64LE, H5T_NATIVE_INT64, {}, &number);
}

void Hdf5File::write(const std::string& path, std::string_view text) {
  const std::string copy = without_nul(text, at(path));
  const char* given = copy.c_str();
  const Handle type = hdf5_text_type();
  write_dataset(at(path), type.id(), type.id(), {}, &given);
}

void Hdf5File::write(const std::string& path, const std::vector<std::string>& texts) {
  std::vector<const char*> given;
  for (const std::string& text : texts) {
    if (text.find('\0') != text.npos) at(path).fail("a string with a NUL byte cannot be written");
    given.push_back(text.c_str());
  }
  const Handle type = hdf5_text_type();
  write_dataset(at(path), type.id(), type.id(), {static_cast<Index>(given.size())}, given.data());
}

void Hdf5File::write_bytes(const std::string& path, std::string_view bytes) {
  write_dataset(at(path), H5T_STD_U8LE, H5T_NATIVE_UINT8, {static_cast<Index>(bytes.size())},
                bytes.data());
}

bool Hdf5File::contains(const std::string& path) const {
  const Silence silence;
  return at(path).exists();
}

Matrix Hdf5File::read_matrix(const std::string& path) const {
  const Silence silence;
  return Stored::dataset(at(path)).read_matrix();
}

Matrix Hdf5File::read_array(const std::string& path) const {
  const Silence silence;
  return Stored::dataset(at(path)).read_array();
}

Vector Hdf5File::read_vector(const std::string& path) const {
  const Silence silence;
  return Stored::dataset(at(path)).read_vector();
}

double Hdf5File::read_double(const std::string& path) const {
  const Silence silence;
  return Stored::dataset(at(path)).read_double();
}

std::int64_t Hdf5File::read_int(const std::string& path) const {
  const Silence silence;
  return Stored::dataset(at(path)).read_int();
}

std::string Hdf5File::read_string(const std::string& path) const {
  const Silence silence;
  return Stored::dataset(at(path)).read_string();
}

std::vector<std::string> Hdf5File::read_strings(const std::string& path) const {
  const Silence silence;
  return Stored::dataset(at(path)).read_strings();
}

Hdf5Value Hdf5File::read_any(const std::string& path) const {
  const Silence silence;
  return Stored::dataset(at(path)).read_any();
}

Hdf5Rows Hdf5File::open_rows(const std::string& path) const { return Hdf5Rows(at(path)); }

std::vector<std::string> Hdf5File::children(const std::string& group) const {
  const Silence silence;
  const Place place = at(group);
  if (!place.exists()) place.fail("is missing");
  H5G_info_t info = {};
  place.check(H5Gget_info_by_name(id_, group.c_str(), &info, H5P_DEFAULT), "is not a group");
  std::vector<std::string> names;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    const auto copy_name = [&](char* to, std::size_t size) {
      return place.check(H5Lget_name_by_idx(id_, group.c_str(), H5_INDEX_NAME, H5_ITER_INC, i, to,
                                            size, H5P_DEFAULT),
                         "cannot be read");
    };
    std::string& name = names.emplace_back(copy_name(nullptr, 0), '\0');
    copy_name(name.data(), name.size() + 1);
  }
  return names;
}

std::vector<std::string> Hdf5File::datasets(std::size_t most) const {
  const Silence silence;
  std::vector<std::string> paths;
  add_datasets("/", 1, most, paths);
  return paths;
}

// Links may form cycles, so the depth is limited. In a damaged file a link may even have no name.
void Hdf5File::add_datasets(const std::string& group, int depth, std::size_t most,
                            std::vector<std::string>& paths) const {
  if (depth > kDeepestGroup) return;
  for (const std::string& child : children(group)) {
    if (paths.size() == most) return;
    const std::string path = group == "/" ? group + child : group + "/" + child;
    if (at(path).reach() != Place::Reach::inside) continue;
    const Handle object(H5Oopen(id_, path.c_str(), H5P_DEFAULT));
    const H5I_type_t kind = H5Iget_type(object.id());
    if (kind == H5I_DATASET) paths.push_back(path);
    if (kind == H5I_GROUP) add_datasets(path, depth + 1, most, paths);
  }
}

void Hdf5File::set_attribute(const std::string& path, const std::string& attribute,
                             std::string_view text) {
  const std::string copy = without_nul(text, at(path));
  const char* given = copy.c_str();
  const Handle type = hdf5_text_type();
  write_attribute(at(path), attribute, type.id(), type.id(), &given);
}

void Hdf5File::set_attribute(const std::string& path, const std::string& attribute,
                             std::int64_t number) {
  write_attribute(at(path), attribute, H5T_STD_I64LE, H5T_NATIVE_INT64, &number);
}

bool Hdf5File::has_attribute(const std::string& path, const std::string& attribute) const {
  const Silence silence;
  return at(path).exists() &&
         H5Aexists_by_name(id_, path.c_str(), attribute.c_str(), H5P_DEFAULT) > 0;
}

std::string Hdf5File::string_attribute(const std::string& path,
                                       const std::string& attribute) const {
  const Silence silence;
  return Stored::attribute(at(path), attribute).read_string();
}

std::int64_t Hdf5File::int_attribute(const std::string& path, const std::string& attribute) const {
  const Silence silence;
  return Stored::attribute(at(path), attribute).read_int();
}

std::vector<std::string> Hdf5File::attributes() const {
  const Silence silence;
  const Place place = at("/");
  H5O_info_t info = {};
  place.check(H5Oget_info(id_, &info), kCannotBeRead);
  std::vector<std::string> names;
  for (hsize_t i = 0; i < info.num_attrs; ++i) {
    const auto copy_name = [&](char* to, std::size_t size) {
      return place.check(
          H5Aget_name_by_idx(id_, "/", H5_INDEX_NAME, H5_ITER_INC, i, to, size, H5P_DEFAULT),
          kCannotBeRead);
    };
    std::string& name = names.emplace_back(copy_name(nullptr, 0), '\0');
    copy_name(name.data(), name.size() + 1);
  }
  return names;
}

Hdf5Value Hdf5File::read_any_attribute(const std::string& attribute) const {
  const Silence silence;
  return Stored::attribute(at("/"), attribute).read_any();
}

}  // namespace headwater
