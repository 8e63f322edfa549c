#include "headwater/session/quality.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "headwater/models/basis_selection.hpp"

namespace headwater {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Matrix three_columns() {
  Matrix basis(4, 3);
  basis << 5, 0, 1, 5, 1, 0, 0, 6, 1, 0, 2, 8;
  return basis;
}

Model model_of(const Matrix& basis) {
  const Estimate estimate{basis, AnyPrior(BasisSelection(basis.cols(), 0.9, 0.8))};
  return Model(estimate, estimate);
}

TEST(Quality, AGoodFitHasNoNotes) {
  Model model = model_of(three_columns());
  model.over_running_mean = {1, 0.1, 1000};
  model.observations_after_start = 1000;
  model.choice_of_components = {{2, -10, 0.5, false}, {3, -9, 0, true}, {4, -9.2, 0.1, false}};
  const std::vector<Model> others = {model_of(three_columns()(Eigen::all, {1, 2, 0})),
                                     model_of(2 * three_columns())};
  model.stability = stability_of(model, others);
  EXPECT_EQ(model.stability.restarts, 3);
  EXPECT_THAT(model.stability.found, ElementsAre(3, 3, 3));
  EXPECT_THAT(quality_notes(model, Gain{0.2, 0.1}), IsEmpty());
}

TEST(Quality, AComponentWithNextToNoCounts) {
  Matrix basis = three_columns();
  basis.col(1) *= 1e-4;
  EXPECT_THAT(quality_notes(model_of(basis)),
              ElementsAre("component 2 has next to no counts (less than 0.1 %): fewer --components "
                          "will do"));
  basis.col(2).setZero();
  EXPECT_THAT(quality_notes(model_of(basis)),
              ElementsAre(HasSubstr("components 2 and 3 have next to no counts")));
  // The background counts too.
  Model model = model_of(three_columns());
  model.background = true;
  model.reported.basis.conservativeResize(Eigen::NoChange, 4);
  model.reported.basis.col(3).setConstant(1e6);
  EXPECT_THAT(quality_notes(model), ElementsAre(HasSubstr("components 1, 2 and 3 have")));
}

TEST(Quality, ColumnsThatOtherSeedsDoNotFind) {
  Matrix other = three_columns();
  other.col(0) << 0, 5, 0, 5;
  Model model = model_of(three_columns());
  EXPECT_TRUE(stability_of(model, {}).empty());
  const std::vector<Model> one = {model_of(other)};
  model.stability = stability_of(model, one);
  EXPECT_THAT(model.stability.found, ElementsAre(1, 2, 2));
  EXPECT_THAT(
      quality_notes(model),
      ElementsAre("of the 1 other seeds, at most half find component 1 (by 0): do not rely on "
                  "it; try fewer --components or more data"));
  const std::vector<Model> three = {model_of(other), model_of(three_columns()),
                                    model_of(three_columns())};
  model.stability = stability_of(model, three);
  EXPECT_THAT(model.stability.found, ElementsAre(3, 4, 4));
  EXPECT_THAT(quality_notes(model), IsEmpty());  // two of three find it
}

TEST(Quality, AScoreThatFellWhenComponentsWereAdded) {
  Model model = model_of(three_columns());
  model.observations_after_start = 1000;
  model.choice_of_components = {{2, -10, 0.2, false}, {3, -9, 0, true}, {4, -9.9, 0.1, false}};
  EXPECT_THAT(quality_notes(model),
              ElementsAre(HasSubstr("4 components predict worse than 3, by 0.9 nats")));
  // What learning four more entries costs: log(20) / 20 of a nat each, at most.
  model.observations_after_start = 20;
  EXPECT_THAT(quality_notes(model), IsEmpty());
}

TEST(Quality, PredictionsThatAreWorseThanPlainOnes) {
  Model model = model_of(three_columns());
  model.over_running_mean = {-0.5, 0.1, 1000};
  EXPECT_THAT(quality_notes(model),
              ElementsAre(HasSubstr("predicts worse than the running mean of each channel, by 0.5 "
                                    "nats an observation (standard error 0.1)")));
  model.over_running_mean = {-0.5, 0.2, 1000};  // may be chance
  EXPECT_THAT(quality_notes(model), IsEmpty());
  model.over_running_mean = {-0.5, std::numeric_limits<double>::infinity(), 5};
  EXPECT_THAT(quality_notes(model), IsEmpty());
  EXPECT_THAT(quality_notes(model, Gain{-1, 0.1}),
              ElementsAre(HasSubstr("worse than the model that it continued, by 1 nats")));
}

}  // namespace
}  // namespace headwater
