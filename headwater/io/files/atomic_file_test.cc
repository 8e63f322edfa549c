#include "headwater/io/files/atomic_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "headwater/io/test_support.hpp"

namespace headwater {
namespace {

using Names = std::vector<std::string>;

mode_t mode_of(const std::string& name) {
  struct stat status = {};
  EXPECT_EQ(stat(name.c_str(), &status), 0);
  return status.st_mode & 0777;
}

class AtomicFileTest : public testing::Test {
 protected:
  void write_and_commit(std::string_view name, std::string_view text) const {
    AtomicFile file(folder_.path(name));
    file.write(text);
    file.commit();
  }
  std::string trouble_with(std::string_view name) const {
    return folder_.shorten(message_of([&] { AtomicFile(folder_.path(name)); }));
  }

  TestFolder folder_;
};

TEST_F(AtomicFileTest, AppearsOnlyWithCommit) {
  AtomicFile file(folder_.path("out.csv"));
  file.write("text");
  for (const std::string& name : folder_.list()) EXPECT_TRUE(name.starts_with(".out.csv."));
  file.commit();
  EXPECT_EQ(folder_.list(), Names({"out.csv"}));
  EXPECT_EQ(folder_.read("out.csv"), "text");
}

TEST_F(AtomicFileTest, LeavesNothingBehindWithoutCommit) {
  folder_.write("old.csv", "old");
  AtomicFile(folder_.path("old.csv")).write("new");
  AtomicFile(folder_.path("out.csv")).write("new");
  EXPECT_EQ(folder_.list(), Names({"old.csv"}));
  EXPECT_EQ(folder_.read("old.csv"), "old");
}

TEST_F(AtomicFileTest, ReplacesAFile) {
  folder_.write("out.csv", "something longer");
  write_and_commit("out.csv", "new");
  EXPECT_EQ(folder_.read("out.csv"), "new");
}

TEST_F(AtomicFileTest, OverwritesInTheMiddle) {
  AtomicFile file(folder_.path("out"));
  file.write("one two");
  file.overwrite(4, "2");
  file.write(" three");
  file.commit();
  EXPECT_EQ(folder_.read("out"), "one 2wo three");
}

TEST_F(AtomicFileTest, HonoursTheUmask) {
  const mode_t before = umask(027);
  write_and_commit("out.csv", "");
  umask(before);
  EXPECT_EQ(mode_of(folder_.path("out.csv")), 0640u);
}

TEST_F(AtomicFileTest, KeepsTheModeOfAnOlderFile) {
  chmod(folder_.write("out.csv", "").c_str(), 0600);
  write_and_commit("out.csv", "new");
  EXPECT_EQ(mode_of(folder_.path("out.csv")), 0600u);
}

TEST_F(AtomicFileTest, WritesThroughSymbolicLinks) {
  mkdir(folder_.path("elsewhere").c_str(), 0777);
  folder_.write("elsewhere/real", "old");
  ASSERT_EQ(symlink("elsewhere/second", folder_.path("first").c_str()), 0);
  ASSERT_EQ(symlink("real", folder_.path("elsewhere/second").c_str()), 0);
  write_and_commit("first", "new");
  EXPECT_EQ(folder_.read("elsewhere/real"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder_.path("first")));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_.path("elsewhere/second")));
}

TEST_F(AtomicFileTest, CreatesWhereADanglingLinkLeads) {
  ASSERT_EQ(symlink(folder_.path("real").c_str(), folder_.path("link").c_str()), 0);
  write_and_commit("link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder_.path("link")));
  EXPECT_EQ(folder_.read("real"), "new");
}

TEST_F(AtomicFileTest, FailsAtOnce) {
  EXPECT_EQ(trouble_with("no/such/folder/model.h5"),
            "no/such/folder/model.h5: cannot be written: No such file or directory");
  mkdir(folder_.path("taken").c_str(), 0777);
  EXPECT_EQ(trouble_with("taken"), "taken: cannot be written: Is a directory");
  EXPECT_EQ(trouble_with("new/"), "new/: cannot be written: Is a directory");
  folder_.write("file", "");
  EXPECT_EQ(trouble_with("file/model.h5"), "file/model.h5: cannot be written: Not a directory");
  ASSERT_EQ(symlink("loop", folder_.path("loop").c_str()), 0);
  EXPECT_EQ(trouble_with("loop"), "loop: cannot be written: Too many levels of symbolic links");
  EXPECT_EQ(message_of([] { AtomicFile(""); }), ": cannot be written: No such file or directory");
}

// Write protection does not stop root, so a test that runs as root changes to user nobody.
class AsNobody {
 public:
  AsNobody() : before_(geteuid()) {
    if (before_ == 0 && seteuid(kNobody) != 0) throw std::runtime_error("cannot become nobody");
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() {
    if (before_ == 0 && seteuid(0) != 0) std::abort();
  }

 private:
  static constexpr uid_t kNobody = 65534;
  uid_t before_;
};

TEST_F(AtomicFileTest, RespectsProtection) {
  chmod(folder_.path("").c_str(), 0777);
  const AsNobody nobody;
  chmod(folder_.write("protected", "old").c_str(), 0444);
  EXPECT_EQ(trouble_with("protected"), "protected: cannot be written: Permission denied");
  mkdir(folder_.path("closed").c_str(), 0555);
  EXPECT_EQ(trouble_with("closed/a"), "closed/a: cannot be written: Permission denied");
}

TEST_F(AtomicFileTest, TakesLongNames) {
  const std::string name(255, 'x');
  write_and_commit(name, "text");
  EXPECT_EQ(folder_.list(), Names({name}));
}

TEST_F(AtomicFileTest, WritesDevicesDirectly) {
  AtomicFile null("/dev/null");
  EXPECT_TRUE(null.is_direct());
  null.write("text");
  null.commit();
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  AtomicFile full("/dev/full");
  EXPECT_EQ(message_of([&] { full.write("text"); }),
            "/dev/full: cannot be written: No space left on device");
}

TEST_F(AtomicFileTest, WritesPipesDirectly) {
  const std::string name = folder_.path("pipe");
  ASSERT_EQ(mkfifo(name.c_str(), 0666), 0);
  std::string received;
  std::thread reader([&] { received = folder_.read("pipe"); });
  write_and_commit("pipe", "text");
  reader.join();
  EXPECT_EQ(received, "text");
  EXPECT_TRUE(std::filesystem::is_fifo(name));
}

TEST_F(AtomicFileTest, AppendsToOpenFiles) {
  const FileDescriptor open = open_for_reading(folder_.write("out", "old,"));
  const std::string number = std::to_string(open.number());
  for (const std::string& name : {"/dev/fd/" + number, "/proc/self/fd/" + number}) {
    AtomicFile file(name);
    EXPECT_TRUE(file.is_direct());
    file.write("new,");
    file.commit();
  }
  EXPECT_EQ(folder_.read("out"), "old,new,new,");
}

TEST_F(AtomicFileTest, ADashIsStandardOutput) {
  testing::internal::CaptureStdout();
  {
    AtomicFile file("-");
    EXPECT_EQ(file.name(), "standard output");
    file.write("text");
    file.commit();
  }
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "text");
}

}  // namespace
}  // namespace headwater
