// tts-bench plan: from two artifacts and a model file to plan.json.
#include "bench/plan.hpp"

#include <fmt/format.h>

#include "base/atomic_file.hpp"
#include "base/error_table.hpp"
#include "base/names.hpp"
#include "base/sha256.hpp"
#include "bench/cost.hpp"
#include "bench/trace_file.hpp"
#include "capacity/policy_search.hpp"
#include "load/workload.hpp"
#include "model/model_file.hpp"

namespace headroom::bench {
namespace {

using base::ErrorCode;
using base::fail;

struct Inputs {
  artifact::QmaxArtifact qmax;
  artifact::TtotalArtifact ttotal;
  std::optional<model::ModelFile> model;
  std::string endpoint;
  std::string folder;
  std::string qmax_file, ttotal_file;
};

// Names every difference and what to do about it.
base::Result<void> refuse_differences(const std::vector<std::string>& differences, const std::string& left,
                                      const std::string& right) {
  if (differences.empty()) return {};
  return fail(ErrorCode::kRefused, fmt::format("{} and {} were not measured alike: {}; measure again", left,
                                               right, fmt::join(differences, "; ")));
}

base::Result<void> check_same(const Inputs& in) {
  if (auto ok =
          refuse_differences(artifact::differences(in.qmax.header.fingerprint, in.ttotal.header.fingerprint),
                             in.qmax_file, in.ttotal_file);
      !ok)
    return ok;
  // Only what the caller named binds the artifacts: a model file or --endpoint.
  artifact::Fingerprint wanted;
  if (in.model) {
    wanted.transport = in.model->transport;
    if (!in.model->instance_type.empty()) wanted.instance_type = in.model->instance_type;
  }
  wanted.endpoint = in.endpoint;
  const std::string name = in.model ? in.model->path : "--endpoint";
  artifact::Fingerprint measured = in.qmax.header.fingerprint;
  measured.environment.clear();  // whether the live container is the model file's is drift's question
  return refuse_differences(artifact::differences(measured, wanted), in.qmax_file, name);
}

// The endpoint's name decides the folder, and the folder where the artifacts lie, unless both are given.
base::Result<Inputs> read_inputs(const PlanOptions& options, const PlanContext& context) {
  Inputs in;
  if (!context.model.empty()) {
    auto model = model::load_model_file(context.model, context.models_folder);
    if (!model) return tl::unexpected(model.error());
    in.model = std::move(*model);
  }
  in.endpoint = !context.endpoint.empty() ? context.endpoint : in.model ? in.model->endpoint : "";
  in.folder = context.out;
  if (in.folder.empty() && !in.endpoint.empty()) {
    const auto folder = artifact::default_folder(in.endpoint);
    if (!folder) return tl::unexpected(folder.error());
    in.folder = *folder;
  }
  if (in.folder.empty() && (options.qmax_file.empty() || options.ttotal_file.empty()))
    return fail(ErrorCode::kInvalidArgument,
                "name the measurements: --qmax FILE and --ttotal FILE, or --model or --endpoint whose folder "
                "holds them");
  in.qmax_file = options.qmax_file.empty() ? in.folder + "/qmax.json" : options.qmax_file;
  in.ttotal_file = options.ttotal_file.empty() ? in.folder + "/ttotal.json" : options.ttotal_file;
  auto qmax = artifact::read_qmax(in.qmax_file);
  if (!qmax) return tl::unexpected(qmax.error());
  auto ttotal = artifact::read_ttotal(in.ttotal_file);
  if (!ttotal) return tl::unexpected(ttotal.error());
  in.qmax = std::move(*qmax);
  in.ttotal = std::move(*ttotal);
  if (in.endpoint.empty()) in.endpoint = in.qmax.header.fingerprint.endpoint.value_or("");
  if (in.endpoint.empty())
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} names no endpoint; give --endpoint or --model", in.qmax_file));
  if (auto ok = base::check_sagemaker_name(in.endpoint, "endpoint name"); !ok)
    return tl::unexpected(ok.error());
  if (auto ok = base::check_sagemaker_name(context.variant, "variant name"); !ok)
    return tl::unexpected(ok.error());
  if (in.folder.empty()) in.folder = "artifacts/" + in.endpoint;
  return in;
}

capacity::PlanInput plan_input(const Inputs& in, const PlanOptions& options, const PlanContext& context) {
  capacity::PlanInput p;
  p.rule = capacity::parse_rule(options.rule).value_or(capacity::Rule::kRecommended);
  p.carrier = capacity::parse_carrier(options.carrier).value_or(capacity::Carrier::kNative);
  p.endpoint = in.endpoint;
  p.variant = context.variant;
  p.rungs = in.qmax.rungs;
  p.q_max = in.qmax.result.q_max;
  p.qmax_verdict = in.qmax.result.verdict;
  p.q_max_interval = in.qmax.result.q_max_interval;
  p.runs_spread = in.qmax.runs_spread;
  p.unqueued_mean_ms = in.qmax.unqueued.mean_ms;
  p.unqueued_p95_ms = in.qmax.unqueued.p95_ms;
  for (const double ms : in.qmax.unqueued.sample_ms) p.unqueued_samples_s.push_back(ms / 1000);
  p.calibration_ratio = in.qmax.calibration.ratio;
  p.assume_ratio = options.assume_ratio;
  p.measured_total_s = in.ttotal.measured_total_s;
  p.total_s = in.ttotal.total_s;
  p.measured_stages = in.ttotal.stages.measured;
  p.host_contended = in.qmax.host_contended.value_or(false) || in.ttotal.host_contended.value_or(false);
  p.ttotal_client_bound = in.ttotal.client_bound;
  p.paced_engine = in.qmax.paced_engine.value_or(false) || in.ttotal.paced_engine.value_or(false);
  p.fingerprint_known = in.qmax.header.fingerprint.known() && in.ttotal.header.fingerprint.known();
  p.deployed_queue_limit = in.qmax.server_queue_limit;
  const auto& environment = in.qmax.header.fingerprint.environment;
  const auto emf = environment.find("TTS_EMF");
  p.emits_offered_rate = emf != environment.end() && (emf->second == "1" || emf->second == "true");
  p.simulate = true;
  p.characters_per_request = characters_per_request(in.qmax.header);
  if (!p.characters_per_request && in.model) {
    if (const auto texts = load::Workload::make(in.model->workload))
      p.characters_per_request = texts->mean_characters();
  }
  const model::ModelFile defaults;
  const model::ModelFile& model = in.model ? *in.model : defaults;
  p.slo_ms = options.slo_ms.value_or(in.model ? model.slo_ms : in.qmax.slo_ms);
  p.headroom = options.headroom.value_or(model.headroom);
  p.peak_rps = options.peak_rps.value_or(model.peak_rps.value_or(0));
  p.trough_rps = options.trough_rps.value_or(model.trough_rps.value_or(0));
  if (in.model) {
    p.price_per_hour_usd = model.price_per_hour_usd;
    p.allowed_min_instances = model.min_instances;
    p.allowed_max_instances = model.max_instances;
  }
  return p;
}

// Trough, peak and growth come from the trace unless they are given; so do the alternatives' figures.
base::Result<capacity::Plan> plan_for_trace(const PlanOptions& options, capacity::PlanInput& input) {
  const auto recorded = recorded_load(options);
  if (!recorded) return tl::unexpected(recorded.error());
  const capacity::ContestLoad& load = *recorded;
  if (!options.peak_rps) input.peak_rps = capacity::peak_rate(load.per_second);
  if (!options.trough_rps) input.trough_rps = capacity::trough_rate(load.per_second);
  auto rules = capacity::contest_rules(input);
  if (!rules) return tl::unexpected(rules.error());
  if (!options.headroom) {
    const auto growth = capacity::growth_within(load.per_second, rules->horizon_s);
    if (growth) input.headroom = std::clamp(*growth, 1.0, capacity::kMostGrowth);
  }
  if (const auto throughput = capacity::throughput_per_instance(input))
    input.turning_period_s = capacity::turning_period_s(load.per_second, *throughput);
  if (options.search) {
    if (input.rule != capacity::Rule::kRecommended)
      return fail(ErrorCode::kInvalidArgument, "--search looks for a recommended policy; leave --rule out");
    const auto found = capacity::search_policy(input, *rules, load);
    if (!found) return tl::unexpected(found.error());
    input.utilisation = found->utilisation;
    input.scale_in_share = found->scale_in_share;
  }
  input.simulated_load = &load;
  auto plan = capacity::make_plan(input);
  input.simulated_load = nullptr;
  return plan;
}

}  // namespace

std::vector<base::Option> PlanOptions::table() {
  return {
      {.name = "qmax",
       .help = "measured Q_max",
       .target = &qmax_file,
       .value_name = "FILE",
       .default_text = "OUT/qmax.json"},
      {.name = "ttotal",
       .help = "measured T_total",
       .target = &ttotal_file,
       .value_name = "FILE",
       .default_text = "OUT/ttotal.json"},
      {.name = "rule",
       .help = "how the policy is derived",
       .target = &rule,
       .choices = {"recommended", "published"}},
      {.name = "carrier",
       .help = "metric of the recommended rule",
       .target = &carrier,
       .choices = {"native", "offered-rate"}},
      {.name = "headroom",
       .help = "growth within the reaction time that must be carried",
       .target = &headroom,
       .default_text = "the model file's, else 1.25",
       .min = 1,
       .max = 100},
      {.name = "peak-rps",
       .help = "largest load, requests/s",
       .target = &peak_rps,
       .default_text = "the model file's",
       .min = 0,
       .max = 1e7},
      {.name = "trough-rps",
       .help = "smallest load, requests/s",
       .target = &trough_rps,
       .default_text = "the model file's",
       .min = 0,
       .max = 1e7},
      {.name = "slo-ms",
       .help = "p95 time to first audio, ms",
       .target = &slo_ms,
       .default_text = "the model file's, else the measurement's",
       .min = 1,
       .max = 60000},
      {.name = "trace",
       .help = "size the plan by recorded arrivals (CSV or JSON lines) and simulate it on them",
       .target = &trace_file,
       .value_name = "FILE"},
      {.name = "trace-copies",
       .help = "each recorded arrival so many times",
       .target = &trace_copies,
       .min = 1,
       .max = 10000},
      {.name = "trace-jitter",
       .help = "shift of each copy, up to so many seconds",
       .target = &trace_jitter_s,
       .min = 0,
       .max = 3600},
      {.name = "search", .help = "look for the cheapest policy that holds on --trace", .target = &search},
      {.name = "assume-ratio",
       .help = "metric/held where it was not measured",
       .target = &assume_ratio,
       .min = 0.001,
       .max = 1000},
  };
}

base::Result<capacity::ContestLoad> recorded_load(const PlanOptions& options) {
  auto trace = read_trace(options.trace_file);
  if (!trace) return tl::unexpected(trace.error());
  if (auto ok = capacity::check_requests(static_cast<double>(trace->at_s.size()) * options.trace_copies); !ok)
    return tl::unexpected(ok.error());
  return capacity::contest_load(std::move(*trace), options.trace_copies, options.trace_jitter_s);
}

base::Result<PlanMeasurements> read_plan_input(const PlanOptions& options, const PlanContext& context) {
  const auto in = read_inputs(options, context);
  if (!in) return tl::unexpected(in.error());
  if (auto ok = check_same(*in); !ok) return tl::unexpected(ok.error());
  return PlanMeasurements{plan_input(*in, options, context), in->folder};
}

base::Result<PlanRun> make_plan_artifact(const PlanOptions& options, const PlanContext& context) {
  if (options.search && options.trace_file.empty())
    return fail(ErrorCode::kInvalidArgument, "--search needs a load to search on: give --trace FILE");
  auto in = read_inputs(options, context);
  if (!in) return tl::unexpected(in.error());
  if (auto ok = check_same(*in); !ok) return tl::unexpected(ok.error());
  capacity::PlanInput input = plan_input(*in, options, context);
  if (input.slo_ms != in->qmax.slo_ms)
    return fail(ErrorCode::kRefused, fmt::format("Q_max was measured for an SLO of {:g} ms, the plan is for "
                                                 "{:g} ms; measure again with tts-bench qmax --slo-ms {:g}",
                                                 in->qmax.slo_ms, input.slo_ms, input.slo_ms));
  auto plan = options.trace_file.empty() ? capacity::make_plan(input) : plan_for_trace(options, input);
  if (!plan) return tl::unexpected(plan.error());
  PlanRun run;
  artifact::PlanArtifact& a = run.artifact;
  a.header = in->qmax.header;  // fingerprint, account, region of the measurement
  a.header.fingerprint.endpoint = in->endpoint;
  a.header.fingerprint.variant = context.variant;
  if (!a.header.fingerprint.instance_type && in->model && !in->model->instance_type.empty())
    a.header.fingerprint.instance_type = in->model->instance_type;
  a.header.created = context.created;
  a.header.run_id = context.run_id;
  a.header.tool_version = HEADROOM_VERSION;
  a.header.settings = context.settings;
  a.header.effective = {{"rule", options.rule},
                        {"slo_ms", fmt::format("{}", input.slo_ms)},
                        {"headroom", fmt::format("{}", input.headroom)},
                        {"peak_rps", fmt::format("{}", input.peak_rps)},
                        {"trough_rps", fmt::format("{}", input.trough_rps)}};
  a.header.counts.reset();  // of the measurements, not of this
  a.transport = in->qmax.transport;
  a.plan = std::move(*plan);
  a.qmax_file = in->qmax_file;
  a.ttotal_file = in->ttotal_file;
  const auto hash = base::sha256_file(in->qmax_file);
  const auto other = base::sha256_file(in->ttotal_file);
  if (!hash) return tl::unexpected(hash.error());
  if (!other) return tl::unexpected(other.error());
  a.qmax_sha256 = *hash;
  a.ttotal_sha256 = *other;
  run.written_to = in->folder + "/plan.json";
  if (auto ok = artifact::write_artifact(run.written_to, a); !ok) return tl::unexpected(ok.error());
  return run;
}

int run_plan(const PlanOptions& options, const PlanContext& context, const Print& print,
             const Print& complain) {
  const auto run = make_plan_artifact(options, context);
  if (!run) {
    complain("tts-bench plan: " + base::describe(run.error()) + "\n");
    return base::error_row(run.error().code).exit_code;
  }
  if (context.json) {
    const auto text = artifact::to_json_text(run->artifact);
    print(text ? *text : "");
  } else if (!context.quiet) {
    print(plan_text(run->artifact) + "\nWritten to " + run->written_to + "\n");
  }
  if (run->artifact.plan.verdict == capacity::PlanVerdict::kInfeasible) {
    complain(
        "tts-bench plan: infeasible; apply and deployment refuse it. The findings marked FAIL say why and "
        "what to do.\n");
    return base::kExitNegative;
  }
  return base::kExitGood;
}

}  // namespace headroom::bench
