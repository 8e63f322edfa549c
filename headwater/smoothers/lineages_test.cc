#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "headwater/models/relaxed_selection.hpp"
#include "headwater/reference/particle_runs.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"
#include "headwater/smoothers/lag_window.hpp"
#include "headwater/smoothers/particle_window.hpp"

namespace headwater {
namespace {

// A stream whose parameters change at every tenth step, as M-steps have it.
struct ChangingStream {
  explicit ChangingStream(ParticleFilterOptions options)
      : filter(prior, random_basis(4, 2, 3, 3), options, reference::threads(1)) {}

  const Observation& next() {
    if (t % 10 == 9) {
      filter.set_prior(AnyPrior(RelaxedSelection(2, t % 20 == 9 ? 0.8 : 0.9)));
      filter.set_basis(random_basis(4, 2, 3, static_cast<std::uint64_t>(t)));
    }
    y = as_span(record.col(t++));
    filter.step(y);
    return y;
  }
  bool is_over() const { return t == record.cols(); }

  AnyPrior prior{RelaxedSelection(2, 0.9)};
  Matrix record = reference::simulate_record(prior, random_basis(4, 2, 3, 3), 150, 5);
  ParticleFilter filter;
  Observation y;
  Index t = 0;
};

class LineagesByThreshold : public testing::TestWithParam<double> {
 protected:
  ParticleFilterOptions options() const { return {70, Resampling::kSystematic, GetParam(), 1}; }
};
INSTANTIATE_TEST_SUITE_P(Lineages, LineagesByThreshold, testing::Values(0, 0.5, 1));

// Against lists of all ancestors, followed back from the newest step.
TEST_P(LineagesByThreshold, KeepTheParticlesThatHaveDescendants) {
  ChangingStream stream(options());
  Lineages lineages;
  Lineages::Steps steps;
  std::vector<Matrix> states;
  std::vector<Ancestors> ancestors;
  while (!stream.is_over()) {
    lineages.remember(steps, stream.filter, stream.next(), 0.1);
    states.push_back(stream.filter.states());
    ancestors.push_back(stream.filter.ancestors());
    if (stream.t % 7 != 0) continue;
    lineages.prune(steps);
    ASSERT_EQ(steps.size(), stream.t);
    std::set<std::int32_t> alive;
    for (std::int32_t i = 0; i < 70; ++i) alive.insert(i);
    for (Index s = steps.size() - 1; s > 0; --s) {
      const std::vector<std::int32_t> rows(alive.begin(), alive.end());
      EXPECT_EQ(Matrix(states_of(steps, s, stream.filter)), states[s](rows, Eigen::all));
      std::set<std::int32_t> before;
      for (const std::int32_t i : alive) before.insert(ancestors[s][i]);
      const std::vector<std::int32_t> list(before.begin(), before.end());
      ASSERT_EQ(static_cast<Index>(steps[s].parents.size()), steps[s].count);
      for (std::size_t i = 0; i < rows.size() && s > 1; ++i) {
        EXPECT_EQ(list[steps[s].parents[i]], ancestors[s][rows[i]]);
      }
      alive = before;
    }
  }
}

// The sweep over all particles is the definition.
TEST_P(LineagesByThreshold, LagIsTheSweepOverAllParticlesToTheLastBit) {
  for (const Index lag : {1, 5, 40}) {
    for (const Index block : {0, 1, 7, 64}) {
      for (const bool with_moves : {false, true}) {
        ChangingStream stream(options());
        WindowOptions window;
        window.block = block;
        LagWindow fast(stream.filter, lag, window, with_moves);
        ParticleWindow plain(stream.filter, std::make_unique<GenealogyKernel>(), lag, window,
                             with_moves);
        const auto expect_same = [&] {
          EXPECT_EQ(fast.statistics().s1, plain.statistics().s1);
          EXPECT_EQ(fast.statistics().s2, plain.statistics().s2);
          EXPECT_EQ(fast.statistics().s3, plain.statistics().s3);
        };
        while (!stream.is_over()) {
          const Observation& y = stream.next();
          const bool is_new = fast.advance(stream.filter, y, 0.1);
          EXPECT_EQ(plain.advance(stream.filter, y, 0.1), is_new);
          if (is_new) expect_same();
        }
        EXPECT_EQ(fast.finish(stream.filter), plain.finish(stream.filter));
        expect_same();
        EXPECT_GT(fast.statistics().s2.sum(), 0);
      }
    }
  }
}

}  // namespace
}  // namespace headwater
