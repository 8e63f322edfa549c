#include <gmock/gmock.h>

#include <cmath>
#include <mutex>
#include <optional>
#include <set>

#include "headwater/emission.hpp"
#include "headwater/emission/shared_rows.hpp"
#include "headwater/law_table.hpp"
#include "headwater/parallel/ranks.hpp"
#include "headwater/random.hpp"
#include "headwater/reducer.hpp"
#include "headwater/reference/thread_ranks.hpp"

namespace headwater {
namespace {

// Numbers of very different sizes, so that their sums depend on the order.
Vector uneven_numbers(Index size) {
  Generator generator = RandomStream(7).at(1, 0, Purpose::basis);
  Vector values(size);
  for (double& value : values) value = std::exp(30 * generator.uniform() - 15);
  return values;
}

std::vector<Index> every(Index step, Index num_channels, Index from = 0) {
  std::vector<Index> channels;
  for (Index m = from; m < num_channels; m += step) channels.push_back(m);
  return channels;
}

// The definition, block by block and level by level.
double tree_sum(const Vector& values, const std::vector<Index>& channels, Index num_channels) {
  std::vector<std::optional<double>> level;
  for (Index first = 0; first < num_channels; first += Reducer::kBlock) {
    std::optional<double> sum;
    for (const Index m : channels) {
      if (m / Reducer::kBlock == first / Reducer::kBlock) sum = sum.value_or(0) + values[m];
    }
    level.push_back(sum);
  }
  while (level.size() > 1) {
    std::vector<std::optional<double>> next;
    for (std::size_t i = 0; i < level.size(); i += 2) {
      std::optional<double> sum = level[i];
      if (i + 1 < level.size() && level[i + 1]) sum = sum ? *sum + *level[i + 1] : level[i + 1];
      next.push_back(sum);
    }
    level = next;
  }
  return level[0].value_or(0);
}

TEST(SharedSums, AreTheSameBitsForAnyNumberOfRanksAndAsDefined) {
  for (const Index num_channels : {Index{5000}, Index{20000}, Index{70001}}) {
    const Vector values = uneven_numbers(num_channels);
    const std::vector<std::vector<Index>> lists = {every(1, num_channels),
                                                   every(37, num_channels),
                                                   every(4096, num_channels, 100),
                                                   every(3, num_channels, num_channels / 2),
                                                   {num_channels - 1},
                                                   {}};
    for (const std::vector<Index>& channels : lists) {
      std::vector<Stretch> stretches;
      cut_into_stretches(channels, stretches);
      const double expected = tree_sum(values, channels, num_channels);
      const auto add = [&](const Stretch& s, std::span<double> to) {
        for (std::size_t j = s.first; j < s.first + s.size; ++j) to[0] += values[channels[j]];
      };
      double alone = 0;
      Reducer::sum(stretches, {&alone, 1}, add);
      EXPECT_EQ(alone, expected);
      for (const int size : {1, 2, 3, 4, 7, 16}) {
        std::mutex mutex;
        std::multiset<double> found;
        ThreadRanks(size).run([&](Ranks& ranks) {
          const SharedChannels shared(ranks, num_channels, Reducer::kBlock);
          double sum = 0;
          Reducer::shared_sum(stretches, {&sum, 1}, add);
          const std::lock_guard lock(mutex);
          found.insert(sum);
        });
        EXPECT_EQ(found.count(expected), static_cast<std::size_t>(size)) << size << " ranks";
      }
    }
  }
}

TEST(SharedSums, EachBlockIsAddedUpByOneRank) {
  const Index num_channels = 33000;
  const std::vector<Stretch> stretches = stretches_of_all(num_channels);
  for (const int size : {2, 3, 5, 8}) {
    std::mutex mutex;
    std::multiset<Index> blocks;
    std::vector<Index> most(1, 0);
    ThreadRanks(size).run([&](Ranks& ranks) {
      const SharedChannels shared(ranks, num_channels, Reducer::kBlock);
      double sum = 0;
      Index own = 0;
      Reducer::shared_sum(stretches, {&sum, 1}, [&](const Stretch& s, std::span<double>) {
        const std::lock_guard lock(mutex);
        blocks.insert(s.block);
        ++own;
      });
      const std::lock_guard lock(mutex);
      most[0] = std::max(most[0], own);
    });
    EXPECT_EQ(blocks.size(), stretches.size());
    for (const Stretch& stretch : stretches) EXPECT_EQ(blocks.count(stretch.block), 1u);
    // No rank has more than half a share too much.
    EXPECT_LE(most[0], 1.5 * static_cast<double>(stretches.size()) / size) << size << " ranks";
  }
}

// Where ranks keep their own rows: sums over rows, what goes on channel by channel, what one rank
// finds for all, and the rows themselves.
TEST(SharedSums, RanksThatKeepTheirOwnRowsFindTheSame) {
  const Index num_channels = 70001;
  const Matrix all = uneven_numbers(2 * num_channels).reshaped(num_channels, 2);
  const Vector sums = column_sums(all);
  const std::vector<Index> channels = every(11, num_channels, 5);
  double in_order = 1;
  for (const Index m : channels) in_order -= all(m, 0);
  std::vector<Stretch> of_one_block;
  cut_into_stretches(every(5000, 65000, 64000), of_one_block);
  ASSERT_EQ(of_one_block.size(), 1u);
  for (const int size : {2, 3, 5}) {
    ThreadRanks(size).run([&](Ranks& ranks) {
      SharedChannels shared(ranks, num_channels, Reducer::kBlock);
      shared.keep_own_rows();
      const KeptRows kept = kept_rows(num_channels);
      Matrix rows = all.middleRows(kept.first, kept.size);
      EXPECT_EQ(num_channels_of(kept.size), num_channels);
      EXPECT_EQ(column_sums(rows), sums);
      double total = 1;
      in_turn({&total, 1}, [&] {
        const Stretch part = kept_part(channels, num_channels);
        for (std::size_t j = part.first; j < part.first + part.size; ++j) {
          total -= rows(channels[j] - kept.first, 0);
        }
      });
      EXPECT_EQ(total, in_order);
      double found = 3;
      Reducer::shared_sum(of_one_block, {&found, 1}, [&](const Stretch&, std::span<double> to) {
        to[0] += rows(64000 - kept.first, 1);
      });
      EXPECT_EQ(found, 3 + all(64000, 1));
      shared.collect_rows(rows);
      if (ranks.rank() == 0) {
        EXPECT_EQ(rows, all);
      } else {
        EXPECT_EQ(rows.size(), 0);
      }
      shared.end();
      EXPECT_EQ(kept_rows(num_channels).size, num_channels);
    });
  }
}

TEST(SharedSums, RowsAndListsAreGathered) {
  const Index num_channels = 5000;
  const Matrix all = uneven_numbers(3 * num_channels).reshaped(num_channels, 3);
  const std::vector<Index> channels = every(11, num_channels, 5);
  const Vector list = all(channels, 0);
  std::mutex mutex;
  ThreadRanks(3).run([&](Ranks& ranks) {
    SharedChannels shared(ranks, num_channels, Reducer::kBlock);
    Matrix rows = Matrix::Zero(num_channels, 3);
    const Index first = shared.first_own();
    const Index size = shared.end_of_own() - first;
    rows.middleRows(first, size) = all.middleRows(first, size);
    shared.gather_rows(rows);
    Vector values = Vector::Zero(list.size());
    for (Index j = 0; j < list.size(); ++j) {
      if (channels[static_cast<std::size_t>(j)] - first < size &&
          channels[static_cast<std::size_t>(j)] >= first) {
        values[j] = list[j];
      }
    }
    shared.gather_list(channels, as_span(values));
    const std::lock_guard lock(mutex);
    EXPECT_EQ(rows, all);
    EXPECT_EQ(values, list);
  });
}

// Every law: likelihoods, slopes and statistics, with missing cells and exposures.
TEST(SharedSums, LawsGiveTheSameBits) {
  const Index num_channels = 5000;
  const Index columns = 3;
  Generator generator = RandomStream(3).at(1, 0, Purpose::basis);
  Matrix basis(num_channels, columns);
  for (double& value : basis.reshaped()) value = generator.uniform();
  basis.row(17).setZero();
  Matrix states(6, columns);
  for (double& value : states.reshaped()) value = generator.uniform();
  const Vector weights = Vector::Constant(states.rows(), 1.0 / 6);
  Vector counts(num_channels);
  for (double& count : counts) count = poisson(generator, 0.3);
  counts[17] = 0;
  std::vector<double> exposures(static_cast<std::size_t>(num_channels), 1);
  for (std::size_t m = 0; m < exposures.size(); m += 7) exposures[m] = m % 2 == 0 ? 0 : 0.5;
  for (const LawInfo& info : law_table()) {
    for (const bool is_exposed : {false, true}) {
      Observation y;
      y.assign(as_span(counts));
      if (is_exposed) y.set_exposures(exposures);
      struct Found {
        Vector likelihoods, by_states;
        PointForces forces;
        double settled = 0;
        Statistics sums{0, 0, 0};
      };
      const auto work = [&] {
        Found found;
        const AnyLaw law = info.make({.num_channels = num_channels});
        const Emission emission(basis, law);
        Evidence evidence;
        emission.look_at(y, evidence);
        evidence.gather_rows();
        found.likelihoods.resize(states.rows());
        evidence.log_likelihoods(states, as_span(found.likelihoods));
        const auto by_states = law->state_likelihoods(states);
        by_states->set_emission(emission);
        found.by_states.resize(states.rows());
        by_states->log_likelihoods(y, found.by_states);
        Vector x = Vector::Zero(emission.rows().stride());
        x.head(columns) = states.row(0).transpose();
        law->climb(evidence, emission.rows(), as_span(x), found.forces);
        found.settled = law->settle(evidence, emission.rows(), as_span(x), found.forces);
        found.sums = Statistics(num_channels, columns, 0, law->num_statistics(num_channels));
        SharedRows rows(found.sums);
        const auto sums = emission.sums();
        const Observation* const both[] = {&y, &y};
        sums->add(states, emission, Matrix(weights * Eigen::RowVector2d(0.25, 0.5)), both,
                  found.sums);
        sums->add_one(states, emission, weights, y, found.sums);
        rows.gather();
        return found;
      };
      const Found alone = work();
      for (const int size : {2, 3, 4}) {
        std::mutex mutex;
        ThreadRanks(size).run([&](Ranks& ranks) {
          const SharedChannels shared(ranks, num_channels, Reducer::kBlock);
          const Found found = work();
          const std::lock_guard lock(mutex);
          SCOPED_TRACE(info.name);
          EXPECT_EQ(found.likelihoods, alone.likelihoods);
          EXPECT_EQ(found.by_states, alone.by_states);
          EXPECT_EQ(found.forces.gains, alone.forces.gains);
          EXPECT_EQ(found.forces.gain_slopes, alone.forces.gain_slopes);
          EXPECT_EQ(found.forces.loss_slopes, alone.forces.loss_slopes);
          EXPECT_EQ(found.settled, alone.settled);
          EXPECT_EQ(found.sums.s1, alone.sums.s1);
          EXPECT_EQ(found.sums.s2, alone.sums.s2);
          EXPECT_EQ(found.sums.s4, alone.sums.s4);
          EXPECT_EQ(found.sums.unseen, alone.sums.unseen);
        });
      }
    }
  }
}

}  // namespace
}  // namespace headwater
