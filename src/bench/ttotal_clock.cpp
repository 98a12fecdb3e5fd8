// The running clock as JSON.
#include "bench/ttotal_clock.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/names.hpp"
#include "bench/stage_watch.hpp"

namespace headroom::bench {
namespace {

using base::ErrorCode;
using nlohmann::json;

// Where the clock's start lies on this process's steady clock.
base::SteadyTime start_of(const json& body, RunningClock& clock, const std::string& boot, Moment now) {
  if (!boot.empty() && body.value("boot_id", "") == boot) {
    const base::SteadyTime start(
        std::chrono::nanoseconds(body.at("desired_set_steady_ns").get<std::int64_t>()));
    if (start <= now.steady) return start;
  }
  clock.by_wall = true;
  return std::min(WallOffset(now).steady_at(clock.desired_set.wall), now.steady);
}

base::Duration seconds_of(const json& body, const char* name) {
  return base::from_s(std::max(0.0, body.at(name).get<double>()));
}

}  // namespace

std::optional<double> RunningClock::lag_s() const {
  if (!observed) return std::nullopt;
  return base::to_s(desired_set.steady - load_applied);
}

// What polling saw lies between two answers; what was asked for here is known to the moment.
std::vector<capacity::Stamp> RunningClock::stamps() const {
  return {
      {std::string(capacity::kLoadApplied), on_steady(load_applied), capacity::StageKind::kObserved, 0.001},
      {std::string(capacity::kDesiredSet), on_steady(desired_set.steady),
       observed ? capacity::StageKind::kBounded : capacity::StageKind::kObserved, resolution_s}};
}

std::string boot_id() {
  auto text = base::read_file("/proc/sys/kernel/random/boot_id", 64);
  if (!text) return {};
  while (!text->empty() && text->back() == '\n') text->pop_back();
  return *text;
}

std::string clock_text(const RunningClock& c, const std::string& boot) {
  const json body{{"schema", "headroom/ttotal-clock"},
                  {"version", 1},
                  {"freeze_run", c.freeze_run},
                  {"config_name", c.config_name},
                  {"boot_id", boot},
                  {"desired_set", base::format_iso8601(c.desired_set.wall)},
                  {"desired_set_steady_ns", on_steady(c.desired_set.steady).count()},
                  {"load_s", base::to_s(c.desired_set.steady - c.load_applied)},
                  {"ask_s", base::to_s(c.desired_set.steady - c.asked_after)},
                  {"resolution_s", c.resolution_s},
                  {"observed", c.observed},
                  {"load", c.load},
                  {"wanted", c.wanted},
                  {"baseline_p95_ms", c.baseline_p95_ms},
                  {"old_streams", c.old_streams}};
  return body.dump(2) + "\n";
}

std::optional<RunningClock> parse_clock(const std::string& text, const std::string& boot, Moment now) {
  const json body = json::parse(text, nullptr, false);
  try {
    if (body.at("schema").get<std::string>() != "headroom/ttotal-clock") return std::nullopt;
    RunningClock c;
    c.freeze_run = body.at("freeze_run").get<std::string>();
    c.config_name = body.at("config_name").get<std::string>();
    const auto desired_set = base::parse_iso8601(body.at("desired_set").get<std::string>());
    if (!desired_set) return std::nullopt;
    c.desired_set.wall = *desired_set;
    c.desired_set.steady = start_of(body, c, boot, now);
    c.load_applied = c.desired_set.steady - seconds_of(body, "load_s");
    c.asked_after = c.desired_set.steady - seconds_of(body, "ask_s");
    c.resolution_s = body.at("resolution_s").get<double>();
    c.observed = body.value("observed", false);
    c.load = body.at("load").get<int>();
    c.wanted = body.at("wanted").get<int>();
    c.baseline_p95_ms = body.at("baseline_p95_ms").get<double>();
    c.old_streams = body.at("old_streams").get<std::vector<std::string>>();
    if (c.load < 1 || c.wanted < 2 || !(c.baseline_p95_ms > 0)) return std::nullopt;
    return c;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::string clock_path(const Session& session) { return session.folder() + "/ttotal-clock.json"; }

base::Result<void> save_clock(const Session& session, const RunningClock& clock) {
  return base::write_file_atomically(clock_path(session), clock_text(clock, boot_id()), 0600);
}

base::Result<RunningClock> load_clock(Session& session) {
  auto text = base::read_file(clock_path(session), 1 << 20);
  if (!text) return tl::unexpected(text.error());
  if (auto clock = parse_clock(*text, boot_id(), read_moment(session.clock()))) return std::move(*clock);
  return base::fail(
      ErrorCode::kInvalidData,
      fmt::format("{} is not the clock of a ttotal; delete it and measure anew", clock_path(session)));
}

}  // namespace headroom::bench
