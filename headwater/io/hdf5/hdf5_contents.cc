#include "headwater/io/hdf5/hdf5_contents.hpp"

#include <fmt/format.h>

#include <limits>

#include "headwater/error.hpp"
#include "headwater/io/hdf5/hdf5.hpp"

namespace headwater {
namespace {

constexpr std::size_t kMostDatasets = 10000;

[[noreturn]] void fail_at(const std::string& place, const std::string& what) {
  throw InputError(fmt::format("{}: {}", place, what));
}

Index num_cells(const Hdf5Value& value) {
  Index count = 1;
  for (const Index length : value.lengths) {
    if (length < 0 || __builtin_mul_overflow(count, length, &count)) return -1;
  }
  return count;
}

void expect_one(const Hdf5Value& value, const std::string& place) {
  if (num_cells(value) != 1) fail_at(place, "holds an array; expected a single value");
}

void expect_numbers(const Hdf5Value& value, const std::string& place) {
  if (value.kind != Hdf5Value::Kind::number) fail_at(place, "does not hold numbers");
}

std::int64_t whole_number(const Hdf5Value& value, const std::string& place) {
  if (value.kind != Hdf5Value::Kind::number || !value.is_whole) {
    fail_at(place, "does not hold a whole number");
  }
  expect_one(value, place);
  return value.whole;
}

std::string text_of(const Hdf5Value& value, const std::string& place) {
  if (value.kind != Hdf5Value::Kind::text) fail_at(place, "does not hold a string");
  expect_one(value, place);
  return value.texts[0];
}

}  // namespace

Hdf5Contents::Hdf5Contents(const Hdf5File& file) {
  for (const std::string& path : file.datasets(kMostDatasets)) {
    datasets_.emplace(path, file.read_any(path));
  }
  for (const std::string& name : file.attributes()) {
    attributes_.emplace(name, file.read_any_attribute(name));
  }
}

void Hdf5Contents::exchange(StateArchive& archive) {
  for (Values* values : {&datasets_, &attributes_}) {
    auto count = static_cast<Index>(values->size());
    archive.count(count);
    auto at = values->begin();
    for (Index i = 0; i < count; ++i) {
      std::string name = archive.is_reading() ? "" : at->first;
      archive(name);
      Hdf5Value& value = archive.is_reading() ? (*values)[name] : (at++)->second;
      archive(value);
      const std::size_t found =
          value.kind == Hdf5Value::Kind::number ? value.numbers.size() : value.texts.size();
      const bool fits =
          value.kind == Hdf5Value::Kind::other || num_cells(value) == static_cast<Index>(found);
      archive.expect(fits, "values that do not fit their shape");
    }
  }
}

bool Hdf5Contents::contains(const std::string& path) const {
  const auto found = datasets_.lower_bound(path);
  if (found == datasets_.end()) return false;
  return found->first == path || !children(path).empty();
}

const Hdf5Value& Hdf5Contents::dataset(const std::string& path) const {
  const auto found = datasets_.find(path);
  if (found == datasets_.end()) fail_at(path, "is missing");
  return found->second;
}

const Hdf5Value& Hdf5Contents::attribute(const std::string& name) const {
  const auto found = attributes_.find(name);
  if (found == attributes_.end()) fail_at("/", fmt::format("attribute '{}' is missing", name));
  return found->second;
}

Matrix Hdf5Contents::read_numbers(const std::string& path, std::size_t num_dimensions) const {
  const Hdf5Value& value = dataset(path);
  expect_numbers(value, path);
  const std::size_t found = value.lengths.size();
  if (found != num_dimensions) {
    fail_at(path, fmt::format("has {} dimension{}; expected {}", found, found == 1 ? "" : "s",
                              num_dimensions));
  }
  const Index rows = found > 0 ? value.lengths[0] : 1;
  const Index columns = found > 1 ? value.lengths[1] : 1;
  return Eigen::Map<const RowMatrix>(value.numbers.data(), rows, columns);
}

Matrix Hdf5Contents::read_matrix(const std::string& path) const { return read_numbers(path, 2); }

Matrix Hdf5Contents::read_array(const std::string& path) const {
  const std::size_t found = dataset(path).lengths.size();
  return read_numbers(path, found > 2 ? 2 : found);
}

Vector Hdf5Contents::read_vector(const std::string& path) const { return read_numbers(path, 1); }

double Hdf5Contents::read_double(const std::string& path) const {
  const Hdf5Value& value = dataset(path);
  expect_numbers(value, path);
  expect_one(value, path);
  return value.numbers[0];
}

std::int64_t Hdf5Contents::read_int(const std::string& path) const {
  return whole_number(dataset(path), path);
}

std::string Hdf5Contents::read_string(const std::string& path) const {
  return text_of(dataset(path), path);
}

std::vector<std::string> Hdf5Contents::read_strings(const std::string& path) const {
  const Hdf5Value& value = dataset(path);
  if (value.kind != Hdf5Value::Kind::text) fail_at(path, "does not hold strings");
  return value.texts;
}

std::string Hdf5Contents::read_bytes(const std::string& path) const {
  const Hdf5Value& value = dataset(path);
  expect_numbers(value, path);
  std::string bytes;
  bytes.reserve(value.numbers.size());
  for (const double number : value.numbers) {
    const bool is_byte = value.is_whole && number >= 0 && number <= 255;
    if (!is_byte) fail_at(path, "does not hold bytes");
    bytes.push_back(static_cast<char>(static_cast<unsigned char>(number)));
  }
  return bytes;
}

std::vector<std::string> Hdf5Contents::children(const std::string& group) const {
  const std::string begin = group + "/";
  std::vector<std::string> names;
  for (auto at = datasets_.lower_bound(begin); at != datasets_.end(); ++at) {
    if (!at->first.starts_with(begin)) break;
    const std::string name =
        at->first.substr(begin.size(), at->first.find('/', begin.size()) - begin.size());
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

std::string Hdf5Contents::string_attribute(const std::string& name) const {
  return text_of(attribute(name), fmt::format("/: attribute '{}'", name));
}

std::int64_t Hdf5Contents::int_attribute(const std::string& name) const {
  return whole_number(attribute(name), fmt::format("/: attribute '{}'", name));
}

}  // namespace headwater
