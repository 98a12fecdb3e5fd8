// KnownDelayServer: answers every POST after exactly known delays, and says when it did: the driver's
// yardstick.
//
// Speaks HTTP/1.1 with chunked answers of audible 16-bit PCM, one thread, on one event lane. First audio
// `first` after the request's last byte, then a chunk every `gap`. Each answer's x-request-id is
// "r<received_ns>-s<sent_ns>": steady time at which the request was whole and at which the first audio was
// handed to the kernel, so that a client on the same machine can compare its own stamps. Times are kept by
// the lane's timers; what a late timer adds is in the stamps. No TLS, no limits: it is for tests and
// `tts-bench selftest` on the loopback address only. Thread safety: stats() any thread. Errors of make():
// kIo (the port is taken), kResourceExhausted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace headroom::load {

struct KnownDelayOptions {
  std::uint16_t port = 0;  // 0: any
  base::Duration first = std::chrono::milliseconds{500};
  base::Duration gap = std::chrono::milliseconds{100};
  int chunks = 21;
  std::size_t chunk_bytes = 320;
  std::optional<int> core;
};

struct KnownDelayStats {
  std::uint64_t requests = 0;  // ended
  int outstanding = 0;         // received and not ended
  int most_outstanding = 0;
  double late_p50_ms = 0, late_p99_ms = 0;  // of the last 100,000: first audio behind its plan
  double cpu_s = 0;
};

class KnownDelayServer {
 public:
  static base::Result<std::unique_ptr<KnownDelayServer>> make(const KnownDelayOptions& options);
  ~KnownDelayServer();
  std::uint16_t port() const;
  KnownDelayStats stats() const;

  struct Impl;

 private:
  explicit KnownDelayServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

struct KnownTimes {
  base::SteadyTime received{}, sent{};
};
std::optional<KnownTimes> parse_known_times(std::string_view request_id);

}  // namespace headroom::load
