#pragma once

#include <memory>
#include <string>

#include "headwater/io/source.hpp"

namespace CLI {
class App;
}

// DATA and --format, for every command that reads data; --follow for one that can wait for more.
struct DataOptions {
  std::string name;
  std::string format = "auto";
  bool follow = false;

  void add_to(CLI::App& command);
  void add_follow_to(CLI::App& command);

  std::unique_ptr<headwater::ObservationSource> open() const;
};
