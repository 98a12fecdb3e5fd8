// Stages from stamps; the lag bound; words about the largest stage.
#include "capacity/ttotal.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace headroom::capacity {

std::string_view kind_name(StageKind kind) { return kind == StageKind::kObserved ? "observed" : "bounded"; }

std::optional<StageKind> parse_stage_kind(std::string_view name) {
  if (name == "observed") return StageKind::kObserved;
  if (name == "bounded") return StageKind::kBounded;
  return std::nullopt;
}

base::Result<Stages> stages_from_stamps(std::vector<Stamp> stamps) {
  std::set<std::string> names;
  for (const Stamp& stamp : stamps) {
    if (!names.insert(stamp.name).second)
      return base::fail(base::ErrorCode::kInvalidData,
                        fmt::format("the stamp '{}' was given twice; keep the first", stamp.name));
  }
  if (!names.count(std::string(kDesiredSet)))
    return base::fail(base::ErrorCode::kInvalidData, "no 'desired_set' stamp: the clock never started");
  // Equal times: the clock's start before everything else, its end after everything else, others as they
  // came.
  const auto order = [](const Stamp& s) {
    return s.name == kDesiredSet ? 0 : s.name == kTrafficRecovered ? 2 : 1;
  };
  std::stable_sort(stamps.begin(), stamps.end(), [&](const Stamp& a, const Stamp& b) {
    return a.at != b.at ? a.at < b.at : order(a) < order(b);
  });
  Stages stages;
  base::Duration clock_start{};
  std::vector<Stage>* into = &stages.before_clock;
  for (std::size_t i = 0; i < stamps.size(); ++i) {
    const Stamp& stamp = stamps[i];
    if (i > 0) {
      into->push_back({stamps[i - 1].name, stamp.name, base::to_s(stamp.at - stamps[i - 1].at), stamp.kind,
                       stamp.resolution_s});
    }
    if (stamp.name == kDesiredSet) {
      clock_start = stamp.at;
      into = &stages.measured;
    } else if (stamp.name == kTrafficRecovered) {
      if (into == &stages.measured) stages.measured_total_s = base::to_s(stamp.at - clock_start);
      into = &stages.after_recovery;
    }
  }
  return stages;
}

double policy_lag_bound_s(int period_s, int evaluation_periods, int cooldown_s) {
  return static_cast<double>(period_s) * evaluation_periods + cooldown_s;
}

std::optional<Stage> largest_stage(std::span<const Stage> measured) {
  if (measured.empty()) return std::nullopt;
  return *std::max_element(measured.begin(), measured.end(),
                           [](const Stage& a, const Stage& b) { return a.s < b.s; });
}

std::string stage_remedy(std::string_view to) {
  if (to == "instance_logging")
    return "instance and image provisioning: a smaller image, an instance type with more spare capacity, or "
           "a warm minimum";
  if (to == "container_started")
    return "the container's start: fewer and smaller layers, no work before the first log line";
  if (to == "weights_fetched") return "fetching the weights: smaller weights, or put them into the image";
  if (to == "framework_init")
    return "loading the framework: import less, keep its compile cache in the model directory";
  if (to == "weights_ready")
    return "loading and compiling the model: prepare it ahead and keep the compile cache";
  if (to == "warmup_done") return "the warm-up: shorten the sentence or do it in fewer passes";
  if (to == "ready") return "from warm-up to answering /ping: poll the health check more often";
  if (to == "in_service")
    return "the platform's health checks between ready and InService: answer /ping at once";
  if (to == "traffic_recovered")
    return "draining the queue that built up: refuse earlier (queue limit) or scale by more than one";
  return "unknown stage; look at the instance's log between its two stamps";
}

std::string share_sentence(const Stage& stage, double measured_total_s, double total_s) {
  return fmt::format("{} {:.1f} s = {:.1f} % of the measured {:.1f} s, {:.1f} % of T_total {:.1f} s",
                     stage.to, stage.s, 100 * stage.s / measured_total_s, measured_total_s,
                     100 * stage.s / total_s, total_s);
}

}  // namespace headroom::capacity
