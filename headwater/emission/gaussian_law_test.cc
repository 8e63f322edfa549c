#include "headwater/reference/gaussian_law.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "headwater/conformance.hpp"
#include "headwater/emission.hpp"

// A plain class that is no Poisson law goes through the door, and one that is wrong does not.

namespace headwater {
namespace {

using reference::GaussianLaw;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

// The means that check_emission draws at begin at 0.4.
constexpr double kNoise = 0.05;

TEST(GaussianLaw, Conforms) {
  EXPECT_THAT(check_emission(GaussianLaw(kNoise)).findings, IsEmpty());
}

TEST(GaussianLaw, RefusesWhatIsNoNoise) {
  AnyLaw law = GaussianLaw(kNoise);
  EXPECT_THROW(law.set_parameter(scalar_parameter("spread", 1)), UsageError);
  for (const double value : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(law.set_parameter(scalar_parameter("noise", value)), UsageError) << value;
  }
  EXPECT_EQ(law.parameters()[0].value(0), kNoise);
}

// Of one cell with an exposure: derivatives are those in the intensity, not in the mean.
TEST(GaussianLaw, CellsKnowTheirExposure) {
  const AnyLaw law = GaussianLaw(0.5);
  const CellForces forces = law->cell_forces(0, 7, 2, 3);
  EXPECT_DOUBLE_EQ(forces.gain, 2 * 7 / 0.25);
  EXPECT_DOUBLE_EQ(forces.loss, 2 * 2 * 3 / 0.25);
}

// --- laws with one fault each --------------------------------------------------------------------

struct WithoutName : GaussianLaw {
  using GaussianLaw::GaussianLaw;
  std::string name() const { return ""; }
};
struct WrongGain : GaussianLaw {
  using GaussianLaw::GaussianLaw;
  double gain(Index, double y, double) const { return 1.01 * y / (noise_ * noise_); }
};
struct WrongLoss : GaussianLaw {
  using GaussianLaw::GaussianLaw;
  double loss(Index, double, double mean) const { return 0.5 * mean / (noise_ * noise_); }
};
struct NegativeGain : GaussianLaw {
  using GaussianLaw::GaussianLaw;
  double gain(Index, double y, double mean) const { return (y - 2 * mean) / (noise_ * noise_); }
  double loss(Index, double, double mean) const { return -mean / (noise_ * noise_); }
};
// The right difference of the smallest parts that are not negative: steps are far too long.
struct GreedySplit : GaussianLaw {
  using GaussianLaw::GaussianLaw;
  double gain(Index, double y, double mean) const {
    return 1 + std::max(y - mean, 0.0) / (noise_ * noise_);
  }
  double loss(Index, double y, double mean) const {
    return 1 + std::max(mean - y, 0.0) / (noise_ * noise_);
  }
};
struct WrongInformation : GaussianLaw {
  using GaussianLaw::GaussianLaw;
  double information(Index, double) const { return 1 / noise_; }
};
struct WrongVariance : GaussianLaw {
  using GaussianLaw::GaussianLaw;
  VarianceFunction variance(Index) const { return {.linear = 1}; }
};
struct DrawsTooMuch : GaussianLaw {
  using GaussianLaw::GaussianLaw;
  double draw(Index m, double mean, Generator& generator) const {
    return 0.01 + GaussianLaw::draw(m, mean, generator);
  }
};
struct DrawsTooWide : GaussianLaw {
  using GaussianLaw::GaussianLaw;
  double draw(Index, double mean, Generator& generator) const {
    return std::max(0.0, mean + 1.2 * noise_ * normal(generator));
  }
};
struct AcceptsAnyName : GaussianLaw {
  using GaussianLaw::GaussianLaw;
  void set_parameter(const Parameter& parameter) { noise_ = parameter.value(0); }
};
struct SetsTheSquare : GaussianLaw {
  using GaussianLaw::GaussianLaw;
  void set_parameter(const Parameter& parameter) {
    GaussianLaw::set_parameter(parameter);
    noise_ *= noise_;
  }
};
struct IgnoresHeld : GaussianLaw {
  using GaussianLaw::GaussianLaw;
  void maximise(std::span<const double> statistics, double n, const Held&) {
    GaussianLaw::maximise(statistics, n, {});
  }
};
struct ForgetsTheRoot : GaussianLaw {
  using GaussianLaw::GaussianLaw;
  void maximise(std::span<const double> s, double, const Held& held) {
    if (s[1] > 0 && !held.holds("noise")) noise_ = s[0] / s[1];
  }
};
struct DividesByNothing : GaussianLaw {
  using GaussianLaw::GaussianLaw;
  void maximise(std::span<const double> s, double, const Held& held) {
    if (!held.holds("noise")) noise_ = std::sqrt(s[0] / s[1]);
  }
};
struct CountsWithoutWeights : GaussianLaw {
  using GaussianLaw::GaussianLaw;
  void add_statistics(Index, double y, double mean, double, std::span<double> out) const {
    out[0] += (y - mean) * (y - mean);
    out[1] += 1;
  }
};
struct TakesSumsForMeans : GaussianLaw {
  using GaussianLaw::GaussianLaw;
  void maximise(std::span<const double> s, double, const Held& held) {
    if (s[1] > 0 && !held.holds("noise")) noise_ = std::sqrt(s[0]);
  }
};

template <class Law>
std::vector<std::string> findings_of() {
  return check_emission(Law(kNoise)).findings;
}

TEST(CheckEmission, NamesEachFault) {
  EXPECT_THAT(findings_of<WithoutName>(), Contains("the law has no name"));
  EXPECT_THAT(findings_of<WrongGain>(),
              Contains(AllOf(HasSubstr("gain - loss"), HasSubstr("derivative of log_density"))));
  EXPECT_THAT(findings_of<WrongLoss>(),
              Contains(AllOf(HasSubstr("gain - loss"), HasSubstr("derivative of log_density"))));
  EXPECT_THAT(findings_of<NegativeGain>(), Contains(HasSubstr("gain or loss")));
  EXPECT_THAT(findings_of<GreedySplit>(),
              Contains(HasSubstr("the update of the basis lowers the log-likelihood")));
  EXPECT_THAT(findings_of<WrongInformation>(), Contains(HasSubstr("the information of draws")));
  EXPECT_THAT(findings_of<WrongVariance>(), Contains(HasSubstr("the variance of draws")));
  EXPECT_THAT(findings_of<DrawsTooMuch>(), Contains(HasSubstr("the mean of draws")));
  EXPECT_THAT(findings_of<DrawsTooWide>(), Contains(HasSubstr("the variance of draws")));
  EXPECT_THAT(findings_of<AcceptsAnyName>(), Contains("an unknown parameter is not refused"));
  EXPECT_THAT(findings_of<SetsTheSquare>(), Contains("parameter 'noise' cannot be set back"));
  EXPECT_THAT(findings_of<IgnoresHeld>(),
              Contains("parameter 'noise' is held, and the M-step moves it"));
  EXPECT_THAT(findings_of<ForgetsTheRoot>(),
              Contains(HasSubstr("the M-step lowers the log-likelihood")));
  EXPECT_THAT(findings_of<DividesByNothing>(), Contains(HasSubstr("without any evidence")));
  EXPECT_THAT(findings_of<CountsWithoutWeights>(),
              Contains(HasSubstr("in proportion to the weight")));
  EXPECT_THAT(findings_of<TakesSumsForMeans>(),
              Contains(HasSubstr("all statistics are multiplied by the same number")));
}

// Each fault is found where it is, and nowhere else: what depends on it apart.
TEST(CheckEmission, FindsNothingElse) {
  EXPECT_EQ(findings_of<WithoutName>().size(), 1u);
  EXPECT_EQ(findings_of<AcceptsAnyName>().size(), 1u);
  EXPECT_EQ(findings_of<IgnoresHeld>().size(), 1u);
  EXPECT_EQ(findings_of<DividesByNothing>().size(), 1u);
  EXPECT_EQ(findings_of<CountsWithoutWeights>().size(), 1u);
}

}  // namespace
}  // namespace headwater
