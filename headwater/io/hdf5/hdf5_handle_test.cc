#include "headwater/io/hdf5/hdf5_handle.hpp"

#include <gtest/gtest.h>

#include "headwater/io/test_support.hpp"

namespace headwater {
namespace {

TEST(Hdf5Place, FailsInOneLine) {
  const Hdf5Place place = {-1, "model.h5", "/basis"};
  EXPECT_EQ(message_of([&] { place.fail("is missing"); }), "model.h5: /basis: is missing");
  EXPECT_EQ(message_of([&] { place.check(-1, "cannot be read"); }),
            "model.h5: /basis: cannot be read");
  EXPECT_EQ(place.check(3, "cannot be read"), 3);
}

TEST(Hdf5Silence, NothingIsPrinted) {
  testing::internal::CaptureStderr();
  {
    const Hdf5Silence silence;
    EXPECT_FALSE((Hdf5Place{-1, "model.h5", "/basis"}.exists()));
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Hdf5Silence, HoldsNoLongerThanItLives) {
  { const Hdf5Silence silence; }
  testing::internal::CaptureStderr();
  EXPECT_FALSE((Hdf5Place{-1, "model.h5", "/basis"}.exists()));
  EXPECT_NE(testing::internal::GetCapturedStderr(), "");
}

TEST(Hdf5Handle, MovesWhatItHolds) {
  Hdf5Handle first = hdf5_text_type();
  const std::int64_t id = first.id();
  EXPECT_GE(id, 0);
  const Hdf5Handle second = std::move(first);
  EXPECT_EQ(second.id(), id);
  EXPECT_EQ(first.id(), -1);
}

}  // namespace
}  // namespace headwater
