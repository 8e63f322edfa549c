#include "headwater/learning/round_sums.hpp"

#include <algorithm>
#include <cmath>

#include "headwater/core/state_checks.hpp"

namespace headwater {

namespace {

// The number of the first, where `before` observations come before those of the second.
std::int64_t first_of(std::int64_t first, std::int64_t before, std::int64_t second) {
  if (first > 0) return first;
  return second > 0 ? before + second : 0;
}

void exchange_report(StateArchive& archive, ParticleReport& report) {
  archive(report.effective_size, report.resampled, report.guided, report.bridge_stages,
          report.unique_ancestors);
}
void exchange_report(StateArchive& archive, BeamReport& report) {
  archive(report.effective_size, report.num_states, report.lost_mass);
}
void exchange_report(StateArchive& archive, FastReport& report) { archive(report.effective_size); }
void exchange_report(StateArchive&, std::monostate&) {}

}  // namespace

void SequenceRow::exchange(StateArchive& archive) {
  auto kind = static_cast<std::int32_t>(filter.of_filter.index());
  archive(filter.log_predictive, filter.impossible, kind, activation, is_outlier);
  if (archive.is_reading()) {
    switch (kind) {
      case 1:
        filter.of_filter = ParticleReport();
        break;
      case 2:
        filter.of_filter = BeamReport();
        break;
      case 3:
        filter.of_filter = FastReport();
        break;
      default:
        archive.expect(kind == 0, "a report of no filter");
        filter.of_filter = std::monostate();
    }
  }
  std::visit([&](auto& report) { exchange_report(archive, report); }, filter.of_filter);
}

void RoundSums::News::exchange(StateArchive& archive) {
  archive(observations, impossible, first_impossible, log_likelihood, health);
  archive.expect(is_count(observations) && is_count(impossible) && is_count(first_impossible) &&
                     std::isfinite(log_likelihood),
                 "invalid sums of a round");
}

void RoundSums::set_means(const Statistics& means, std::int64_t num_observations) {
  statistics = means;
  statistics.discount(static_cast<double>(num_observations));
  statistics.observations = num_observations;
  statistics.squared_weights = 0;
  for (PhaseSums& phases : statistics.phases) {
    phases.counts *= phases.visits.asDiagonal();
    phases.expected *= phases.visits.asDiagonal();
  }
}

bool RoundSums::fits(const RoundSums& other) const {
  const Statistics& a = statistics;
  const Statistics& b = other.statistics;
  const auto same_phases = [](const PhaseSums& p, const PhaseSums& q) {
    return p.counts.rows() == q.counts.rows() && p.counts.cols() == q.counts.cols();
  };
  return a.s2.rows() == b.s2.rows() && a.s2.cols() == b.s2.cols() && a.s3.size() == b.s3.size() &&
         a.s4.size() == b.s4.size() && std::ranges::equal(a.phases, b.phases, same_phases);
}

void RoundSums::add(const RoundSums& next) {
  statistics.add_sums(next.statistics, 1);
  statistics.observations += next.statistics.observations;
  for (std::size_t i = 0; i < statistics.phases.size(); ++i) {
    statistics.phases[i].counts += next.statistics.phases[i].counts;
    statistics.phases[i].expected += next.statistics.phases[i].expected;
    statistics.phases[i].visits += next.statistics.phases[i].visits;
  }
  first_outlier = first_of(first_outlier, observations, next.first_outlier);
  sequences += next.sequences;
  observations += next.observations;
  impossible += next.impossible;
  outliers += next.outliers;
  log_likelihood += next.log_likelihood;
  lost_mass += next.lost_mass;
  guard.merge(next.guard);
  news.first_impossible =
      first_of(news.first_impossible, news.observations, next.news.first_impossible);
  news.observations += next.news.observations;
  news.impossible += next.news.impossible;
  news.log_likelihood += next.news.log_likelihood;
  news.health.merge(next.news.health);
  rows.insert(rows.end(), next.rows.begin(), next.rows.end());
}

void RoundSums::enter(double weight, Statistics& averages) const {
  const auto count = static_cast<double>(observations);
  averages.discount(1 - weight);
  averages.add_sums(statistics, weight / count);
  averages.observations += observations;
  averages.squared_weights += weight * weight / count;
  for (std::size_t i = 0; i < averages.phases.size(); ++i) {
    const PhaseSums& sums = statistics.phases[i];
    for (Index p = 0; p < sums.visits.size(); ++p) {
      if (!(sums.visits[p] > 0)) continue;
      averages.phases[i].visit(p, static_cast<Index>(sums.visits[p]),
                               sums.counts.col(p) / sums.visits[p],
                               sums.expected.col(p) / sums.visits[p]);
    }
  }
}

void RoundSums::exchange(StateArchive& archive) {
  Statistics& s = statistics;
  auto num_phases = static_cast<Index>(s.phases.size());
  archive(s.s1, s.unseen, s.s2, s.s3, s.s4, s.observations);
  archive.count(num_phases);
  s.phases.resize(static_cast<std::size_t>(num_phases));
  archive(s.phases, sequences, observations, impossible, outliers, first_outlier, log_likelihood,
          lost_mass, guard, news, rows);
  if (!archive.is_reading()) return;
  const bool are_sums = std::ranges::all_of(s.sums(), [](std::span<const double> sum) {
    return Eigen::Map<const Vector>(sum.data(), static_cast<Index>(sum.size())).allFinite();
  });
  const std::int64_t counts[] = {s.observations, sequences, observations,
                                 impossible,     outliers,  first_outlier};
  archive.expect(are_sums && s.s1.size() == s.s2.cols() && std::ranges::all_of(counts, is_count) &&
                     std::isfinite(log_likelihood) && std::isfinite(lost_mass) &&
                     (s.unseen.size() == 0 ||
                      (s.unseen.rows() == s.s2.rows() && s.unseen.cols() == s.s2.cols())),
                 "invalid sums of a round");
}

}  // namespace headwater
