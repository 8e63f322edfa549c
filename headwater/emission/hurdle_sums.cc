#include "headwater/emission/hurdle_sums.hpp"

#include "headwater/emission.hpp"
#include "headwater/emission/hurdle_blocks.hpp"
#include "headwater/kernels/elementary.hpp"
#include "headwater/kernels/share_sums.hpp"

namespace headwater {

namespace {

const HurdleBlocks& hurdle_of(const Emission& emission) {
  return static_cast<const HurdleBlocks&>(*emission.law());
}

bool counts_are_fully_exposed(const Observation& y) {
  bool all = true;
  if (y.exposed().empty()) return all;
  for_each_count(y, [&](std::size_t, double exposure) { all = all && exposure == 1; });
  return all;
}

}  // namespace

void HurdleSums::add(const Matrix& states, const Emission& emission,
                     const Eigen::Ref<const Matrix>& weights,
                     std::span<const Observation* const> observations, Statistics& out) {
  if (!emission.law()->has_plain_losses()) {
    EmissionSums::add(states, emission, weights, observations, out);
    return;
  }
  means_.noalias() = states.transpose() * weights;
  out.s1 += means_.rowwise().sum();
  plain_.clear();
  for (std::size_t t = 0; t < observations.size(); ++t) {
    const auto column = static_cast<Index>(t);
    const Observation& y = *observations[t];
    add_unexposed(y, means_.col(column), out);
    const bool is_plain = counts_are_fully_exposed(y);
    plain_.push_back(is_plain ? &y : nullptr);
    if (!is_plain) add_counts_of_one(states, emission, weights.col(column), y, out);
  }
  add_block_counts(states, emission, weights, out);
}

void HurdleSums::add_block_counts(const Matrix& states, const Emission& emission,
                                  const Eigen::Ref<const Matrix>& weights, Statistics& out) {
  const Matrix& basis = emission.basis();
  masses_.sort(plain_, emission.num_channels(), CountMasses::Of::kPresence);
  masses_.for_each(states, basis, weights,
                   [&](Index m, const auto& tile, auto& mass, const auto& intensity) {
                     silences_ = -intensity;
                     presences_.resize(silences_.size());
                     vector_one_minus_exp(as_span(silences_), as_span(presences_));
                     // A state of zero intensity cannot have given a count.
                     mass = (presences_.array() > 0).select(mass.array() / presences_.array(), 0.0);
                     for (Index k = 0; k < tile.cols(); ++k) {
                       out.s2(m, k) += basis(m, k) * tile.col(k).dot(mass);
                     }
                   });
  if (out.s4.size() == 0) return;
  for (std::size_t t = 0; t < plain_.size(); ++t) {
    if (plain_[t] == nullptr) continue;
    const double weight = weights.col(static_cast<Index>(t)).sum();
    for (std::size_t j = 0; j < plain_[t]->channels().size(); ++j) {
      emission.law()->add_statistics(plain_[t]->channels()[j], plain_[t]->counts()[j], 1, 1, weight,
                                     as_span(out.s4));
    }
  }
}

void HurdleSums::add_counts_of_one(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                                   const Eigen::Ref<const Vector>& weights, const Observation& y,
                                   Statistics& out) {
  const HurdleBlocks& law = hurdle_of(emission);
  const bool has_losses = !law.has_plain_losses();
  if (has_losses) add_silent_losses(states, emission, weights, y, out);
  const double weight = weights.sum();
  silences_.resize(states.rows());
  presences_.resize(states.rows());
  const Stretch own = own_part(y.channels());
  for_each_count(y, [&](std::size_t j, double exposure) {
    const Index m = y.channels()[j];
    const double phi = law.dispersion(y, m);
    if (out.s4.size() > 0) {
      law.add_statistics(m, y.counts()[j], exposure, 1, weight, as_span(out.s4));
    }
    if (j - own.first >= own.size) return;
    const std::span<const double> row(emission.rows().row(m),
                                      static_cast<std::size_t>(emission.num_columns()));
    log_silences(states, row, exposure, phi, as_span(silences_));
    vector_one_minus_exp(as_span(silences_), as_span(presences_));
    shares_ = (presences_.array() > 0).select(exposure * weights.array() / presences_.array(), 0.0);
    out.s2.row(m) +=
        (states.transpose() * shares_).transpose().cwiseProduct(emission.basis().row(m));
    if (has_losses) {
      // The loss is exposure (1 - s / (1 + z)) / (1 - s); the shares have exposure w / (1 - s).
      const double scale = phi * exposure;
      silences_ = silences_.array().exp() /
                  (1 + scale * (states * emission.basis().row(m).transpose()).array());
      shares_ = weights.array() - shares_.array() * (1 - silences_.array());
      out.unseen.row(m) += (states.transpose() * shares_).transpose();
    }
  });
}

// With L for sum_i w_i x_i / (1 + z_i), the loss of a cell is exposure L where that of the Poisson
// law is exposure sum_i w_i x_i.
void HurdleSums::add_silent_losses(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                                   const Eigen::Ref<const Vector>& weights, const Observation& y,
                                   Statistics& out) {
  const HurdleBlocks& law = hurdle_of(emission);
  const Index columns = emission.num_columns();
  if (out.unseen.size() == 0) out.unseen.setZero(out.s2.rows(), out.s2.cols());
  mean_.noalias() = states.transpose() * weights;
  for (std::size_t j = 0; j < y.exposed().size(); ++j) {
    if (y.exposures()[j] == 0) out.unseen.row(y.exposed()[j]) += mean_.transpose();
  }
  channels_.clear();
  for (auto* list : {&exposures_, &scales_, &rows_}) list->clear();
  const Stretch rows = own_rows(emission.num_channels());
  for_each_seen(y, [&](Index m, double count, double exposure) {
    if (count > 0 || static_cast<std::size_t>(m) - rows.first >= rows.size) return;
    channels_.push_back(m);
    exposures_.push_back(exposure);
    scales_.push_back(law.dispersion(y, m) * exposure);
    const double* row = emission.rows().row(m);
    rows_.insert(rows_.end(), row, row + columns);
  });
  losses_.assign(rows_.size(), 0);
  add_softened_shares(states, as_span(weights), {rows_, scales_}, losses_);
  for (std::size_t j = 0; j < channels_.size(); ++j) {
    const Eigen::Map<const Vector> own(losses_.data() + static_cast<Index>(j) * columns, columns);
    out.unseen.row(channels_[j]) += (mean_ - exposures_[j] * own).transpose();
  }
}

}  // namespace headwater
