// Writing and reading the rungs of an unfinished qmax.
#include "bench/partial.hpp"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/atomic_file.hpp"
#include "base/names.hpp"
#include "bench/checks.hpp"

namespace headroom::bench {
namespace {

constexpr auto kOldest = std::chrono::hours(1);
constexpr const char* kDeployment = "endpoint configuration";  // a redeployment has another

// What the search needs of a rung, from what its artifact holds.
std::optional<stats::RoundSummary> summary_of(const capacity::Rung& rung) {
  if (!rung.rounds || !rung.noise_ratio || !rung.sd_ms || !rung.mean_ms || !rung.p95_ms ||
      !(*rung.rounds > 0))
    return std::nullopt;
  stats::RoundSummary s;
  s.rounds = *rung.rounds;
  s.count = static_cast<std::size_t>(*rung.rounds * rung.n);
  s.mean = *rung.mean_ms;
  s.p95 = *rung.p95_ms;
  s.sd = *rung.sd_ms;
  s.skew = rung.skew.value_or(0);
  s.noise_ratio = *rung.noise_ratio;
  s.sigma = s.sd * std::sqrt(1 + s.noise_ratio / s.rounds);
  return s;
}

base::WallTime when(const capacity::Rung& rung) {
  const auto at = rung.started_at ? base::parse_iso8601(*rung.started_at) : std::nullopt;
  return at.value_or(base::WallTime{});
}

// What decides how a rung is held and judged: rungs of different ones make no curve.
std::map<std::string, std::string> held_with(const QmaxOptions& options, const LiveEndpoint& live) {
  const auto s = [](base::Duration d) { return fmt::format("{:g} s", base::to_s(d)); };
  std::map<std::string, std::string> out{{"request-timeout", s(options.load.request_timeout)},
                                         {"cancel-share", fmt::format("{:g}", options.load.cancel_share)},
                                         {"ramp", s(options.load.ramp)},
                                         {kDeployment, live.endpoint.config_name}};
  if (options.method == "ladder") {
    out.insert({{"hold", s(options.hold)}, {"judge", s(options.judge)}});
  } else {
    out.insert({"max-hold", s(options.max_hold)});
  }
  return out;
}

}  // namespace

std::string partial_path(const Session& session) { return session.folder() + "/qmax-partial.json"; }

base::Result<void> save_partial(Session& session, const QmaxOptions& options, const LiveEndpoint& live,
                                double slo_ms, const SearchRun& run, const capacity::Counts& sent) {
  artifact::QmaxArtifact a;
  a.header = session.header(live.fingerprint);
  a.header.effective = held_with(options, live);
  a.header.counts = sent;
  a.method = options.method;
  a.slo_ms = slo_ms;
  a.transport = live.fingerprint.transport.value_or("");
  for (const auto& held : run.rungs) a.rungs.push_back(held.rung);
  a.result = run.result;
  a.unqueued = run.unqueued;
  a.duration_s = base::to_s(run.took);
  return artifact::write_artifact(partial_path(session), a);
}

base::Result<SearchRun> load_partial(Session& session, const QmaxOptions& options, const LiveEndpoint& live,
                                     double slo_ms) {
  const std::string path = partial_path(session);
  auto a = artifact::read_qmax(path);
  if (!a && a.error().code == base::ErrorCode::kNotFound)
    return base::fail(
        base::ErrorCode::kNotFound,
        fmt::format("there is no interrupted measurement at {}; start one without --resume", path));
  if (!a) return tl::unexpected(a.error());
  auto differences = measured_differences(a->header.fingerprint, live.fingerprint);
  if (a->method != options.method) differences.push_back("method");
  if (a->slo_ms != slo_ms) differences.push_back("SLO");
  for (const auto& [name, value] : held_with(options, live)) {
    const auto before = a->header.effective.find(name);
    const std::string was = before == a->header.effective.end() ? "unknown" : before->second;
    if (was == value) continue;
    differences.push_back(
        fmt::format("{}{} ({} then, {} now)", name == kDeployment ? "" : "--", name, was, value));
  }
  if (session.clock().wall() - when(a->rungs.back()) > kOldest) differences.push_back("age (over an hour)");
  if (!differences.empty()) {
    std::string all;
    for (const auto& one : differences) all += (all.empty() ? "" : ", ") + one;
    return base::fail(
        base::ErrorCode::kRefused,
        fmt::format("{} cannot be gone on with, it differs in: {}; measure without --resume", path, all));
  }
  SearchRun run;
  for (const auto& rung : a->rungs) {
    if (rung.repeat) continue;  // the closing holds are made again
    const auto began = when(rung);
    const auto held = std::chrono::duration_cast<base::WallTime::duration>(
        std::chrono::duration<double>(rung.hold_s.value_or(0)));
    const auto judged = std::chrono::duration_cast<base::WallTime::duration>(
        std::chrono::duration<double>(rung.judged_s.value_or(0)));
    run.rungs.push_back({rung, began + held - judged, began + held, {}, summary_of(rung)});
    run.took += std::chrono::duration_cast<base::Duration>(held);
  }
  run.resumed_rungs = run.rungs.size();
  run.resumed_counts = a->header.counts.value_or(capacity::Counts{});
  run.unqueued = a->unqueued;
  session.say(fmt::format("going on with {} rung(s) held before", run.rungs.size()));
  return run;
}

}  // namespace headroom::bench
