// Runs a whole search, the same CertifiedSearch and judge_bound as tts-bench, on a SimulatedService; for
// tests.
#pragma once

#include "capacity/certified.hpp"
#include "capacity/simulated_service.hpp"

namespace headroom::capacity::test {

// How a rung is judged at a look: the product's rule, or another one that is to be compared with it.
using Judge = std::function<BoundJudgement(int n, std::span<const Completion>, bool last_look)>;

struct SimulatedRun {
  CertifiedResult result;
  double seconds = 0;
  std::string trace, ended;
};

inline HeldEvidence hold_simulated(SimulatedService& server, const BoundSettings& bound,
                                   const HoldRequest& request, const Judge& judge) {
  const std::size_t drop = transient_completions(request.n, server.hold(request.n));
  const double began = server.started();
  std::vector<Completion> kept;
  std::size_t seen = 0, judged = 0;
  BoundJudgement last;
  double look = next_look(bound, request.at_least_s - 1, request.at_most_s);
  while (true) {
    Completion one = server.next();
    one.at_s -= began;
    while (one.at_s >= look) {
      const bool end = look >= request.at_most_s;
      last = judge(request.n, kept, end);
      judged = kept.size();
      if (end || last.verdict != RungVerdict::kUndecided ||
          !worth_holding(bound, last, look, request.at_most_s)) {
        HeldEvidence held{request.n, last.verdict, last.summary, std::nullopt, last.reason};
        if (judged > 1) held.rps = static_cast<double>(judged) / std::max(1e-9, look - kept.front().at_s);
        return held;
      }
      look = next_look(bound, look, request.at_most_s);
    }
    if (++seen > drop) kept.push_back(one);
  }
}

inline SimulatedRun simulate_search(const ServiceFamily& family, std::uint64_t seed,
                                    CertifiedSettings settings = {}, const Judge& other = {}) {
  BoundSettings bound;
  bound.slo_ms = settings.slo_ms;
  const Judge judge = other ? other : [&](int n, std::span<const Completion> all, bool last) {
    return judge_bound(bound, n, all, last);
  };
  SimulatedService server(family, seed);
  CertifiedSearch search(settings);
  SimulatedRun run;
  while (const auto request = search.next(server.now())) {
    const auto held = hold_simulated(server, bound, *request, judge);
    search.add(held);
    char line[160];
    std::snprintf(line, sizeof line, "  N %d %s p95 %.0f rho %.2f to %.0f s, crossing %.2f\n", held.n,
                  std::string(verdict_name(held.verdict)).c_str(), held.summary ? held.summary->p95 : 0.0,
                  held.summary ? held.summary->noise_ratio : 0.0, server.now(),
                  search.crossing().value_or(0));
    run.trace += line;
  }
  run.ended = search.ended_because(server.now());
  run.result = search.result();
  // The sustain and the repeat of rung 1, as they are held in earnest.
  run.seconds = server.now() + 60 + 20;
  return run;
}

}  // namespace headroom::capacity::test
