#include "headwater/learning/initialise.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "headwater/models/gamma_prior.hpp"
#include "headwater/random.hpp"

namespace headwater {
namespace {

// From lists of counts and from a dense record, of which some cells are missing or have exposures.
TEST(RandomStart, OfAViewIsThatOfItsRates) {
  const Index channels = 40;
  Generator generator = RandomStream(3).at(1, 0, Purpose::basis);
  Matrix counts(channels, 25);
  Matrix exposures = Matrix::Ones(channels, 25);
  for (Index i = 0; i < counts.size(); ++i) {
    counts.data()[i] = poisson(generator, 0.7);
    const double which = generator.uniform();
    if (which < 0.1) counts.data()[i] = std::numeric_limits<double>::quiet_NaN();
    if (which > 0.8) exposures.data()[i] = 0.5 + which;
    if (which > 0.97) exposures.data()[i] = 0;
  }
  const Record record(counts, exposures);
  const RecordView view(record);
  const AnyPrior prior(GammaPrior(3, 1, 0.9));
  EXPECT_EQ(random_start(view, prior, 7), random_start(view.rates(), prior, 7));
  EXPECT_EQ(background_start(view), background_start(view.rates()));
}

}  // namespace
}  // namespace headwater
