// simulate.json, with timelines thinned to what a picture needs.
#include <algorithm>
#include <cmath>

#include "artifact/json_fields.hpp"
#include "artifact/simulate.hpp"

namespace headroom::artifact {
namespace {

constexpr std::size_t kMostPoints = 400;

Json timeline_json(const Timeline& t) {
  if (t.offered_rps.empty()) return nullptr;
  return {{"step_s", t.step_s},
          {"offered_rps", t.offered_rps},
          {"in_service", t.in_service},
          {"desired", t.desired},
          {"bad_rps", t.bad_rps}};
}

Timeline get_timeline(const Json& j) {
  Timeline t;
  if (!j.is_object()) return t;
  const auto list = [&](const char* key) {
    const Json& values = field(j, key);
    return values.is_array() ? values.get<std::vector<double>>() : std::vector<double>{};
  };
  t.step_s = number(j, "step_s").value_or(0);
  t.offered_rps = list("offered_rps");
  t.in_service = list("in_service");
  t.desired = list("desired");
  t.bad_rps = list("bad_rps");
  return t;
}

Json row_json(const SimulatedRow& r) {
  return {{"name", r.row.name},
          {"min_instances", r.row.min_instances},
          {"max_instances", r.row.max_instances},
          {"most", r.row.most},
          {"share_within_slo", value_or_null(r.row.share_within_slo)},
          {"share_refused", value_or_null(r.row.share_refused)},
          {"share_late", value_or_null(r.row.share_late)},
          {"p95_ms", value_or_null(r.row.p95_ms)},
          {"instance_hours", r.row.instance_hours},
          {"vs_clairvoyant", value_or_null(r.row.vs_clairvoyant)},
          {"cost_usd", value_or_null(r.cost_usd)},
          {"scale_outs", r.row.scale_outs},
          {"scale_ins", r.row.scale_ins},
          {"turns_per_hour", r.row.turns_per_hour},
          {"timeline", timeline_json(r.timeline)}};
}

SimulatedRow get_row(const Json& j) {
  SimulatedRow r;
  r.row.name = text(j, "name");
  r.row.min_instances = whole(j, "min_instances").value_or(0);
  r.row.max_instances = whole(j, "max_instances").value_or(0);
  r.row.most = whole(j, "most").value_or(0);
  r.row.share_within_slo = number(j, "share_within_slo");
  r.row.share_refused = number(j, "share_refused");
  r.row.share_late = number(j, "share_late");
  r.row.p95_ms = number(j, "p95_ms");
  r.row.instance_hours = number(j, "instance_hours").value_or(0);
  r.row.vs_clairvoyant = number(j, "vs_clairvoyant");
  r.cost_usd = number(j, "cost_usd");
  r.row.scale_outs = whole(j, "scale_outs").value_or(0);
  r.row.scale_ins = whole(j, "scale_ins").value_or(0);
  r.row.turns_per_hour = number(j, "turns_per_hour").value_or(0);
  r.timeline = get_timeline(field(j, "timeline"));
  return r;
}

}  // namespace

Timeline thinned(const std::vector<capacity::SimBucket>& buckets) {
  Timeline t;
  if (buckets.empty()) return t;
  const std::size_t each = (buckets.size() + kMostPoints - 1) / kMostPoints;
  t.step_s = static_cast<double>(each) * capacity::kSimPeriodS;
  const auto rounded = [](double value) { return std::round(value * 1000) / 1000; };
  for (std::size_t from = 0; from < buckets.size(); from += each) {
    const std::size_t to = std::min(buckets.size(), from + each);
    const double seconds = static_cast<double>(to - from) * capacity::kSimPeriodS;
    double sum = 0, lost = 0;
    for (std::size_t i = from; i < to; ++i) {
      sum += buckets[i].offered;
      lost += buckets[i].refused + buckets[i].late;
    }
    t.offered_rps.push_back(rounded(sum / seconds));
    t.bad_rps.push_back(rounded(lost / seconds));
    t.in_service.push_back(buckets[to - 1].in_service);
    t.desired.push_back(buckets[to - 1].desired);
  }
  return t;
}

base::Result<std::string> to_json_text(const SimulateArtifact& a) {
  Json j;
  put_header(j, "simulate", a.header);
  j["load"] = {{"name", a.load.name},
               {"duration_s", a.load.duration_s},
               {"offered", a.load.offered},
               {"mean_rps", value_or_null(a.load.mean_rps)},
               {"peak_rps", value_or_null(a.load.peak_rps)},
               {"trough_rps", value_or_null(a.load.trough_rps)},
               {"growth", value_or_null(a.load.growth)},
               {"clairvoyant_hours", value_or_null(a.load.clairvoyant_hours)}};
  j["instance"] = {{"throughput_rps", a.throughput_rps},
                   {"workers", a.workers},
                   {"service_ms", a.service_ms},
                   {"queue_limit", a.queue_limit},
                   {"start_s", a.start_s}};
  j["slo_ms"] = a.slo_ms;
  j["horizon_s"] = a.horizon_s;
  j["seed"] = a.seed;
  j["rows"] = Json::array();
  for (const SimulatedRow& row : a.rows) j["rows"].push_back(row_json(row));
  return render(j, "simulate");
}

base::Result<SimulateArtifact> parse_simulate(const std::string& content, const std::string& name) {
  const auto j = load(content, name, "simulate");
  if (!j) return tl::unexpected(j.error());
  return guarded_read(name, [&] {
    SimulateArtifact a;
    a.header = get_header(*j);
    const Json& load = field(*j, "load");
    a.load.name = text(load, "name");
    a.load.duration_s = number(load, "duration_s").value_or(0);
    a.load.offered = static_cast<std::uint64_t>(number(load, "offered").value_or(0));
    a.load.mean_rps = number(load, "mean_rps");
    a.load.peak_rps = number(load, "peak_rps");
    a.load.trough_rps = number(load, "trough_rps");
    a.load.growth = number(load, "growth");
    a.load.clairvoyant_hours = number(load, "clairvoyant_hours");
    if (const Json& instance = field(*j, "instance"); instance.is_object()) {
      a.throughput_rps = number(instance, "throughput_rps").value_or(0);
      a.workers = whole(instance, "workers").value_or(1);
      a.service_ms = number(instance, "service_ms").value_or(0);
      a.queue_limit = whole(instance, "queue_limit").value_or(0);
      a.start_s = number(instance, "start_s").value_or(0);
    }
    a.slo_ms = number(*j, "slo_ms").value_or(0);
    a.horizon_s = number(*j, "horizon_s").value_or(0);
    a.seed = whole(*j, "seed").value_or(0);
    for (const Json& row : field(*j, "rows")) a.rows.push_back(get_row(row));
    return a;
  });
}

base::Result<SimulateArtifact> read_simulate(const std::string& path) {
  const auto content = read_artifact_file(path, "simulate");
  if (!content) return tl::unexpected(content.error());
  return parse_simulate(*content, path);
}

}  // namespace headroom::artifact
