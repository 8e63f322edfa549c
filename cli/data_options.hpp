#pragma once

#include <functional>
#include <memory>
#include <string>

#include "headwater/io/source.hpp"

namespace CLI {
class App;
}

// DATA, --format, --header, --exposure and --on-bad-row, for every command that reads data;
// --follow for one that can wait for more.
struct DataOptions {
  std::string name;
  std::string format = "auto";
  std::string header = "auto";
  std::string exposure;
  std::string on_bad_row = "fail";
  bool follow = false;

  void add_to(CLI::App& command);
  void add_follow_to(CLI::App& command);

  std::unique_ptr<headwater::ObservationSource> open(std::function<bool()> should_stop) const;
};
