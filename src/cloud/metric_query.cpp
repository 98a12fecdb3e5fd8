// Reading of metrics, periods and metric data queries.
#include "cloud/metric_query.hpp"

namespace headroom::cloud {

MetricKey read_metric(Fields& fields) {
  std::string metric_namespace = fields.text("Namespace", 255);
  std::string name = fields.text("MetricName", 255);
  std::vector<std::pair<std::string, std::string>> dimensions;
  const Json& list = fields.maybe_list("Dimensions");
  if (list.size() > 30) fields.refuse("Dimensions", "Member must have at most 30 elements");
  for (const Json& dimension : list) {
    Fields row(dimension, "Dimensions.member.");
    dimensions.emplace_back(row.text("Name", 255), row.text("Value", 1024));
    fields.take(row);
  }
  return make_key(std::move(metric_namespace), std::move(name), std::move(dimensions));
}

Json metric_json(const MetricKey& key) {
  Json dimensions = Json::array();
  for (const auto& [name, value] : key.dimensions) dimensions.push_back({{"Name", name}, {"Value", value}});
  return {{"Namespace", key.metric_namespace}, {"MetricName", key.name}, {"Dimensions", dimensions}};
}

std::int64_t read_period(Fields& fields, const char* key) {
  const std::int64_t period = fields.integer(key, 1, 86'400);
  const bool known =
      period == 1 || period == 5 || period == 10 || period == 20 || period == 30 || period % 60 == 0;
  if (fields.ok() && !known) fields.refuse(key, "Member must be 1, 5, 10, 20, 30 or a multiple of 60");
  return period;
}

Json read_metric_query(const Json& in, Fields& outer) {
  Fields fields(in, "MetricDataQueries.member.");
  Json out{{"Id", fields.text("Id", 255)}};
  if (const auto label = fields.maybe_text("Label")) out["Label"] = *label;
  if (const auto wanted = fields.maybe_flag("ReturnData")) out["ReturnData"] = *wanted;
  if (fields.has("Period")) out["Period"] = read_period(fields, "Period");
  if (fields.has("MetricStat") == fields.has("Expression")) {
    fields.refuse("MetricStat", "Exactly one of MetricStat and Expression must be given");
  } else if (fields.has("Expression")) {
    out["Expression"] = fields.text("Expression", 2048);
  } else {
    Fields stat(fields.object("MetricStat"), "MetricStat.");
    Fields metric(stat.object("Metric"), "MetricStat.Metric.");
    const MetricKey key = read_metric(metric);
    stat.take(metric);
    const std::string statistic = stat.text("Stat", 64);
    if (stat.ok() && !parse_statistic(statistic))
      stat.refuse("Stat", "Member must be Average, Sum, Minimum, Maximum, SampleCount or pNN");
    out["MetricStat"] = {
        {"Metric", metric_json(key)}, {"Period", read_period(stat, "Period")}, {"Stat", statistic}};
    if (const auto unit = stat.maybe_text("Unit", 64)) out["MetricStat"]["Unit"] = *unit;
    fields.take(stat);
  }
  outer.take(fields);
  return out;
}

}  // namespace headroom::cloud
