// fork and exec, /proc, and cores.
#include "cloud/process.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/atomic_file.hpp"

namespace headroom::cloud {
namespace {

using base::ErrorCode;
using base::fail;

struct Prepared {
  std::vector<char*> arguments, environment;
  cpu_set_t cores;
  bool pinned = false;
};

Prepared prepare(const SpawnRequest& request) {
  Prepared out;
  out.arguments.push_back(const_cast<char*>(request.program.c_str()));
  for (const auto& argument : request.arguments) out.arguments.push_back(const_cast<char*>(argument.c_str()));
  out.arguments.push_back(nullptr);
  for (const auto& entry : request.environment) out.environment.push_back(const_cast<char*>(entry.c_str()));
  out.environment.push_back(nullptr);
  CPU_ZERO(&out.cores);
  for (const int core : request.cores) CPU_SET(static_cast<std::size_t>(core), &out.cores);
  out.pinned = !request.cores.empty();
  return out;
}

// Runs in the child between fork and exec: only calls that are safe there.
[[noreturn]] void become(const Prepared& prepared, int output, int null_input, pid_t parent) {
  setpgid(0, 0);  // a Ctrl-C on the terminal is for tts-local, which then drains its instances
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGCHLD}) signal(number, SIG_DFL);
  if (prepared.pinned) sched_setaffinity(0, sizeof prepared.cores, &prepared.cores);
  dup2(null_input, 0);
  dup2(output, 1);
  dup2(output, 2);
  syscall(SYS_close_range, 3U, ~0U, 0U);
  execve(prepared.arguments[0], prepared.arguments.data(), prepared.environment.data());
  constexpr char kMessage[] = "cannot execute the serving program\n";
  if (write(2, kMessage, sizeof kMessage - 1) < 0) _exit(126);
  _exit(127);
}

}  // namespace

base::Result<Child> spawn(const SpawnRequest& request) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return fail(ErrorCode::kIo, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  const int null_input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const Prepared prepared = prepare(request);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) become(prepared, ends[1], null_input, parent);
  const int error = errno;
  ::close(ends[1]);
  if (null_input >= 0) ::close(null_input);
  if (pid < 0) {
    ::close(ends[0]);
    return fail(ErrorCode::kIo, fmt::format("cannot start {}: {}", request.program, std::strerror(error)));
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Child{pid, process_start_ticks(pid).value_or(0), ends[0]};
}

std::optional<std::uint64_t> process_start_ticks(pid_t pid) {
  const auto text = base::read_file(fmt::format("/proc/{}/stat", pid), 4096);
  if (!text) return std::nullopt;
  // The name in parentheses may hold anything; fields are counted after its end. Start time is field 22.
  std::size_t at = text->rfind(')');
  if (at == std::string::npos) return std::nullopt;
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = text->find(' ', at + 1);
  if (at == std::string::npos) return std::nullopt;
  return std::strtoull(text->c_str() + at + 1, nullptr, 10);
}

bool kill_recorded(pid_t pid, std::uint64_t started) {
  if (pid <= 1) return false;
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (handle < 0) return false;
  // The handle names one process for good, so the check of the start time cannot go stale before the kill.
  const bool same = process_start_ticks(pid) == started;
  if (same) {
    syscall(SYS_pidfd_send_signal, handle, SIGKILL, nullptr, 0);
    for (int i = 0; i < 500 && process_start_ticks(pid) == started; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  ::close(handle);
  return same;
}

std::string describe_exit(int wait_status) {
  if (WIFSIGNALED(wait_status))
    return fmt::format("signal {} ({})", WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
  return fmt::format("exit status {}", WEXITSTATUS(wait_status));
}

base::Result<int> free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool ok = fd >= 0 && bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (!ok) return fail(ErrorCode::kIo, fmt::format("cannot find a free port: {}", std::strerror(error)));
  return ntohs(address.sin_port);
}

CorePool::CorePool() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(static_cast<std::size_t>(i), &cores)) free_.insert(i);
  }
}

std::vector<int> CorePool::take(int count) {
  std::vector<int> out;
  if (count < 1 || static_cast<std::size_t>(count) > free_.size()) return out;
  for (int i = 0; i < count; ++i) {
    out.push_back(*free_.rbegin());
    free_.erase(out.back());
  }
  return out;
}

void CorePool::give_back(const std::vector<int>& cores) { free_.insert(cores.begin(), cores.end()); }

}  // namespace headroom::cloud
