// Child processes: start with a clean environment on chosen cores, read output, end for good.
//
// A child is its own process group, has only stdin (/dev/null), stdout and stderr (one pipe), and is killed
// by the kernel when the thread that started it ends: start children only from a thread that lives as long as
// they may. Errors: kIo. A program that cannot be executed says so on the pipe and exits with 127.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.hpp"

namespace headroom::cloud {

struct SpawnRequest {
  std::string program;                   // a path; not looked up in PATH
  std::vector<std::string> arguments;    // without the program itself
  std::vector<std::string> environment;  // NAME=value, nothing else is passed
  std::vector<int> cores;                // empty: wherever the system likes
};

struct Child {
  pid_t pid = 0;
  std::uint64_t started = 0;  // clock ticks after boot
  int output = -1;            // non-blocking read end
};

base::Result<Child> spawn(const SpawnRequest& request);
// Start time of a process in ticks after boot; nullopt when there is none.
std::optional<std::uint64_t> process_start_ticks(pid_t pid);
// Kills the process if pid and start time are the recorded ones and waits until it is gone. True if it was
// there.
bool kill_recorded(pid_t pid, std::uint64_t started);
std::string describe_exit(int wait_status);  // "exit status 1", "signal 9 (Killed)"
base::Result<int> free_port();

// Cores handed out to children, the highest first, so that core 0 stays for everything else the longest.
class CorePool {
 public:
  CorePool();  // the cores this process may use
  explicit CorePool(std::set<int> cores) : free_(std::move(cores)) {}
  std::vector<int> take(int count);  // empty when there are not enough
  void give_back(const std::vector<int>& cores);

 private:
  std::set<int> free_;
};

}  // namespace headroom::cloud
