// Internal to src/aws: what its files share of the Common Runtime. Other modules never include this.
//
// Runtime::Impl owns the libraries; Timers calls back when a request's time limit passes; small conversions.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <aws/auth/credentials.h>
#include <aws/common/byte_buf.h>
#include <aws/common/common.h>
#include <aws/common/error.h>
#include <aws/io/channel_bootstrap.h>
#include <aws/io/event_loop.h>
#include <aws/io/host_resolver.h>
#include <aws/io/tls_channel_handler.h>

#include "aws/credentials.hpp"
#include "aws/runtime.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"

namespace headroom::aws {

inline aws_byte_cursor cursor(std::string_view text) {
  return aws_byte_cursor_from_array(text.data(), text.size());
}
inline std::string_view view(aws_byte_cursor c) { return {reinterpret_cast<const char*>(c.ptr), c.len}; }
inline std::string crt_error_text(int code) {
  return std::string(aws_error_name(code)) + ": " + aws_error_str(code);
}

// One thread that calls a function when its time comes. Thread safe; a cancelled call may still be running.
class Timers {
 public:
  Timers();
  ~Timers();
  std::uint64_t at(base::SteadyTime when, std::function<void()> call);
  void cancel(std::uint64_t id);

 private:
  using Key = std::pair<base::SteadyTime, std::uint64_t>;
  void run(std::stop_token stop);
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::map<Key, std::function<void()>> calls_;
  std::map<std::uint64_t, base::SteadyTime> times_;
  std::uint64_t next_ = 1;
  std::jthread thread_;
};

struct Runtime::Impl {
  aws_allocator* allocator = nullptr;
  bool tracing = false;
  aws_event_loop_group* loops = nullptr;
  aws_host_resolver* resolver = nullptr;
  aws_client_bootstrap* bootstrap = nullptr;
  std::unique_ptr<Timers> timers;

  // Made on first use: 22 to 50 ms that a plain-http run need not pay. nullptr: the trust store cannot be
  // read.
  aws_tls_ctx* tls();
  std::size_t shut_down();

  // For what the Common Runtime did not let go of in time: keeps it until the process ends, and this runtime
  // with it, so that nobody waits for it and a late callback finds everything in place. Says `what` on
  // stderr.
  void abandon(std::shared_ptr<void> thing, const std::string& what);
  std::atomic<bool> abandoned{false};

 private:
  std::mutex tls_mutex_;
  aws_tls_ctx* tls_ = nullptr;
};

// Runs `work` on the first event loop, soon or at `when`.
void schedule_on_loop(Runtime::Impl& runtime, std::optional<base::SteadyTime> when,
                      std::function<void()> work);

struct Credentials::Handle {
  aws_credentials_provider* provider = nullptr;
};

}  // namespace headroom::aws
