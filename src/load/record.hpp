// Record, Sample: what the load driver knows of one request, and of itself every 100 ms.
//
// Plain values. Times are steady; a time that never came is nullopt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aws/invoke.hpp"
#include "base/clock.hpp"

namespace headroom::load {

using aws::Outcome;

struct Chunk {
  base::Duration after_start{};
  std::uint32_t bytes = 0;
};

struct Record {
  std::uint64_t index = 0;     // which utterance
  base::SteadyTime planned{};  // when it should have started: the slot came free, or the open loop's schedule
  base::SteadyTime start{};
  bool open_loop = false;     // latencies count from the planned start
  base::Duration cap_wait{};  // open loop: waited because the most outstanding were
  std::optional<base::SteadyTime> connected;
  std::optional<base::SteadyTime> first_byte;     // TTFAB = first_byte - start (closed) or - planned (open)
  std::optional<base::SteadyTime> first_audible;  // chunk with the first sample above -50 dBFS
  base::SteadyTime end{};
  std::vector<Chunk> chunks;
  std::uint64_t bytes = 0;
  double audio_s = 0;
  int underruns = 0;  // pauses of a player that starts with 200 ms in its buffer
  double underrun_s = 0;
  Outcome outcome = Outcome::kFailed;
  int status = 0;
  std::string error;
  std::string server_request_id;

  base::SteadyTime from() const { return open_loop ? planned : start; }
  base::Duration ttfab() const { return *first_byte - from(); }  // only where first_byte is set
  // How late the driver itself was.
  base::Duration lag() const { return start - planned - cap_wait; }
};

struct Sample {
  base::SteadyTime at{};
  int in_flight = 0;  // started and not ended
  int waiting = 0;    // slots that wait after a refusal or failure before they try again
  int asked = 0;      // N, or as many of it as the ramp has come to
  int limit =
      0;  // in_flight may never exceed this: N, or what was in flight when N was lowered and is draining
  double cpu_s = 0;           // CPU time this process has used so far
  base::Duration loop_lag{};  // how late the latest heartbeat of a lane came since the last sample
};

}  // namespace headroom::load
