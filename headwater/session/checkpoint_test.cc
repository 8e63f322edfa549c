#include "headwater/session/checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "headwater/error.hpp"
#include "headwater/io/test_support.hpp"
#include "headwater/learning/automatic_start.hpp"
#include "headwater/learning/online_em.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/observation.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/session/trace.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

using testing::HasSubstr;

constexpr Index kLength = 400;

Matrix record() {
  return reference::simulate_record(AnyPrior(BasisSelection(2, 0.8, 0.7)), random_basis(4, 2, 6, 1),
                                    kLength, 2);
}

// Every prior and smoother has state of its own.
std::vector<Config> all_kinds() {
  std::vector<Config> kinds;
  const auto add = [&](const char* prior, SmootherKind smoother, bool paper_exact) {
    Config config;
    config.num_components = 2;
    config.prior.name = prior;
    config.init = Init::kRandom;
    config.smoother = smoother;
    config.paper_exact = paper_exact;
    config.engine.num_particles = 30;
    config.burn_in = 50;
    kinds.push_back(config);
  };
  add("basis-selection", SmootherKind::kLag, false);
  add("basis-selection", SmootherKind::kForward, false);
  add("basis-selection", SmootherKind::kAuto, true);
  add("finite", SmootherKind::kAuto, false);
  for (const char* prior : {"relaxed-selection", "log-gaussian", "gamma", "independent"}) {
    add(prior, SmootherKind::kLag, false);
  }
  add("relaxed-selection", SmootherKind::kPath, false);
  add("relaxed-selection", SmootherKind::kAuto, true);
  add("log-gaussian", SmootherKind::kParis, false);
  add("gamma", SmootherKind::kForward, false);
  kinds.back().background = true;
  add("basis-selection", SmootherKind::kAuto, false);
  kinds.back().engine.kind = EngineKind::kBeam;
  kinds.back().engine.beam_width = 3;
  add("basis-selection", SmootherKind::kLag, false);
  kinds.back().engine.kind = EngineKind::kParticle;
  for (const char* prior : {"log-gaussian", "gamma"}) {
    add(prior, SmootherKind::kAuto, false);
    kinds.back().engine.kind = EngineKind::kFast;
  }
  return kinds;
}

void feed(Restarts& restarts, Index first, Index last) {
  const Matrix y = record();
  std::vector<double> exposures(4, 1.5);
  std::vector<double> counts(4);
  for (Index t = first; t < last; ++t) {
    for (Index m = 0; m < 4; ++m) counts[m] = y(m, t);
    if (t % 7 == 0) counts[2] = std::numeric_limits<double>::quiet_NaN();
    restarts.update(t % 5 == 0 ? Observation(counts, exposures) : Observation(counts));
  }
}

// All bits of the state at the end.
std::string end_of(Restarts& restarts) {
  restarts.finish();
  return put_away(restarts);
}

TEST(Checkpoint, AFitThatWasPutAwayEndsInTheSameBits) {
  for (const Config& config : all_kinds()) {
    Restarts whole(config, 1);
    feed(whole, 0, kLength);
    const std::string expected = end_of(whole);
    // Before the start was chosen; at once after it; in the middle of a block.
    for (const Index cut : {60, 100, 237}) {
      Restarts first(config, 1);
      feed(first, 0, cut);
      const Checkpoint checkpoint{fit_options(first), {}, {}, put_away(first)};
      Restarts second(config, 1);
      take_up(checkpoint, "test", second);
      feed(second, cut, kLength);
      EXPECT_EQ(end_of(second), expected)
          << config.prior.name << " " << to_string(config.smoother) << " cut at " << cut;
    }
  }
}

// Bytes that a checksum cannot vouch for: a state that was damaged, or made, on purpose.
std::string damaged(std::string state, std::mt19937_64& random) {
  for (std::uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
    const std::size_t at = random() % state.size();
    switch (random() % 4) {
      case 0:  // another number in place of one of 8 bytes
        for (std::size_t i = 0; i < 8 && at + i < state.size(); ++i) {
          state[at + i] = static_cast<char>(random());
        }
        break;
      case 1:  // a number that is large, negative or infinite
        state[at] = static_cast<char>(random() % 2 == 0 ? 0x7f : 0xff);
        break;
      default:
        state[at] = static_cast<char>(state[at] ^ (1 << random() % 8));
    }
  }
  return state;
}

// Either the state is refused, or the fit goes on with it: nothing in between, such as an index
// that points to nothing.
TEST(Checkpoint, ADamagedStateIsRefusedOrUsable) {
  for (const Config& config : all_kinds()) {
    Restarts first(config, 1);
    feed(first, 0, 237);
    const std::string state = put_away(first);
    std::mt19937_64 random(1);
    int refused = 0;
    for (int copy = 0; copy < 60; ++copy) {
      Restarts second(config, 1);
      try {
        take_up({fit_options(second), {}, {}, damaged(state, random)}, "test", second);
        feed(second, 237, 300);
        second.finish();
      } catch (const Error&) {
        ++refused;
      }
    }
    EXPECT_GT(refused, 0) << config.prior.name;
  }
}

TEST(Checkpoint, SeveralFitsArePutAwayTogether) {
  Config config = all_kinds().front();
  Restarts whole(config, 3);
  feed(whole, 0, kLength);
  Restarts first(config, 3);
  feed(first, 0, 300);
  const Checkpoint checkpoint{fit_options(first), {}, {}, put_away(first)};
  Restarts second(config, 3);
  take_up(checkpoint, "test", second);
  feed(second, 300, kLength);
  EXPECT_EQ(end_of(second), end_of(whole));
}

class CheckpointFile : public testing::Test {
 protected:
  CheckpointFile() : restarts_(all_kinds().front(), 1) {
    feed(restarts_, 0, 200);
    checkpoint_ = {fit_options(restarts_), {}, {{"log.jsonl", 17, "a line"}},
                   put_away(restarts_),    3,  "1,2"};
    const Vector y = Vector::Ones(4);
    checkpoint_.seen.add(as_span(y));
    write_checkpoint(checkpoint_, name_);
  }

  std::string error_of_reading() const {
    try {
      read_checkpoint(name_);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }
  std::string bytes() const {
    std::ifstream file(name_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void rewrite(const std::string& bytes) const {
    std::ofstream(name_, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
  }

  TestFolder folder_;
  std::string name_ = folder_.path("fit.checkpoint");
  Restarts restarts_;
  Checkpoint checkpoint_;
};

TEST_F(CheckpointFile, IsReadAsItWasWritten) {
  const Checkpoint read = read_checkpoint(name_);
  EXPECT_EQ(read.options, checkpoint_.options);
  ASSERT_EQ(read.files.size(), checkpoint_.files.size());
  EXPECT_EQ(read.files[0].name, checkpoint_.files[0].name);
  EXPECT_EQ(read.files[0].length, checkpoint_.files[0].length);
  EXPECT_EQ(read.files[0].unwritten, checkpoint_.files[0].unwritten);
  EXPECT_EQ(read.sent, checkpoint_.sent);
  EXPECT_EQ(read.unread, checkpoint_.unread);
  EXPECT_EQ(read.seen, checkpoint_.seen);
  EXPECT_EQ(read.state, checkpoint_.state);
}

TEST_F(CheckpointFile, IsRefusedWhereverItIsCutOff) {
  const std::string whole = bytes();
  for (std::size_t size = 0; size < whole.size(); size += size < 100 ? 1 : 997) {
    rewrite(whole.substr(0, size));
    EXPECT_THAT(error_of_reading(),
                testing::AnyOf(HasSubstr("is truncated"), HasSubstr("is not a checkpoint")))
        << size;
  }
}

TEST_F(CheckpointFile, IsRefusedWithAnyBitChanged) {
  const std::string whole = bytes();
  for (std::size_t i = 0; i < whole.size(); i += i < 60 ? 1 : 1009) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ (1 << i % 8));
    rewrite(changed);
    EXPECT_NE(error_of_reading(), "no error") << i;
  }
}

TEST_F(CheckpointFile, SaysWhyItIsRefused) {
  std::string changed = bytes();
  changed.back() = static_cast<char>(changed.back() + 1);
  rewrite(changed);
  EXPECT_THAT(error_of_reading(), HasSubstr("is damaged: its checksum is wrong"));
  changed = bytes();
  changed[21] = 9;
  rewrite(changed);
  EXPECT_THAT(error_of_reading(),
              HasSubstr("is a checkpoint of format 9; this program reads format 7"));
  rewrite("t,x\n1,2\n");
  EXPECT_THAT(error_of_reading(), HasSubstr("is not a checkpoint of headwater"));
}

TEST_F(CheckpointFile, OfOtherOptionsIsRefusedByName) {
  const auto error_with = [&](const Config& config, Index restarts) {
    Restarts other(config, restarts);
    try {
      take_up(checkpoint_, "fit.checkpoint", other);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  Config config = all_kinds().front();
  EXPECT_EQ(error_with(config, 1), "no error");
  config.engine.num_threads = 2;  // changes no bit
  EXPECT_EQ(error_with(config, 1), "no error");
  config.seed = 5;
  EXPECT_EQ(error_with(config, 1),
            "fit.checkpoint: belongs to a fit with seed 1; this one has seed 5");
  config = all_kinds().front();
  config.burn_in = 51;
  EXPECT_EQ(error_with(config, 1),
            "fit.checkpoint: belongs to a fit with burn-in 50; this one has burn-in 51");
  EXPECT_EQ(error_with(all_kinds().front(), 2),
            "fit.checkpoint: belongs to a fit with restarts 1; this one has restarts 2");
  config = all_kinds().front();
  config.prior.parameters = {scalar_parameter("stay_on", 0.4)};
  EXPECT_THAT(error_with(config, 1), HasSubstr("no stay_on; this one has stay_on 0.4"));
}

TEST(StreamDigest, TellsStreamsApart) {
  const auto digest = [](const std::vector<std::vector<double>>& rows) {
    StreamDigest sum;
    for (const auto& row : rows) sum.add(row);
    return sum;
  };
  const double missing = std::numeric_limits<double>::quiet_NaN();
  const StreamDigest one = digest({{1, 2}, {3, missing}});
  EXPECT_EQ(one, digest({{1, 2}, {3, -missing}}));
  EXPECT_EQ(one.observations(), 2);
  EXPECT_NE(one, digest({{2, 1}, {3, missing}}));
  EXPECT_NE(one, digest({{1, 2}, {3, 0}}));
  EXPECT_NE(one, digest({{1, 2, 3, missing}}));
  EXPECT_NE(one, digest({{3, missing}, {1, 2}}));
}

}  // namespace
}  // namespace headwater
