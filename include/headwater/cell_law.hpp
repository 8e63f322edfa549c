#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <string>

#include "headwater/block_law.hpp"

// What a law of the counts can be asked. A law is a plain class; it offers what it can, and each
// rung of the ladder buys more:
//
//   rung           functions                                              buys
//   -------------  -----------------------------------------------------  ------------------------
//   CellLaw        name(), log_density(), gain(), loss(), information(),  every engine, simulation
//                  variance(), draw()
//   LearnableLaw   CellLaw + parameters(), set_parameter(),               learning parameters of
//                  num_statistics(), add_statistics(), maximise()         its own
//   BlockedLaw     CellLaw + in_blocks()                                  speed: kernels of its own
//
// A cell is one channel of one observation: its count y, and its mean mu = exposure lambda_m(x).
// `check_emission` in conformance.hpp tests that what a law offers is consistent;
// docs/adding_a_law.md shows how.

namespace headwater {

template <class L>
concept CellLaw = std::copyable<L> &&
    requires(const L& law, Index channel, double y, double mean, Generator& generator) {
  { law.name() } -> std::convertible_to<std::string>;
  // log p(y | mean), everything included; -infinity where mean = 0 makes the count impossible.
  { law.log_density(channel, y, mean) } -> std::convertible_to<double>;
  // The derivative of log_density in the mean is gain - loss; neither is negative. The basis is
  // learned by multiplying each entry by its gains over its losses, so the split decides how fast
  // and whether the likelihood always rises: gain = y / mean is right for every mixture of Poisson
  // laws.
  { law.gain(channel, y, mean) } -> std::convertible_to<double>;
  { law.loss(channel, y, mean) } -> std::convertible_to<double>;
  // The expectation of -d^2 log_density / d mean^2.
  { law.information(channel, mean) } -> std::convertible_to<double>;
  { law.variance(channel) } -> std::convertible_to<VarianceFunction>;
  { law.draw(channel, mean, generator) } -> std::convertible_to<double>;
};

template <class L>
concept LearnableLaw = CellLaw<L> &&
    requires(L& law, const L& fixed, const Parameter& parameter, Index n, double x,
             std::span<double> out, std::span<const double> s4, const Held& held) {
  { fixed.parameters() } -> std::same_as<Parameters>;
  // Throws UsageError for an unknown name or a value out of range.
  law.set_parameter(parameter);
  { fixed.num_statistics(n) } -> std::convertible_to<Index>;  // for n channels
  // out += x times what the M-step wants to know of one cell: channel n, count y, mean.
  fixed.add_statistics(n, x, x, x, out);
  // The M-step: the parameters that maximise the expected log-density, whose statistics are given
  // up to a common factor. What is held stays.
  law.maximise(s4, held);
};

template <class L>
concept BlockedLaw = CellLaw<L> && requires(const L& law) {
  { law.in_blocks() } -> std::convertible_to<std::unique_ptr<BlockLaw>>;
};

}  // namespace headwater
