// Cores, process identity and the clean start of a child.
#include "cloud/process.hpp"

#include <cstdio>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace headroom::cloud {
namespace {

std::string run_to_end(const SpawnRequest& request, int& status) {
  fflush(nullptr);  // a sanitizer's _exit writes out what the child inherited unwritten
  const auto child = spawn(request);
  if (!child) return "not started";
  std::string out;
  char buffer[4096];
  while (true) {
    pollfd wait{child->output, POLLIN, 0};
    poll(&wait, 1, 5000);
    const auto got = read(child->output, buffer, sizeof buffer);
    if (got <= 0) break;
    out.append(buffer, static_cast<std::size_t>(got));
  }
  close(child->output);
  waitpid(child->pid, &status, 0);
  return out;
}

TEST(Spawn, PassesOnlyTheGivenEnvironmentAndDescriptors) {
  int status = 0;
  EXPECT_EQ(run_to_end({"/usr/bin/env", {}, {"TTS_ENGINE=paced"}, {}}, status), "TTS_ENGINE=paced\n");
  const int leak = dup2(1, 77);
  EXPECT_EQ(
      run_to_end({"/bin/sh", {"-c", "test -e /proc/$$/fd/77 && echo leaked; exit 3"}, {"PATH=/bin"}, {}},
                 status),
      "");
  close(leak);
  EXPECT_EQ(describe_exit(status), "exit status 3");
}

TEST(Spawn, SaysWhenAProgramCannotRun) {
  int status = 0;
  EXPECT_EQ(run_to_end({"/nonexistent", {}, {}, {}}, status), "cannot execute the serving program\n");
  EXPECT_EQ(describe_exit(status), "exit status 127");
}

TEST(KillRecorded, LeavesAnotherProcessOfThatNumberAlone) {
  const auto child = spawn({"/bin/sleep", {"30"}, {}, {}});
  ASSERT_TRUE(child);
  EXPECT_FALSE(kill_recorded(child->pid, child->started + 1));
  EXPECT_EQ(process_start_ticks(child->pid), child->started);
  kill(child->pid, SIGKILL);
  int status = 0;
  waitpid(child->pid, &status, 0);
  EXPECT_FALSE(kill_recorded(child->pid, child->started));
  EXPECT_EQ(describe_exit(status), "signal 9 (Killed)");
  close(child->output);
}

TEST(Cores, AreHandedOutFromTheTopWhileThereAreEnough) {
  CorePool pool({0, 1, 2});
  EXPECT_EQ(pool.take(2), (std::vector<int>{2, 1}));
  EXPECT_TRUE(pool.take(2).empty());
  EXPECT_EQ(pool.take(1), (std::vector<int>{0}));
  pool.give_back({2, 1});
  EXPECT_EQ(pool.take(2).size(), 2U);
}

}  // namespace
}  // namespace headroom::cloud
