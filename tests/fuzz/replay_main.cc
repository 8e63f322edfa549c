// A fuzzer without libFuzzer: runs every file of the corpora and COPIES damaged copies of each. The
// copies are the same in every run.
//
//   Usage: headwater_fuzz_replay COPIES CORPUS...

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <vector>

#include "fuzz.hpp"
#include "headwater/error.hpp"

namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Changes a few bytes, removes some, repeats some, or truncates the end.
std::string damaged(std::string bytes, std::mt19937_64& random) {
  const auto below = [&](std::size_t end) { return random() % std::max<std::size_t>(1, end); };
  for (std::size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
    const std::size_t at = below(bytes.size());
    const std::size_t count = 1 + below(8);
    switch (below(5)) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 2:
        bytes.erase(at, count);
        break;
      case 3:
        bytes.insert(at, bytes.substr(at, count));
        break;
      default:
        bytes.resize(at);
    }
  }
  return bytes;
}

// Whether the target accepts the bytes. Any exception other than Error ends the program.
bool accepts(const Target& target, const std::string& bytes) {
  try {
    target(bytes);
    return true;
  } catch (const headwater::Error&) {
    return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return EXIT_FAILURE;
  const long copies = std::atol(argv[1]);
  const std::vector<std::filesystem::path> corpora(argv + 2, argv + argc);
  bool all_there = true;
  for (const auto& [name, target] : targets()) {
    std::set<std::filesystem::path> files;
    for (const auto& corpus : corpora) {
      if (!std::filesystem::exists(corpus / name)) continue;
      for (const auto& entry : std::filesystem::directory_iterator(corpus / name)) {
        files.insert(entry.path());
      }
    }
    long tried = 0;
    long accepted = 0;
    std::mt19937_64 random(1);
    for (const auto& path : files) {
      const std::string bytes = read(path);
      accepted += accepts(target, bytes);
      ++tried;
      for (long i = 0; i < copies; ++i, ++tried)
        accepted += accepts(target, damaged(bytes, random));
    }
    fmt::print("{:10} {:3} files, {:6} inputs, {:6} accepted\n", name, files.size(), tried,
               accepted);
    std::fflush(stdout);
    all_there = all_there && accepted > 0;  // a corpus of errors only tests nothing
  }
  return all_there ? EXIT_SUCCESS : EXIT_FAILURE;
}
