// Look-ups in the world, and its saved form.
#include "cloud/world.hpp"

#include <random>

#include <fmt/format.h>

namespace headroom::cloud {
namespace {

constexpr int kStateVersion = 1;

Json save_variants(const std::vector<Variant>& variants) {
  Json out = Json::array();
  for (const Variant& v : variants) {
    out.push_back({{"name", v.name},
                   {"model", v.model},
                   {"instance_type", v.instance_type},
                   {"desired", v.desired},
                   {"weight", v.weight},
                   {"desired_weight", v.desired_weight},
                   {"least_outstanding", v.least_outstanding},
                   {"startup_timeout_s", v.startup_timeout_s},
                   {"manifest_digest", v.manifest_digest}});
  }
  return out;
}

void save_instances(const std::vector<Instance>& instances, Json& out) {
  for (const Instance& i : instances) {
    if (i.pid > 0 && !i.exited) out.push_back({{"id", i.id}, {"pid", i.pid}, {"started", i.pid_started}});
  }
}

Json save_endpoint(const Endpoint& endpoint) {
  Json instances = Json::array();
  save_instances(endpoint.instances, instances);
  Json out{{"name", endpoint.name},
           {"config", endpoint.config},
           {"status", endpoint.status},
           {"failure_reason", endpoint.failure_reason},
           {"created", epoch_seconds(endpoint.created)},
           {"modified", epoch_seconds(endpoint.modified)},
           {"variants", save_variants(endpoint.variants)},
           {"last_deployment", endpoint.last_deployment}};
  if (endpoint.pending) {
    out["pending"] = {{"config", endpoint.pending->config},
                      {"variants", save_variants(endpoint.pending->variants)},
                      {"settings", endpoint.pending->settings},
                      {"started", epoch_seconds(endpoint.pending->started)}};
    save_instances(endpoint.pending->instances, instances);
  }
  out["instances"] = std::move(instances);
  return out;
}

std::vector<Variant> load_variants(const Json& saved) {
  std::vector<Variant> out;
  for (const Json& v : saved) {
    Variant variant;
    variant.name = v.at("name");
    variant.model = v.at("model");
    variant.instance_type = v.at("instance_type");
    variant.desired = v.at("desired");
    variant.weight = v.at("weight");
    variant.desired_weight = v.at("desired_weight");
    variant.least_outstanding = v.at("least_outstanding");
    variant.startup_timeout_s = v.at("startup_timeout_s");
    variant.manifest_digest = v.value("manifest_digest", "");
    out.push_back(std::move(variant));
  }
  return out;
}

Endpoint load_endpoint(const Json& saved, std::vector<Orphan>& orphans) {
  Endpoint endpoint;
  endpoint.name = saved.at("name");
  endpoint.config = saved.at("config");
  endpoint.status = saved.at("status");
  endpoint.failure_reason = saved.at("failure_reason");
  endpoint.created = from_epoch_seconds(saved.at("created"));
  endpoint.modified = from_epoch_seconds(saved.at("modified"));
  if (endpoint.status == "InService") endpoint.status = "Updating";  // its instances start anew
  endpoint.variants = load_variants(saved.at("variants"));
  endpoint.last_deployment = saved.value("last_deployment", Json());
  if (const auto pending = saved.find("pending"); pending != saved.end()) {
    endpoint.pending = Deployment{pending->at("config"),
                                  load_variants(pending->at("variants")),
                                  {},
                                  pending->at("settings"),
                                  from_epoch_seconds(pending->at("started"))};
  }
  for (const Json& i : saved.at("instances")) orphans.push_back({i.at("pid"), i.at("started")});
  return endpoint;
}

}  // namespace

std::string World::arn(std::string_view service, std::string_view resource) const {
  return fmt::format("arn:aws:{}:{}:{}:{}", service, settings.region, settings.account, resource);
}

Variant* World::variant(const std::string& endpoint, const std::string& name) {
  const auto it = endpoints.find(endpoint);
  if (it == endpoints.end()) return nullptr;
  for (Variant& v : it->second.variants) {
    if (v.name == name) return &v;
  }
  return nullptr;
}

Instance* World::instance(const std::string& endpoint, const std::string& id) {
  const auto it = endpoints.find(endpoint);
  if (it == endpoints.end()) return nullptr;
  for (Instance& i : it->second.instances) {
    if (i.id == id) return &i;
  }
  if (!it->second.pending) return nullptr;
  for (Instance& i : it->second.pending->instances) {
    if (i.id == id) return &i;
  }
  return nullptr;
}

int World::desired_instances() const {
  int sum = 0;
  for (const auto& [name, endpoint] : endpoints) {
    if (endpoint.status == "Failed" || endpoint.status == "Deleting") continue;
    for (const Variant& v : endpoint.variants) sum += v.desired;
    if (!endpoint.pending) continue;
    for (const Variant& v : endpoint.pending->variants) sum += v.desired;
  }
  return sum;
}

int count_in_state(const Endpoint& endpoint, const std::string& variant, InstanceState state) {
  int count = 0;
  for (const Instance& i : endpoint.instances) count += i.variant == variant && i.state == state ? 1 : 0;
  return count;
}

std::string model_environment(const World& world, const std::string& model, const std::string& name) {
  const auto it = world.models.find(model);
  if (it == world.models.end()) return "";
  const Json& stored = it->second;
  if (!stored.contains("PrimaryContainer")) return "";
  const Json environment = stored["PrimaryContainer"].value("Environment", Json::object());
  return environment.value(name, "");
}

std::string random_hex(std::size_t digits) {
  static thread_local std::mt19937_64 engine{std::random_device{}()};
  std::string out;
  while (out.size() < digits) out += fmt::format("{:016x}", engine());
  out.resize(digits);
  return out;
}

std::string random_uuid() {
  const std::string h = random_hex(32);
  return fmt::format("{}-{}-4{}-a{}-{}", h.substr(0, 8), h.substr(8, 4), h.substr(13, 3), h.substr(17, 3),
                     h.substr(20));
}

std::string endpoint_log_group(const std::string& endpoint) { return "/aws/sagemaker/Endpoints/" + endpoint; }
std::string log_stream_name(const Instance& instance) { return instance.variant + "/" + instance.id; }

Json save_world(const World& world) {
  Json endpoints = Json::array();
  for (const auto& [name, endpoint] : world.endpoints) endpoints.push_back(save_endpoint(endpoint));
  return {{"schema", "headroom/local-cloud"},
          {"version", kStateVersion},
          {"models", world.models},
          {"configs", world.configs},
          {"endpoints", endpoints},
          {"tags", world.tags},
          {"targets", world.targets},
          {"policies", world.policies},
          {"activities", world.activities},
          {"alarms", world.alarms},
          {"scaling", save_scaling(world.scaling, world.settings.fast)}};
}

base::Result<std::vector<Orphan>> load_world(const Json& saved, World& world) {
  std::vector<Orphan> orphans;
  try {
    if (saved.at("schema") != "headroom/local-cloud" || saved.at("version") != kStateVersion)
      return base::fail(base::ErrorCode::kInvalidData,
                        "the state is of another version; start with another --state folder");
    saved.at("models").get_to(world.models);
    saved.at("configs").get_to(world.configs);
    saved.at("tags").get_to(world.tags);
    saved.at("targets").get_to(world.targets);
    saved.at("policies").get_to(world.policies);
    saved.at("activities").get_to(world.activities);
    saved.at("alarms").get_to(world.alarms);
    if (saved.contains("scaling")) load_scaling(saved["scaling"], world.settings.fast, world.scaling);
    for (const Json& e : saved.at("endpoints")) {
      Endpoint endpoint = load_endpoint(e, orphans);
      world.endpoints.emplace(endpoint.name, std::move(endpoint));
    }
  } catch (const Json::exception& e) {
    return base::fail(base::ErrorCode::kInvalidData, fmt::format("the state cannot be read: {}", e.what()));
  }
  return orphans;
}

}  // namespace headroom::cloud
