// Loads and contenders from files, then a table.
#include "bench/simulate.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "artifact/simulate.hpp"
#include "base/error_table.hpp"

namespace headroom::bench {
namespace {

using base::ErrorCode;
using base::fail;
using capacity::ContestLoad;
using capacity::PlanInput;

base::Result<ContestLoad> make_load(const SimulateOptions& options, const PlanInput& input) {
  if (!options.plan.trace_file.empty()) {
    auto load = recorded_load(options.plan);
    if (load && options.plan.trace_copies > 1) load->name += fmt::format(" x {}", options.plan.trace_copies);
    return load;
  }
  capacity::LoadScale scale;
  scale.start_s = *input.measured_total_s;
  // A day lies below its base; every other load begins at it.
  const bool below = options.load.rfind("day", 0) == 0;
  scale.base_rps = options.base_rps.value_or(below ? input.peak_rps : std::max(input.trough_rps, 1e-3));
  auto profile = capacity::make_profile(options.load, scale, static_cast<std::uint64_t>(options.seed));
  if (!profile) return tl::unexpected(profile.error());
  return capacity::contest_load(std::move(*profile));
}

artifact::SimulatedLoad describe(const ContestLoad& load, const capacity::ContestRules& rules) {
  artifact::SimulatedLoad out;
  out.name = load.name;
  out.duration_s = static_cast<double>(load.per_second.size());
  double sum = 0;
  for (const double rate : load.per_second) sum += rate;
  if (out.duration_s > 0) out.mean_rps = sum / out.duration_s;
  out.peak_rps = capacity::peak_rate(load.per_second);
  out.trough_rps = capacity::trough_rate(load.per_second);
  out.growth = capacity::growth_within(load.per_second, rules.horizon_s);
  out.clairvoyant_hours = capacity::clairvoyant_hours(load.per_second, rules.throughput_rps, 0.9, 1);
  return out;
}

std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.2f}", 100 * *share) : "unknown";
}

std::string three_digits(const std::optional<double>& value) {
  return value ? fmt::format("{:.3g}", *value) : "unknown";
}

std::string table_text(const artifact::SimulateArtifact& a) {
  std::string out = fmt::format(
      "{}: {:.1f} h, {} requests, {} to {} requests/s, growth x{} within {:.0f} s; the clairvoyant pays {} "
      "instance-hours\n\n",
      a.load.name, a.load.duration_s / 3600, a.load.offered, three_digits(a.load.trough_rps),
      three_digits(a.load.peak_rps), three_digits(a.load.growth), a.horizon_s,
      a.load.clairvoyant_hours ? fmt::format("{:.1f}", *a.load.clairvoyant_hours) : "unknown");
  out += fmt::format("  {:<26} {:>9} {:>9} {:>9} {:>8} {:>11} {:>9} {:>8} {:>9}\n", "policy", "instances",
                     "in SLO %", "refused %", "late %", "instance-h", "x least", "turns/h", "p95 ms");
  for (const artifact::SimulatedRow& simulated : a.rows) {
    const capacity::ContestRow& row = simulated.row;
    out += fmt::format("  {:<26} {:>9} {:>9} {:>9} {:>8} {:>11.2f} {:>9} {:>8.1f} {:>9}\n", row.name,
                       fmt::format("{}..{}", row.min_instances, row.max_instances),
                       percent(row.share_within_slo), percent(row.share_refused), percent(row.share_late),
                       row.instance_hours,
                       row.vs_clairvoyant ? fmt::format("{:.2f}", *row.vs_clairvoyant) : "unknown",
                       row.turns_per_hour, row.p95_ms ? fmt::format("{:.0f}", *row.p95_ms) : "unknown");
  }
  for (const std::string& note : a.header.notes) out += "\n  " + note;
  return out;
}

base::Result<artifact::SimulateArtifact> simulate_all(SimulateOptions& options, const PlanContext& context,
                                                      std::string& folder) {
  auto read = read_plan_input(options.plan, context);
  if (!read) return tl::unexpected(read.error());
  folder = read->folder;
  PlanInput input = read->input;
  if (!(input.peak_rps > 0)) {  // no model file: the load itself says how large it is
    if (options.plan.trace_file.empty() && !options.base_rps)
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("the size of load '{}' is unknown; give --base-rps, or --model", options.load));
    input.peak_rps = options.base_rps.value_or(1);
  }
  auto rules = capacity::contest_rules(input);
  if (!rules) return tl::unexpected(rules.error());
  rules->seed = static_cast<std::uint64_t>(options.seed);
  rules->initial = options.initial;
  if (options.capacity_base == "desired") rules->base = capacity::CapacityBase::kDesired;
  const auto load = make_load(options, input);
  if (!load) return tl::unexpected(load.error());
  std::optional<capacity::Plan> plan;
  if (!options.plan_file.empty()) {
    const auto file = artifact::read_plan(options.plan_file);
    if (!file) return tl::unexpected(file.error());
    plan = file->plan;
    rules->queue_limit = plan->queue_limit;
    if (plan->reaction_time_s) rules->horizon_s = *plan->reaction_time_s;
  }
  artifact::SimulateArtifact out;
  out.load = describe(*load, *rules);
  if (!options.plan.peak_rps) input.peak_rps = std::max(*out.load.peak_rps, 1e-3);
  if (!options.plan.trough_rps) input.trough_rps = std::min(*out.load.trough_rps, input.peak_rps);
  if (!options.plan.headroom)
    input.headroom = std::clamp(out.load.growth.value_or(1.25), 1.0, capacity::kMostGrowth);
  for (const capacity::Contender& contender : capacity::contenders(input, plan, options.rivals)) {
    auto row = capacity::compete(*rules, *load, contender);
    if (!row) return tl::unexpected(row.error());
    out.load.offered = row->offered;
    std::optional<double> cost;
    if (input.price_per_hour_usd) cost = *input.price_per_hour_usd * row->instance_hours;
    auto timeline = artifact::thinned(row->timeline);
    row->timeline.clear();
    out.rows.push_back({std::move(*row), std::move(timeline), cost});
  }
  out.throughput_rps = rules->throughput_rps;
  out.workers = rules->service.workers;
  out.service_ms = 1000 * rules->service.mean_s;
  for (const double stage : rules->start.stage_s) out.start_s += stage;
  out.queue_limit = rules->queue_limit;
  out.slo_ms = input.slo_ms;
  out.horizon_s = rules->horizon_s;
  out.seed = options.seed;
  out.header.notes.push_back(
      fmt::format("All but 'plan' are sized for {:g} to {:g} requests/s and growth x{:.3g}. Within the SLO: "
                  "first audio in {:g} ms; "
                  "refused and late requests are not.",
                  input.trough_rps, input.peak_rps, input.headroom, input.slo_ms));
  out.header.created = context.created;
  out.header.run_id = context.run_id;
  out.header.tool_version = HEADROOM_VERSION;
  out.header.settings = context.settings;
  return out;
}

}  // namespace

std::vector<base::Option> SimulateOptions::table() {
  std::vector<base::Option> all;
  for (base::Option& option : plan.table()) {
    for (const char* shared : {"qmax", "ttotal", "headroom", "peak-rps", "trough-rps", "slo-ms",
                               "assume-ratio", "trace", "trace-copies", "trace-jitter"}) {
      if (option.name == shared) all.push_back(option);
    }
  }
  const std::vector<base::Option> own{
      {.name = "plan",
       .help = "a plan whose policy takes part as it is",
       .target = &plan_file,
       .value_name = "FILE"},
      {.name = "load",
       .help = "flat, step:M, ramp:M:K, spike:M:S, square:M:K, day[:NOISE], markov:A:B",
       .target = &load,
       .value_name = "WORDS"},
      {.name = "base-rps",
       .help = "what the multiples of --load are of",
       .target = &base_rps,
       .default_text = "the planned trough; for day the planned peak",
       .min = 0.001,
       .max = 1e6},
      {.name = "rivals",
       .help = "also CPU and invocations targets, HPA, slope prediction",
       .target = &rivals},
      {.name = "initial",
       .help = "instances at the start",
       .target = &initial,
       .default_text = "what each policy runs at the load's first minutes",
       .min = 1,
       .max = 100'000},
      {.name = "capacity-base",
       .help = "which count a policy multiplies; AWS does not say",
       .target = &capacity_base,
       .choices = {"in-service", "desired"}},
      {.name = "seed",
       .help = "of arrivals, service times and starts",
       .target = &seed,
       .min = 0,
       .max = 1e9},
  };
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

int run_simulate(SimulateOptions& options, const PlanContext& context, const Print& print,
                 const Print& complain) {
  std::string folder;
  const auto done = simulate_all(options, context, folder);
  const auto told = [&](const base::Error& error) {
    complain("tts-bench simulate: " + base::describe(error) + "\n");
    return base::error_row(error.code).exit_code;
  };
  if (!done) return told(done.error());
  const auto text = artifact::to_json_text(*done);
  if (!text) return told(text.error());
  const std::string path = folder + "/simulate.json";
  if (auto ok = artifact::write_artifact_text(path, text); !ok) return told(ok.error());
  if (context.json) {
    print(*text);
  } else if (!context.quiet) {
    print(table_text(*done) + "\n\nWritten to " + path + "\n");
  }
  return base::kExitGood;
}

}  // namespace headroom::bench
