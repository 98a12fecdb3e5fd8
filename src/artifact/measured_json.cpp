// qmax, ttotal, validate and drift as JSON.
#include "artifact/json_fields.hpp"

namespace headroom::artifact {
namespace {

using capacity::Rung;
using capacity::Stage;

Json interval_json(const std::optional<capacity::Interval>& interval) {
  return interval ? Json::array({interval->low, interval->high}) : Json(nullptr);
}

std::optional<capacity::Interval> get_interval(const Json& j, const char* key) {
  const Json& v = field(j, key);
  if (!v.is_array()) return std::nullopt;
  return capacity::Interval{v[0].get<double>(), v[1].get<double>()};
}

Json rung_json(const Rung& r) {
  Json j;
  j["n"] = r.n;
  j["held_mean"] = value_or_null(r.held_mean);
  j["mean_ms"] = value_or_null(r.mean_ms);
  j["p50_ms"] = value_or_null(r.p50_ms);
  j["p95_ms"] = value_or_null(r.p95_ms);
  j["p99_ms"] = value_or_null(r.p99_ms);
  j["rps"] = value_or_null(r.rps);
  j["verdict"] = r.verdict ? Json(capacity::verdict_name(*r.verdict)) : Json(nullptr);
  j["reason"] = text_or_null(r.reason);
  j["rounds"] = value_or_null(r.rounds);
  j["noise_ratio"] = value_or_null(r.noise_ratio);
  j["sd_ms"] = value_or_null(r.sd_ms);
  j["skew"] = value_or_null(r.skew);
  j["metric"] = value_or_null(r.metric);
  j["metric_ratio"] = value_or_null(r.metric_ratio);
  if (r.counts) {
    put_counts(j, *r.counts);
  } else {
    for (const char* key : {"started", "ok", "rejected", "failed", "timed_out", "aborted"}) j[key] = nullptr;
  }
  j["hold_s"] = value_or_null(r.hold_s);
  j["judged_s"] = value_or_null(r.judged_s);
  j["started_at"] = value_or_null(r.started_at);
  j["repeat"] = r.repeat;
  return j;
}

Rung get_rung(const Json& j) {
  Rung r;
  r.n = whole(j, "n").value_or(0);
  r.held_mean = number(j, "held_mean");
  r.mean_ms = number(j, "mean_ms");
  r.p50_ms = number(j, "p50_ms");
  r.p95_ms = number(j, "p95_ms");
  r.p99_ms = number(j, "p99_ms");
  r.rps = number(j, "rps");
  r.verdict = capacity::parse_rung_verdict(text(j, "verdict"));
  r.reason = text(j, "reason");
  r.rounds = number(j, "rounds");
  r.noise_ratio = number(j, "noise_ratio");
  r.sd_ms = number(j, "sd_ms");
  r.skew = number(j, "skew");
  r.metric = number(j, "metric");
  r.metric_ratio = number(j, "metric_ratio");
  r.counts = get_counts(j);
  r.hold_s = number(j, "hold_s");
  r.judged_s = number(j, "judged_s");
  r.started_at = maybe_text(j, "started_at");
  r.repeat = boolean(j, "repeat").value_or(false);
  return r;
}

Json stages_json(const std::vector<Stage>& stages) {
  Json list = Json::array();
  for (const Stage& s : stages) {
    list.push_back({{"from", text_or_null(s.from)},
                    {"to", s.to},
                    {"s", s.s},
                    {"kind", s.kind ? Json(capacity::kind_name(*s.kind)) : Json(nullptr)},
                    {"resolution_s", value_or_null(s.resolution_s)}});
  }
  return list;
}

std::vector<Stage> get_stages(const Json& list) {
  std::vector<Stage> stages;
  for (const Json& j : list) {
    stages.push_back({text(j, "from"), text(j, "to"), number(j, "s").value_or(0),
                      capacity::parse_stage_kind(text(j, "kind")), number(j, "resolution_s")});
  }
  return stages;
}

Json checks_json(const std::vector<Check>& checks) {
  Json list = Json::array();
  for (const Check& c : checks) {
    list.push_back({{"id", c.id},
                    {"level", c.level},
                    {"found", text_or_null(c.found)},
                    {"wanted", text_or_null(c.wanted)},
                    {"remedy", text_or_null(c.remedy)}});
  }
  return list;
}

QmaxArtifact get_qmax(const Json& j) {
  QmaxArtifact a;
  a.header = get_header(j);
  a.method = text(j, "method");
  a.slo_ms = *number(j, "slo_ms");
  a.transport = text(j, "transport");
  for (const Json& r : field(j, "rungs")) a.rungs.push_back(get_rung(r));
  // What a file made by hand leaves out follows from its rungs.
  a.result = capacity::evaluate_qmax(a.rungs, a.slo_ms);
  a.result.q_max = whole(j, "q_max");
  if (const auto verdict = capacity::parse_qmax_verdict(text(j, "verdict"))) a.result.verdict = *verdict;
  if (j.contains("q_max_estimate")) a.result.q_max_estimate = number(j, "q_max_estimate");
  if (j.contains("q_max_interval")) a.result.q_max_interval = get_interval(j, "q_max_interval");
  if (j.contains("first_fail")) a.result.first_fail = whole(j, "first_fail");
  if (const auto method = maybe_text(j, "interval_method")) a.result.interval_method = *method;
  if (const auto sentence = maybe_text(j, "sentence")) a.result.sentence = *sentence;
  a.knee_n = j.contains("knee_n") ? whole(j, "knee_n") : capacity::knee(a.rungs);
  a.knee_sentence = text(j, "knee_sentence");
  const Json& unqueued = field(j, "unqueued");
  a.unqueued = {number(unqueued, "mean_ms"), number(unqueued, "p95_ms"), {}};
  for (const Json& ms : field(unqueued, "sample_ms")) a.unqueued.sample_ms.push_back(ms.get<double>());
  const Json& calibration = field(j, "calibration");
  a.calibration.ratio =
      calibration.is_object() ? number(calibration, "ratio") : capacity::calibration_ratio(a.rungs);
  if (calibration.is_object()) {
    a.calibration.metric = text(calibration, "metric");
    a.calibration.note = text(calibration, "note");
  }
  for (const Json& r : field(j, "runs"))
    a.runs.push_back(
        {whole(r, "q_max"), capacity::parse_qmax_verdict(text(r, "verdict")), get_interval(r, "interval")});
  a.runs_spread = number(j, "runs_spread");
  a.duration_s = number(j, "duration_s");
  a.noise_ratio = number(j, "noise_ratio");
  a.scatter = number(j, "scatter");
  a.host_contended = boolean(j, "host_contended");
  a.paced_engine = boolean(j, "paced_engine");
  a.server_queue_limit = whole(j, "server_queue_limit");
  return a;
}

TtotalArtifact get_ttotal(const Json& j) {
  TtotalArtifact a;
  a.header = get_header(j);
  a.transport = text(j, "transport");
  if (const Json& stages = field(j, "stages"); stages.is_object()) {
    a.stages.before_clock = get_stages(field(stages, "before_clock"));
    a.stages.measured = get_stages(field(stages, "measured"));
    a.stages.after_recovery = get_stages(field(stages, "after_recovery"));
  }
  a.measured_total_s = number(j, "measured_total_s");
  a.stages.measured_total_s = a.measured_total_s;
  a.policy_lag_bound_s = number(j, "policy_lag_bound_s");
  a.policy_lag_measured_s = number(j, "policy_lag_measured_s");
  a.total_s = number(j, "total_s");
  for (const Json& r : field(j, "runs")) a.runs_s.push_back(number(r, "measured_total_s"));
  a.runs_spread = number(j, "runs_spread");
  a.lag_source = text(j, "lag_source");
  a.load_l = whole(j, "load_l");
  a.recover_factor = number(j, "recover_factor");
  a.hold_s = number(j, "hold_s");
  a.baseline_p95_ms = number(j, "baseline_p95_ms");
  a.host_contended = boolean(j, "host_contended");
  a.paced_engine = boolean(j, "paced_engine");
  a.client_bound = maybe_text(j, "client_bound");
  a.new_instance = maybe_text(j, "new_instance");
  return a;
}

}  // namespace

base::Result<std::string> to_json_text(const QmaxArtifact& a) {
  Json j;
  put_header(j, "qmax", a.header);
  j["method"] = text_or_null(a.method);
  j["slo_ms"] = a.slo_ms;
  j["transport"] = text_or_null(a.transport);
  j["q_max"] = value_or_null(a.result.q_max);
  j["q_max_estimate"] = value_or_null(a.result.q_max_estimate);
  j["q_max_interval"] = interval_json(a.result.q_max_interval);
  j["interval_method"] = a.result.interval_method;
  j["first_fail"] = value_or_null(a.result.first_fail);
  j["verdict"] = capacity::verdict_name(a.result.verdict);
  j["sentence"] = text_or_null(a.result.sentence);
  j["knee_n"] = value_or_null(a.knee_n);
  j["knee_sentence"] = text_or_null(a.knee_sentence);
  j["unqueued"] = {{"mean_ms", value_or_null(a.unqueued.mean_ms)},
                   {"p95_ms", value_or_null(a.unqueued.p95_ms)},
                   {"sample_ms", a.unqueued.sample_ms}};
  j["calibration"] = {{"ratio", value_or_null(a.calibration.ratio)},
                      {"metric", a.calibration.metric},
                      {"note", text_or_null(a.calibration.note)}};
  j["rungs"] = Json::array();
  for (const Rung& r : a.rungs) j["rungs"].push_back(rung_json(r));
  j["runs"] = Json::array();
  for (const RunResult& r : a.runs) {
    j["runs"].push_back({{"q_max", value_or_null(r.q_max)},
                         {"verdict", r.verdict ? Json(capacity::verdict_name(*r.verdict)) : Json(nullptr)},
                         {"interval", interval_json(r.interval)}});
  }
  j["runs_spread"] = value_or_null(a.runs_spread);
  j["duration_s"] = value_or_null(a.duration_s);
  j["noise_ratio"] = value_or_null(a.noise_ratio);
  j["scatter"] = value_or_null(a.scatter);
  j["host_contended"] = value_or_null(a.host_contended);
  j["paced_engine"] = value_or_null(a.paced_engine);
  j["server_queue_limit"] = value_or_null(a.server_queue_limit);
  return render(j, "qmax");
}

base::Result<std::string> to_json_text(const TtotalArtifact& a) {
  Json j;
  put_header(j, "ttotal", a.header);
  j["transport"] = text_or_null(a.transport);
  j["stages"] = {{"before_clock", stages_json(a.stages.before_clock)},
                 {"measured", stages_json(a.stages.measured)},
                 {"after_recovery", stages_json(a.stages.after_recovery)}};
  j["measured_total_s"] = value_or_null(a.measured_total_s);
  j["policy_lag_bound_s"] = value_or_null(a.policy_lag_bound_s);
  j["policy_lag_measured_s"] = value_or_null(a.policy_lag_measured_s);
  j["total_s"] = value_or_null(a.total_s);
  j["runs"] = Json::array();
  for (const auto& total : a.runs_s) j["runs"].push_back({{"measured_total_s", value_or_null(total)}});
  j["runs_spread"] = value_or_null(a.runs_spread);
  j["lag_source"] = text_or_null(a.lag_source);
  j["load_l"] = value_or_null(a.load_l);
  j["recover_factor"] = value_or_null(a.recover_factor);
  j["hold_s"] = value_or_null(a.hold_s);
  j["baseline_p95_ms"] = value_or_null(a.baseline_p95_ms);
  j["host_contended"] = value_or_null(a.host_contended);
  j["paced_engine"] = value_or_null(a.paced_engine);
  j["client_bound"] = value_or_null(a.client_bound);
  j["new_instance"] = value_or_null(a.new_instance);
  return render(j, "ttotal");
}

base::Result<std::string> to_json_text(const ValidateArtifact& a) {
  Json j;
  put_header(j, "validate", a.header);
  j["plan_file"] = text_or_null(a.plan_file);
  j["checks"] = checks_json(a.checks);
  j["verdict"] = a.verdict;
  return render(j, "validate");
}

base::Result<std::string> to_json_text(const DriftArtifact& a) {
  Json j;
  put_header(j, "drift", a.header);
  j["checks"] = checks_json(a.checks);
  j["verdict"] = a.verdict;
  return render(j, "drift");
}

base::Result<QmaxArtifact> parse_qmax(const std::string& text, const std::string& name) {
  const auto j = load(text, name, "qmax");
  if (!j) return tl::unexpected(j.error());
  return guarded_read(name, [&] { return get_qmax(*j); });
}

base::Result<TtotalArtifact> parse_ttotal(const std::string& text, const std::string& name) {
  const auto j = load(text, name, "ttotal");
  if (!j) return tl::unexpected(j.error());
  return guarded_read(name, [&] { return get_ttotal(*j); });
}

base::Result<QmaxArtifact> read_qmax(const std::string& path) {
  const auto text = read_artifact_file(path, "qmax");
  if (!text) return tl::unexpected(text.error());
  return parse_qmax(*text, path);
}

base::Result<TtotalArtifact> read_ttotal(const std::string& path) {
  const auto text = read_artifact_file(path, "ttotal");
  if (!text) return tl::unexpected(text.error());
  return parse_ttotal(*text, path);
}

}  // namespace headroom::artifact
