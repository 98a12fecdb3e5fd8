// Header, fingerprint and counts as JSON.
#include "artifact/json_fields.hpp"

namespace headroom::artifact {
namespace {

Json text_map(const std::map<std::string, std::string>& map) {
  Json j = Json::object();
  for (const auto& [key, value] : map) j[key] = value;
  return j;
}

std::map<std::string, std::string> get_text_map(const Json& j) {
  std::map<std::string, std::string> map;
  if (!j.is_object()) return map;
  for (const auto& [key, value] : j.items()) {
    if (value.is_string()) map[key] = value.get<std::string>();
  }
  return map;
}

}  // namespace

void put_counts(Json& j, const capacity::Counts& c) {
  j["started"] = c.started;
  j["ok"] = c.ok;
  j["rejected"] = c.rejected;
  j["failed"] = c.failed;
  j["timed_out"] = c.timed_out;
  j["aborted"] = c.aborted;
}

std::optional<capacity::Counts> get_counts(const Json& j) {
  if (!j.is_object() || !field(j, "started").is_number()) return std::nullopt;
  const auto count = [&](const char* key) -> std::uint64_t {
    const Json& v = field(j, key);
    return v.is_number() ? static_cast<std::uint64_t>(v.get<double>()) : 0;
  };
  return capacity::Counts{count("started"), count("ok"),        count("rejected"),
                          count("failed"),  count("timed_out"), count("aborted")};
}

void put_header(Json& j, const char* schema, const Header& h) {
  j["schema"] = std::string("headroom/") + schema;
  j["version"] = 1;
  j["created"] = text_or_null(h.created);
  j["tool_version"] = text_or_null(h.tool_version);
  j["run_id"] = text_or_null(h.run_id);
  j["account"] = value_or_null(h.account);
  j["region"] = value_or_null(h.region);
  j["endpoint_url"] = value_or_null(h.endpoint_url);
  const Fingerprint& f = h.fingerprint;
  j["fingerprint"] = {
      {"endpoint", value_or_null(f.endpoint)},           {"variant", value_or_null(f.variant)},
      {"instance_type", value_or_null(f.instance_type)}, {"image_digest", value_or_null(f.image_digest)},
      {"transport", value_or_null(f.transport)},         {"workload_hash", value_or_null(f.workload_hash)},
      {"environment", text_map(f.environment)}};
  j["settings"] = Json::array();
  for (const base::Setting& s : h.settings)
    j["settings"].push_back({{"name", s.name}, {"value", s.value}, {"source", s.source}});
  j["effective"] = text_map(h.effective);
  j["notes"] = h.notes;
  if (h.counts) {
    put_counts(j["counts"], *h.counts);
  } else {
    j["counts"] = nullptr;
  }
}

Header get_header(const Json& j) {
  Header h;
  h.created = text(j, "created");
  h.tool_version = text(j, "tool_version");
  h.run_id = text(j, "run_id");
  h.account = maybe_text(j, "account");
  h.region = maybe_text(j, "region");
  h.endpoint_url = maybe_text(j, "endpoint_url");
  if (const Json& f = field(j, "fingerprint"); f.is_object()) {
    h.fingerprint = {maybe_text(f, "endpoint"),
                     maybe_text(f, "variant"),
                     maybe_text(f, "instance_type"),
                     maybe_text(f, "image_digest"),
                     maybe_text(f, "transport"),
                     maybe_text(f, "workload_hash"),
                     get_text_map(field(f, "environment"))};
  }
  // The transport is also a named result of its own; files made by hand may have it only there.
  if (!h.fingerprint.transport) h.fingerprint.transport = maybe_text(j, "transport");
  for (const Json& s : field(j, "settings"))
    h.settings.push_back({text(s, "name"), text(s, "value"), text(s, "source")});
  h.effective = get_text_map(field(j, "effective"));
  for (const Json& note : field(j, "notes")) h.notes.push_back(note.get<std::string>());
  h.counts = get_counts(field(j, "counts"));
  return h;
}

}  // namespace headroom::artifact
