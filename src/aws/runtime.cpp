// Starts and stops the Common Runtime's libraries, in the order they need.
#include "aws/runtime.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <aws/auth/auth.h>
#include <aws/checksums/checksums.h>
#include <aws/common/allocator.h>
#include <aws/common/task_scheduler.h>
#include <aws/common/thread.h>
#include <aws/event-stream/event_stream.h>
#include <aws/http/http.h>
#include <aws/sdkutils/sdkutils.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "aws/crt.hpp"

#if defined(__SANITIZE_THREAD__)
// The libraries are not instrumented, so the sanitizer misses their atomic reference counts and takes the
// last holder's clean-up of a connection pool's mutex for a race with an earlier holder's unlock. Our own
// locks stay fully checked.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return "race:aws_mutex_clean_up\n"; }
#endif

namespace headroom::aws {
namespace {

constexpr std::uint64_t kJoinTimeoutNs = 10'000'000'000;

// Raises the soft limit as far as allowed and lets the kernel grow the table now, while there is one thread.
void grow_descriptor_table(std::size_t wanted) {
  if (wanted == 0) return;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  if (limit.rlim_cur < wanted) {
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, wanted);
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
  }
  const int highest = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, wanted)) - 1;
  const int source = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (source < 0) return;
  const int grown = fcntl(source, F_DUPFD_CLOEXEC, highest);
  if (grown >= 0) close(grown);
  close(source);
}

// Never destroyed: what is in it is still in use.
void keep_for_ever(std::shared_ptr<void> thing) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<std::shared_ptr<void>>;
  std::lock_guard lock(mutex);
  kept->push_back(std::move(thing));
}

}  // namespace

void schedule_on_loop(Runtime::Impl& runtime, std::optional<base::SteadyTime> when,
                      std::function<void()> work) {
  struct Task {
    aws_task task{};
    std::function<void()> work;
  };
  auto* mine = new Task;
  mine->work = std::move(work);
  const auto run = [](aws_task*, void* arg, aws_task_status status) {
    const std::unique_ptr<Task> task(static_cast<Task*>(arg));
    if (status == AWS_TASK_STATUS_RUN_READY) task->work();
  };
  aws_task_init(&mine->task, run, mine, "headroom");
  aws_event_loop* const loop = aws_event_loop_group_get_loop_at(runtime.loops, 0);
  if (!when) return aws_event_loop_schedule_task_now(loop, &mine->task);
  std::uint64_t now = 0;  // of the loop's own clock
  aws_event_loop_current_clock_time(loop, &now);
  const auto left = std::max<base::Duration>(*when - std::chrono::steady_clock::now(), base::Duration{});
  aws_event_loop_schedule_task_future(loop, &mine->task, now + static_cast<std::uint64_t>(left.count()));
}

Timers::Timers() : thread_([this](std::stop_token stop) { run(stop); }) {}

Timers::~Timers() {
  thread_.request_stop();
  wake_.notify_all();
}

std::uint64_t Timers::at(base::SteadyTime when, std::function<void()> call) {
  std::lock_guard lock(mutex_);
  const std::uint64_t id = next_++;
  const bool earliest = calls_.empty() || when < calls_.begin()->first.first;
  calls_.emplace(Key{when, id}, std::move(call));
  times_.emplace(id, when);
  if (earliest) wake_.notify_all();
  return id;
}

void Timers::cancel(std::uint64_t id) {
  std::function<void()> dropped;  // destroyed outside the lock
  std::lock_guard lock(mutex_);
  const auto time = times_.find(id);
  if (time == times_.end()) return;
  const auto call = calls_.find(Key{time->second, id});
  dropped = std::move(call->second);
  calls_.erase(call);
  times_.erase(time);
}

void Timers::run(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (calls_.empty()) {
      wake_.wait(lock, stop, [this] { return !calls_.empty(); });
      continue;
    }
    const base::SteadyTime next = calls_.begin()->first.first;
    if (std::chrono::steady_clock::now() < next) {
      wake_.wait_until(lock, stop, next,
                       [this, next] { return calls_.empty() || calls_.begin()->first.first < next; });
      continue;
    }
    const auto call = std::move(calls_.begin()->second);
    times_.erase(calls_.begin()->first.second);
    calls_.erase(calls_.begin());
    lock.unlock();
    call();
    lock.lock();
  }
}

aws_tls_ctx* Runtime::Impl::tls() {
  std::lock_guard lock(tls_mutex_);
  if (tls_ != nullptr) return tls_;
  aws_tls_ctx_options options;
  aws_tls_ctx_options_init_default_client(&options, allocator);
  bool good = true;
  for (const char* name : {"AWS_CA_BUNDLE", "SSL_CERT_FILE"}) {
    const char* file = std::getenv(name);
    if (file == nullptr || *file == '\0') continue;
    good =
        aws_tls_ctx_options_override_default_trust_store_from_path(&options, nullptr, file) == AWS_OP_SUCCESS;
    break;
  }
  if (good) tls_ = aws_tls_client_ctx_new(allocator, &options);
  aws_tls_ctx_options_clean_up(&options);
  return tls_;
}

std::size_t Runtime::Impl::shut_down() {
  timers.reset();
  if (tls_ != nullptr) aws_tls_ctx_release(tls_);
  aws_client_bootstrap_release(bootstrap);
  aws_host_resolver_release(resolver);
  aws_event_loop_group_release(loops);
  // A loop or resolver that something still holds would let the clean-up below wait for ever.
  aws_thread_set_managed_join_timeout_ns(kJoinTimeoutNs);
  const bool joined = aws_thread_join_all_managed() == AWS_OP_SUCCESS;
  std::size_t held = 0;
  if (joined) {
    aws_event_stream_library_clean_up();
    aws_auth_library_clean_up();  // http, io, sdkutils, cal and common with it
    aws_checksums_library_clean_up();
  }
  if (tracing) {
    held = aws_mem_tracer_bytes(allocator);
    if (joined) aws_mem_tracer_destroy(allocator);
  }
  return held;
}

void Runtime::Impl::abandon(std::shared_ptr<void> thing, const std::string& what) {
  abandoned = true;
  keep_for_ever(std::move(thing));
  std::fputs(("warning: " + what + "; left behind until the process ends\n").c_str(), stderr);
}

Runtime::Runtime(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Runtime::~Runtime() {
  if (!impl_) return;
  if (impl_->abandoned) {
    keep_for_ever(std::move(impl_));
  } else {
    impl_->shut_down();
  }
}

std::size_t Runtime::stop(std::unique_ptr<Runtime> runtime) {
  if (!runtime || runtime->impl_->abandoned) return 0;  // the destructor keeps what is still in use
  const std::size_t held = runtime->impl_->shut_down();
  runtime->impl_.reset();
  return held;
}

base::Result<std::unique_ptr<Runtime>> Runtime::start(const RuntimeOptions& options) {
  grow_descriptor_table(options.descriptors);
  auto impl = std::make_unique<Impl>();
  impl->tracing = options.trace_memory;
  impl->allocator = options.trace_memory
                        ? aws_mem_tracer_new(aws_default_allocator(), nullptr, AWS_MEMTRACE_BYTES, 0)
                        : aws_default_allocator();
  aws_checksums_library_init(impl->allocator);  // nobody else calls it, and its first use is a race
  aws_auth_library_init(impl->allocator);
  aws_event_stream_library_init(impl->allocator);

  aws_event_loop_group_options loop_options{};
  loop_options.loop_count = static_cast<std::uint16_t>(std::clamp<std::size_t>(options.loops, 1, 64));
  impl->loops = aws_event_loop_group_new(impl->allocator, &loop_options);
  if (impl->loops == nullptr) {
    return base::fail(base::ErrorCode::kInternal,
                      "the AWS event loops cannot start; check the process limits",
                      crt_error_text(aws_last_error()));
  }
  aws_host_resolver_default_options resolver_options{};
  resolver_options.max_entries = 16;
  resolver_options.el_group = impl->loops;
  impl->resolver = aws_host_resolver_new_default(impl->allocator, &resolver_options);
  aws_client_bootstrap_options bootstrap_options{};
  bootstrap_options.event_loop_group = impl->loops;
  bootstrap_options.host_resolver = impl->resolver;
  impl->bootstrap = aws_client_bootstrap_new(impl->allocator, &bootstrap_options);
  impl->timers = std::make_unique<Timers>();
  return std::unique_ptr<Runtime>(new Runtime(std::move(impl)));
}

}  // namespace headroom::aws
