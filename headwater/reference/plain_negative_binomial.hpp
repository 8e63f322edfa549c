#pragma once

#include <string>
#include <utility>

#include "headwater/emission/negative_binomial.hpp"

namespace headwater::reference {

// The negative binomial law cell by cell, without its kernels and polynomials.
class PlainNegativeBinomial {
 public:
  explicit PlainNegativeBinomial(NegativeBinomial law) : law_(std::move(law)) {}

  std::string name() const { return "plain negative-binomial"; }
  double log_density(Index m, double y, double mean) const { return law_.log_density(m, y, mean); }
  double gain(Index m, double y, double mean) const { return law_.gain(m, y, mean); }
  double loss(Index m, double y, double mean) const { return law_.loss(m, y, mean); }
  double information(Index m, double mean) const { return law_.information(m, mean); }
  VarianceFunction variance(Index m) const { return law_.variance(m); }
  double draw(Index m, double mean, Generator& g) const { return law_.draw(m, mean, g); }

  Parameters parameters() const { return law_.parameters(); }
  void set_parameter(const Parameter& parameter) { law_.set_parameter(parameter); }
  Index num_statistics(Index num_channels) const { return law_.num_statistics(num_channels); }
  void add_statistics(Index m, double y, double mean, double weight, std::span<double> out) const {
    law_.add_statistics(m, y, mean, weight, out);
  }
  void maximise(std::span<const double> statistics, double observations, const Held& held,
                std::span<const double> mean_counts = {}) {
    law_.maximise(statistics, observations, held, mean_counts);
  }

 private:
  NegativeBinomial law_;
};

}  // namespace headwater::reference
