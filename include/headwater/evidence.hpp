#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <vector>

#include "headwater/channels.hpp"
#include "headwater/clone_pointer.hpp"
#include "headwater/export.hpp"
#include "headwater/observation.hpp"
#include "headwater/reducer.hpp"

namespace headwater {

class BlockLaw;

// Slope and curvature of the terms f_j (see Evidence), one number for each listed channel.
struct Forces {
  std::vector<double> gains;       // f_j'(lambda_j) = gain_j - loss_j, neither negative
  std::vector<double> losses;      // empty where all are zero
  std::vector<double> curvatures;  // in place of -f_j''(lambda_j), and never negative
};

// The same at one activation, with the sums over the listed channels (see BlockLaw::climb).
struct PointForces : Forces {
  std::vector<double> gain_slopes;  // sum_j gain_j B(m_j, k); padded as the basis is
  std::vector<double> loss_slopes;  // ... of the losses; empty where all are zero
};

// Intermediate results that a law computes once for each observation and uses again later.
class HEADWATER_EXPORT LawNotes {
 public:
  virtual ~LawNotes();
  virtual std::unique_ptr<LawNotes> clone() const = 0;
};

// What a law computes once for each basis. Shared by all who have the same basis and law.
class HEADWATER_EXPORT BasisNotes {
 public:
  virtual ~BasisNotes();
};

// The log-likelihood of one observation as a function of the activations x, for one basis and one
// law of the counts:
//   log p(y | x) = base measure + sum over listed channels j of f_j(lambda_j(x)) - total' x
//                  + rest(x),
//   lambda_j(x) = sum_k B(m_j, k) x_k.
// The law chooses which channels are listed: those whose term is not linear in lambda. The terms
// that are linear, for instance those of channels without a count, are summed up in `total`. Where
// very many terms are nearly linear, a law may sum up what is not linear in the rest, which is
// small. The rest is part of log-likelihoods at activations, of climb() and settle(). It is no part
// of value(), forces(), and log-likelihoods for another basis: those guide proposals and searches.
//
// An Evidence that is filled for one observation after another keeps its memory and soon allocates
// no more.
class HEADWATER_EXPORT Evidence {
 public:
  bool any() const { return any_; }                                 // whether a channel was seen
  std::span<const Index> channels() const { return channels_; }     // that are listed, ascending
  std::span<const double> counts() const { return counts_; }        // theirs
  std::span<const double> exposures() const { return exposures_; }  // empty where all are 1
  std::span<const Stretch> stretches() const { return stretches_; }
  const Vector& total() const { return total_; }  // K
  // J x K: the rows of the basis that belong to the listed channels. They are gathered when first
  // asked for; gather_rows() does so before threads ask.
  Eigen::Map<const RowMatrix> rows() const;
  void gather_rows() const;
  const Observation& observation() const { return *observation_; }
  const BlockLaw& law() const { return *law_; }
  const PaddedRows& basis() const { return *basis_; }
  const BasisNotes* basis_notes() const { return basis_notes_.get(); }  // null where there are none

  // log p(y | x_i) without the base measure, for activations x_i in the rows of a block. A count
  // under zero intensity gives -infinity; exactly 0 where nothing was seen. Needs
  // gather_rows().
  void log_likelihoods(const Eigen::Ref<const Matrix>& activations, std::span<double> out) const;
  // The same for another basis: rows (J x L, row by row) and total (L) in place of the evidence's.
  void log_likelihoods(const Eigen::Ref<const Matrix>& activations, std::span<const double> rows,
                       const Vector& total, std::span<double> out) const;

  // sum_j f_j(lambda_j) for given intensities of the listed channels, all positive.
  double value(std::span<const double> intensities) const;
  void forces(std::span<const double> intensities, Forces& out) const;

  // By Emission, before a law fills the rest.
  void set_basis_notes(std::shared_ptr<const BasisNotes> notes) { basis_notes_ = std::move(notes); }

  // For laws to fill. -----------------------------------------------------------------------------
  void begin(const BlockLaw& law, const Observation& y, const PaddedRows& basis);
  void list(Index channel, double count) {
    channels_.push_back(channel);
    counts_.push_back(count);
  }
  void list(Index channel, double count, double exposure) {
    list(channel, count);
    exposures_.push_back(exposure);
  }
  Vector& mutable_total() { return total_; }
  void finish() { cut_into_stretches(channels_, stretches_); }
  // The law's notes, to be overwritten: the object of an earlier observation, or a new one.
  template <std::derived_from<LawNotes> Notes>
  Notes& mutable_notes() {
    if (dynamic_cast<Notes*>(notes_.get()) == nullptr) notes_ = std::make_unique<Notes>();
    return static_cast<Notes&>(*notes_);
  }
  const LawNotes& notes() const { return *notes_; }  // needs mutable_notes() before

 private:
  const BlockLaw* law_ = nullptr;
  const Observation* observation_ = nullptr;
  const PaddedRows* basis_ = nullptr;
  bool any_ = false;
  std::vector<Index> channels_;
  std::vector<double> counts_;
  std::vector<double> exposures_;
  std::vector<Stretch> stretches_;
  Vector total_;
  ClonePointer<LawNotes> notes_;
  std::shared_ptr<const BasisNotes> basis_notes_;
  mutable std::vector<double> rows_;
  mutable bool has_rows_ = false;
};

}  // namespace headwater
