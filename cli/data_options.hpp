#pragma once

#include <functional>
#include <memory>
#include <string>

#include "headwater/session/option_row.hpp"
#include "headwater/source.hpp"
#include "run_files.hpp"

// What an earlier fit has had of a pipe that goes on.
struct PipeBefore {
  bool had_rows = false;
  std::string unread;  // see ObservationSource::unread()
  headwater::SourceMemory memory = {};
};

// What happens at a row that cannot be read.
enum class BadRowPolicy { kFail, kSkip };

// DATA, --format, --header, --exposure and --on-bad-row, for all commands that read data; --follow
// for those that can wait for more.
struct DataOptions {
  std::string name;
  headwater::DataFormat format = headwater::DataFormat::by_name;
  headwater::HeaderRow header = headwater::HeaderRow::automatic;
  std::string index_column;
  std::string sequence_column;
  std::string time_column;
  std::int64_t max_gap = 1000;
  std::string exposure;
  BadRowPolicy on_bad_row = BadRowPolicy::kFail;
  bool follow = false;
  bool allow_external = false;

  static headwater::OptionTable<DataOptions> table();
  static headwater::OptionTable<DataOptions> table_with_follow();

  void add_to(RunFiles& files) const;
  bool is_pipe() const;  // or anything else that cannot be read again
  std::unique_ptr<headwater::ObservationSource> open(std::function<bool()> should_stop,
                                                     const PipeBefore& before) const;
};
