#pragma once

#include <functional>
#include <memory>
#include <string>

#include "headwater/io/source.hpp"
#include "headwater/session/option_row.hpp"

// DATA, --format, --exposure and --on-bad-row, for all commands that read data; --follow for those
// that can wait for more.
struct DataOptions {
  std::string name;
  headwater::DataFormat format = headwater::DataFormat::by_name;
  std::string exposure;
  std::string on_bad_row = "fail";
  bool follow = false;

  static headwater::OptionTable<DataOptions> table();
  static headwater::OptionTable<DataOptions> table_with_follow();

  std::unique_ptr<headwater::ObservationSource> open(std::function<bool()> should_stop) const;
};
