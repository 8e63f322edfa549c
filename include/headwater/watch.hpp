#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/export.hpp"
#include "headwater/p_value_ranks.hpp"
#include "headwater/ranks_by_level.hpp"
#include "headwater/surprise.hpp"

namespace headwater {

// How many false alarms are accepted: `alarms` in `rows` observations.
struct HEADWATER_EXPORT AlarmRate {
  double rows = 1000;
  double alarms = 1;

  // "ROWS:N", such as 1000:1; throws UsageError.
  static AlarmRate parse(std::string_view text);
  std::string text() const;
  double per_row() const { return alarms / rows; }
};

// The verdict of a watch on an observation.
struct Alarm {
  std::int64_t t = 0;
  bool is_alarm = false;
  // The probability of an observation as unusual, among those seen so far: what is compared with
  // the rate.
  double p = 1;
  double p_row = 1;
  double p_total = 1;
  double p_channels = 1;
  double expected_total = 0;
  double seen_total = 0;
  // Those of the smallest p. A channel that has fallen silent is among them with all rows of its
  // silence: how many these are, and how much was expected in them.
  struct Channel {
    CellSurprise cell;
    std::int64_t rows = 1;
  };
  std::vector<Channel> channels;
};

// Watches a stream: raises an alarm where an observation is so unusual that in a stream without
// anomalies such alarms come at the accepted rate.
//
// Four things may be unusual: the row, its total, some channel, and a channel that stays silent.
// The last is a matter of several rows: if S is the sum of -log P(no count) over the rows since a
// channel's last count, exp(-S) is the probability of such a silence. S is divided by what the
// channel has shown so far: the sum of -log P(no count) over all its rows without a count, over the
// number of rows with one. The p-values of the row, its total and its channels are ranked among
// those of earlier rows that had about the same expected total (RanksByLevel), and the one of the
// silence among all before it (PValueRanks). The four ranks make one joint p-value, to which each
// adds, the smallest most, and that is ranked again. A silence raises one alarm, not one for each
// of its rows; the rows that follow are then judged, and remembered, as if that channel were not
// there.
class HEADWATER_EXPORT Watch {
 public:
  explicit Watch(const AlarmRate& rate = {}) : rate_(rate) {}

  // Of observation t, the last one that the engine has processed.
  const Alarm& operator()(const Engine& engine, const Observation& y, std::int64_t t);

 private:
  struct Silence {
    double surprise = 0;  // S
    double expected = 0;
    std::int64_t rows = 0;
    bool is_told = false;
  };
  struct Habit {          // of a channel
    double surprise = 0;  // of all its rows without a count
    double rows_with_count = 0;
    // Of the surprise of its silences.
    double scale() const;
  };
  enum Kind { kRow, kTotal, kChannels, kSilence, kNumKinds };

  using PValues = std::array<double, kNumKinds>;
  struct Longest {  // silence, by its surprise: of all channels, and of those not told yet
    double of_all = 0;
    Index channel = 0;
    double of_new = 0;
    Index new_channel = 0;
  };
  struct Joint {
    double p = 1;
    Kind kind = kRow;
  };

  Longest take_in_silences(const Observation& y);
  Joint joint(const PValues& p, double level) const;
  void list_channels(const RowSurprise& row, Index quiet);

  AlarmRate rate_;
  SurpriseMeter meter_;
  std::vector<Silence> silences_;
  std::vector<Habit> habits_;
  std::array<RanksByLevel, kSilence> ranks_;
  PValueRanks silence_ranks_;
  PValueRanks joint_;
  Alarm alarm_;
};

}  // namespace headwater
