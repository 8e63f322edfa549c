#include "headwater/io/files/child_process.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "headwater/io/test_support.hpp"

namespace headwater {
namespace {

std::string output_of(ChildProcess& child) {
  const FileDescriptor output = child.take_output();
  std::string text(100, ' ');
  std::size_t length = 0;
  while (const std::size_t count = read_some(output, std::span(text).subspan(length), "output")) {
    length += count;
  }
  text.resize(length);
  return text;
}

TEST(ChildProcess, IsHeard) {
  ChildProcess child(
      {"/bin/sh", "-c", "echo \"$1\"; cat; echo nobody hears this >&2", "sh", "a b"});
  EXPECT_EQ(output_of(child), "a b\n");
  EXPECT_EQ(child.wait().signal, 0);
}

TEST(ChildProcess, SaysWhatEndedIt) {
  ChildProcess child({"/bin/sh", "-c", "echo a; kill -SEGV $$"});
  EXPECT_EQ(output_of(child), "a\n");
  EXPECT_EQ(child.wait().signal, SIGSEGV);
  EXPECT_EQ(child.wait().signal, SIGSEGV);  // a second wait() returns the same
  EXPECT_EQ(ChildProcess({"/bin/sh", "-c", "exit 3"}).wait().code, 3);
}

TEST(ChildProcess, DoesNotHearWhatIsSentToAll) {
  ChildProcess child({"/bin/sh", "-c", "kill -INT $$; kill -TERM $$; echo still here"});
  EXPECT_EQ(output_of(child), "still here\n");
}

TEST(ChildProcess, GoesWithItsOwner) {
  FileDescriptor output;
  {
    ChildProcess child({"/bin/sh", "-c", "exec sleep 1000"});
    output = child.take_output();
  }
  char byte = 0;
  EXPECT_EQ(read_some(output, {&byte, 1}, "output"), 0u);
}

TEST(ChildProcess, MayNotStart) {
  EXPECT_EQ(message_of([] { ChildProcess({"/nowhere/program"}); }),
            "/nowhere/program: cannot be started: No such file or directory");
}

}  // namespace
}  // namespace headwater
