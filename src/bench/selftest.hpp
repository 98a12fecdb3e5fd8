// tts-bench selftest: how exact and how strong the load driver is on this machine.
//
// A server of known delay runs as a process of its own on another core; both sides stamp with the same steady
// clock. Accuracy: at --streams outstanding, the TTFAB that the driver measured against the server's stamp of
// the moment it sent; median of --runs. Capacity: --capacity outstanding on one core, held or not, never
// more, and CPU time per request. --serve runs only the server, for other load tools. Talks to nothing else.
// Call it before threads start. Exit codes: 0 measured, 1 failed (limits, too many outstanding), 4 the wanted
// figures were not reached, 130 interrupted.
#pragma once

#include <vector>

#include "base/options.hpp"
#include "bench/session.hpp"

namespace headroom::bench {

struct SelftestOptions {
  int streams = 1000;
  int runs = 5;
  int capacity = 10'000;
  base::Duration duration = std::chrono::seconds(6);
  base::Duration first = std::chrono::milliseconds(500);
  base::Duration gap = std::chrono::milliseconds(100);
  int chunks = 21;
  int chunk_bytes = 320;
  int threads = 1;
  bool serve = false;
  int port = 0;
  std::vector<base::Option> table();
};

int run_selftest(const SelftestOptions& options, const CommonOptions& common);

}  // namespace headroom::bench
