#include "headwater/io/hdf5/hdf5_child.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "headwater/io/hdf5/hdf5.hpp"
#include "headwater/io/hdf5/hdf5_source.hpp"
#include "headwater/io/test_support.hpp"

// Shell scripts replace the reader process here. tests/command/test_inputs.py gives damaged files
// to the real one.
namespace headwater {
namespace {

class Hdf5ChildTest : public testing::Test {
 protected:
  Hdf5ChildTest() {
    Hdf5File file = Hdf5File::create(folder_.path("a.h5"));
    RowMatrix counts(3, 2);
    counts << 1, 2, 3, 4, 5, 6;
    file.write("/counts", counts);
    file.commit();
  }

  // The bytes that the child sends for a dataset of a.h5.
  std::string sent(const std::string& path) const {
    const std::string name = folder_.write("sent", "");
    answer_hdf5_request({"rows", folder_.path("a.h5"), path},
                        FileDescriptor(open(name.c_str(), O_WRONLY)));
    return folder_.read("sent");
  }

  std::unique_ptr<Hdf5Blocks> hear(const std::string& script,
                                   std::function<bool()> should_stop = {}) const {
    return receive_hdf5_blocks({"/bin/sh", "-c", script}, {folder_.path("a.h5"), "/counts"},
                               std::move(should_stop));
  }

  // A child that writes `bytes` and then runs `then`.
  std::unique_ptr<Hdf5Blocks> hear(std::string_view bytes, const std::string& then,
                                   std::function<bool()> should_stop = {}) const {
    return hear("cat " + folder_.write("said", bytes) + "; " + then, std::move(should_stop));
  }

  std::string trouble(std::string_view bytes, const std::string& then) const {
    return folder_.shorten(message_of([&] { read_all(*hear(bytes, then)); }));
  }

  static std::vector<double> read_all(Hdf5Blocks& blocks) {
    std::vector<double> all;
    std::vector<double> block;
    for (blocks.read(block); !block.empty(); blocks.read(block)) {
      all.insert(all.end(), block.begin(), block.end());
    }
    return all;
  }

  TestFolder folder_;
};

TEST_F(Hdf5ChildTest, HandsOnWhatIsSent) {
  const auto blocks = hear(sent("/counts"), "exit 0");
  EXPECT_EQ(blocks->num_rows(), 3);
  EXPECT_EQ(blocks->num_columns(), 2);
  EXPECT_EQ(read_all(*blocks), std::vector<double>({1, 2, 3, 4, 5, 6}));
}

TEST_F(Hdf5ChildTest, HandsOnWhatIsWrong) {
  EXPECT_EQ(trouble(sent("/x"), "exit 0"), "a.h5: /x: is missing; the file has /counts");
}

TEST_F(Hdf5ChildTest, SurvivesACrash) {
  const std::string whole = sent("/counts");
  for (std::size_t length = 0; length < whole.size(); length += 4) {
    EXPECT_EQ(trouble(whole.substr(0, length), "kill -SEGV $$"),
              "a.h5: is a damaged HDF5 file: reading it crashed");
  }
  EXPECT_EQ(trouble("", "kill -PROF $$"), "a.h5: is a damaged HDF5 file: reading it did not end");
  EXPECT_EQ(trouble("", "kill -KILL $$"), "a.h5: the process that read it was killed by signal 9");
  EXPECT_EQ(trouble("", "exit 3"), "a.h5: the process that read it ended with exit code 3");
}

TEST_F(Hdf5ChildTest, FailsAgainWhenItIsAskedAgain) {
  Hdf5Source source({folder_.path("a.h5"), "/counts"},
                    hear(sent("/counts").substr(0, 40), "exit 3"));
  std::vector<double> values;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(folder_.shorten(message_of([&] { source.next(values); })),
              "a.h5: the process that read it ended with exit code 3");
  }
}

// Without checks, impossible sizes would make the parent wait forever or exhaust its memory.
TEST_F(Hdf5ChildTest, DoesNotTrustTheChild) {
  const auto numbers = [](std::initializer_list<std::int64_t> list) {
    return std::string(reinterpret_cast<const char*>(list.begin()), 8 * list.size());
  };
  const std::int64_t huge = std::int64_t{1} << 60;
  for (const std::string& nonsense :
       {numbers({-2}), numbers({3, -5}), numbers({3, 2, -4}), numbers({-1, huge}),
        numbers({-1, -1}),
        // After an archive of 8 bytes, a list of no names.
        numbers({3, 2, 0, 8, 0, 7}), numbers({3, 2, 0, 8, 0, 8}), numbers({3, 2, 0, 8, 0, 0}),
        numbers({huge, 2, 0, 8, 0, huge}), numbers({3, 0, 0, 8, 0, 1}),
        // Archives of names that are none: of a size that cannot be, and of one name for two
        // columns.
        numbers({3, 2, 0, -8}), numbers({3, 2, 0, huge}), numbers({3, 2, 0, 16, huge, 0}),
        numbers({3, 2, 0, 16, 1, 0}), numbers({3, 2, 0, 0})}) {
    EXPECT_EQ(trouble(nonsense, "exec sleep 1000"),
              "a.h5: is a damaged HDF5 file: reading it crashed");
  }
}

TEST_F(Hdf5ChildTest, StopsWhileItIsOpened) {
  const std::string message = message_of([&] { hear("", "exec sleep 1000", [] { return true; }); });
  EXPECT_EQ(folder_.shorten(message), "a.h5: stopped while it was opened");
}

TEST_F(Hdf5ChildTest, StopsWhenItIsAskedTo) {
  bool stop = false;
  const auto blocks = hear(sent("/counts").substr(0, 40), "exec sleep 1000", [&] { return stop; });
  stop = true;
  EXPECT_EQ(read_all(*blocks), std::vector<double>());
}

}  // namespace
}  // namespace headwater
