// Partial: the rungs of a qmax that has not ended, so that an interrupted one can go on (`qmax --resume`).
//
// `sent`: all requests that have ended so far, those of earlier processes included.
// OUT/qmax-partial.json is a qmax artifact of the rungs held so far, written after each of them and removed
// when the measurement ends. A run that goes on takes them only if they are of the same endpoint, workload,
// method, SLO and settings of the holds, and at most an hour old. Errors: kNotFound (nothing to go on with),
// kRefused (something else, or too old; names the difference), those of artifacts.
#pragma once

#include "bench/search_run.hpp"

namespace headroom::bench {

std::string partial_path(const Session& session);
base::Result<void> save_partial(Session& session, const QmaxOptions& options, const LiveEndpoint& live,
                                double slo_ms, const SearchRun& run, const capacity::Counts& sent);
base::Result<SearchRun> load_partial(Session& session, const QmaxOptions& options, const LiveEndpoint& live,
                                     double slo_ms);

}  // namespace headroom::bench
