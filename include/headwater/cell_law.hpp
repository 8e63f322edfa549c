#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <string>

#include "headwater/block_law.hpp"

// The functions of a law of the counts. A law is a plain class that offers as many of these as it
// can; each concept enables more:
//
//   concept        functions                                              enables
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
  // log p(y | mean) with all constants; -infinity where mean = 0 makes the count impossible.
  { law.log_density(channel, y, mean) } -> std::convertible_to<double>;
  // The derivative of log_density in the mean is gain - loss; neither is negative. The M-step
  // multiplies each entry of the basis by the ratio of its summed gains to its summed losses. So
  // the split decides how fast the basis is learned, and whether each update raises the likelihood.
  // For every mixture of Poisson laws, gain = y / mean does.
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
  // out += weight times the sufficient statistics of one cell. Arguments: channel, count, mean,
  // weight, out.
  fixed.add_statistics(n, x, x, x, out);
  // The M-step: sets the parameters that maximise the expected log-density, given the statistics up
  // to a common factor. Held parameters do not change. The second argument is that factor: times
  // it, the statistics are sums over observations.
  law.maximise(s4, x, held);
};

template <class L>
concept BlockedLaw = CellLaw<L> && requires(const L& law) {
  { law.in_blocks() } -> std::convertible_to<std::unique_ptr<BlockLaw>>;
};

namespace detail {

// A class that is meant to be a law of the counts, complete or not.
template <class L>
concept IntendedLaw = CellLaw<L> || requires {
  &L::log_density;
} || requires {
  &L::draw;
};

// Reports each missing function in a message of its own; a failed concept would only list
// expressions.
template <class L>
consteval bool explain_missing_law_functions() {
  static_assert(
      requires(const L& l) { l.name(); }, "the law lacks a function: std::string name() const");
  static_assert(
      requires(const L& l) { l.log_density(Index(), 0.0, 0.0); },
      "the law lacks a function: double log_density(Index channel, double y, double mean) const");
  static_assert(
      requires(const L& l) { l.gain(Index(), 0.0, 0.0); },
      "the law lacks a function: double gain(Index channel, double y, double mean) const");
  static_assert(
      requires(const L& l) { l.loss(Index(), 0.0, 0.0); },
      "the law lacks a function: double loss(Index channel, double y, double mean) const");
  static_assert(
      requires(const L& l) { l.information(Index(), 0.0); },
      "the law lacks a function: double information(Index channel, double mean) const");
  static_assert(
      requires(const L& l) { l.variance(Index()); },
      "the law lacks a function: VarianceFunction variance(Index channel) const");
  static_assert(
      requires(const L& l, Generator& g) { l.draw(Index(), 0.0, g); },
      "the law lacks a function: double draw(Index channel, double mean, Generator& generator) "
      "const");
  constexpr bool kWantsToLearn = requires { &L::parameters; }
  || requires { &L::set_parameter; }
  || requires { &L::maximise; };
  if constexpr (kWantsToLearn) {
    static_assert(
        requires(const L& l) { l.parameters(); },
        "the law lacks a function: Parameters parameters() const");
    static_assert(
        requires(L & l, const Parameter& p) { l.set_parameter(p); },
        "the law lacks a function: void set_parameter(const Parameter& parameter)");
    static_assert(
        requires(const L& l) { l.num_statistics(Index()); },
        "the law lacks a function: Index num_statistics(Index num_channels) const");
    static_assert(
        requires(const L& l, std::span<double> s) { l.add_statistics(Index(), 0.0, 0.0, 0.0, s); },
        "the law lacks a function: void add_statistics(Index channel, double y, double mean, "
        "double weight, std::span<double> statistics) const");
    static_assert(
        requires(L & l, std::span<const double> s, const Held& h) { l.maximise(s, 1.0, h); },
        "the law lacks a function: void maximise(std::span<const double> statistics, double "
        "observations, const Held& held)");
  }
  // A function of the right name may still have the wrong types.
  static_assert(CellLaw<L>, "the law is no CellLaw");
  static_assert(LearnableLaw<L> || !kWantsToLearn, "the law is no LearnableLaw");
  static_assert(
      BlockedLaw<L> || !requires { &L::in_blocks; },
      "the law's in_blocks() const must return a std::unique_ptr<BlockLaw>");
  return true;
}

}  // namespace detail

}  // namespace headwater
