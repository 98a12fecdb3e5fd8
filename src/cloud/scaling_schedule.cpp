// Scheduled actions: operations and the round.
#include "cloud/scaling_schedule.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "capacity/schedule_rules.hpp"
#include "cloud/scaling.hpp"
#include "cloud/scaling_zone.hpp"

namespace headroom::cloud {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr const char* kDimension = "sagemaker:variant:DesiredInstanceCount";

std::vector<Json>::iterator find_action(World& world, const std::string& name, const std::string& resource) {
  return std::find_if(world.scaling.scheduled.begin(), world.scaling.scheduled.end(),
                      [&](const Json& action) {
                        return action["ScheduledActionName"] == name && action["ResourceId"] == resource;
                      });
}

Json read_bounds(Fields& fields) {
  Json out = Json::object();
  if (!fields.has("ScalableTargetAction")) return out;
  Fields row(fields.object("ScalableTargetAction"), "scalableTargetAction.");
  for (const char* key : {"MinCapacity", "MaxCapacity"}) {
    if (const auto count = row.maybe_integer(key, 0, 10'000)) out[key] = *count;
  }
  if (row.ok() && out.contains("MinCapacity") && out.contains("MaxCapacity") &&
      out["MinCapacity"].get<int>() > out["MaxCapacity"].get<int>())
    row.refuse("MinCapacity", "Member must not be above MaxCapacity");
  fields.take(row);
  return out;
}

Result<void> check_schedule(const std::string& schedule, const std::string& zone, base::WallTime now) {
  const auto parsed = capacity::parse_schedule(schedule);
  if (!parsed)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("Invalid schedule expression {}: {}", schedule, parsed.error().message));
  const auto known = TimeZone::load(zone, now);
  if (!known) return fail(ErrorCode::kInvalidArgument, known.error().message);
  return {};
}

// Whether a run lies between what has run and now.
bool is_due(const World& world, const Json& action, double after_s, double now_s) {
  const auto schedule = capacity::parse_schedule(action.at("Schedule"));
  const auto zone = TimeZone::load(action.value("Timezone", "UTC"), from_epoch_seconds(now_s));
  if (!schedule || !zone) return false;
  if (action.contains("EndTime") && now_s > action["EndTime"].get<double>()) return false;
  const double from = action.value("StartTime", action.at("CreationTime").get<double>());
  after_s = std::max(after_s, std::nextafter(from, 0.0));
  std::optional<std::int64_t> at;
  if (schedule->kind == capacity::Schedule::Kind::kRate) {
    const double every = static_cast<double>(schedule->every_s) / world.settings.fast;
    const double next = after_s < from ? from : from + (std::floor((after_s - from) / every) + 1) * every;
    if (next <= now_s) at = static_cast<std::int64_t>(next);
  } else {
    at = capacity::next_run(*schedule, static_cast<std::int64_t>(std::floor(after_s)), 0,
                            [&](std::int64_t utc) { return zone->offset_s(utc); });
  }
  return at && static_cast<double>(*at) <= now_s;
}

bool carry_out(World& world, const Json& action, base::WallTime now) {
  const std::string resource = action.at("ResourceId");
  const auto target = world.targets.find(resource);
  if (target == world.targets.end() ||
      target->second["SuspendedState"].value("ScheduledScalingSuspended", false))
    return false;
  const Json& wanted = action.at("ScalableTargetAction");
  Json& known = target->second;
  copy_members(wanted, known, {"MinCapacity", "MaxCapacity"});
  // One bound alone moves the other along where it must.
  if (known["MinCapacity"].get<int>() > known["MaxCapacity"].get<int>())
    known[wanted.contains("MinCapacity") ? "MaxCapacity" : "MinCapacity"] =
        known[wanted.contains("MinCapacity") ? "MinCapacity" : "MaxCapacity"];
  add_activity(
      world, resource, now,
      fmt::format("Setting min capacity to {} and max capacity to {}", known["MinCapacity"].get<int>(),
                  known["MaxCapacity"].get<int>()),
      fmt::format("scheduled action name {} was triggered", action["ScheduledActionName"].get<std::string>()),
      "Successful",
      fmt::format("Successfully set min capacity to {} and max capacity to {}",
                  known["MinCapacity"].get<int>(), known["MaxCapacity"].get<int>()));
  return true;
}

}  // namespace

Result<Json> put_scheduled_action(Api& api, const Json& in) {
  Fields fields(in);
  fields.choice("ServiceNamespace", {"sagemaker"});
  const std::string name = fields.text("ScheduledActionName", 256),
                    resource = fields.text("ResourceId", 1600);
  fields.choice("ScalableDimension", {kDimension});
  const auto schedule = fields.maybe_text("Schedule", 1600), zone = fields.maybe_text("Timezone", 1600);
  const auto start = fields.maybe_time("StartTime"), end = fields.maybe_time("EndTime");
  const Json bounds = read_bounds(fields);
  if (!fields.ok()) return fields.failure();
  if (api.world.targets.count(resource) == 0)
    return fail(ErrorCode::kNotFound, fmt::format("No scalable target found for resource ID: {}", resource));
  const auto known = find_action(api.world, name, resource);
  const bool fresh = known == api.world.scaling.scheduled.end();
  Json action = fresh ? Json{{"ScheduledActionName", name},
                             {"ServiceNamespace", "sagemaker"},
                             {"ResourceId", resource},
                             {"ScalableDimension", kDimension},
                             {"CreationTime", epoch_seconds(api.now)}}
                      : *known;
  if (schedule) action["Schedule"] = *schedule;
  if (zone) action["Timezone"] = *zone;
  if (start) action["StartTime"] = epoch_seconds(*start);
  if (end) action["EndTime"] = epoch_seconds(*end);
  if (!bounds.empty()) action["ScalableTargetAction"] = bounds;
  if (!action.contains("Schedule") || !action.contains("ScalableTargetAction"))
    return fail(ErrorCode::kInvalidArgument,
                "Schedule and ScalableTargetAction are required for a new scheduled action");
  if (const auto fine = check_schedule(action["Schedule"], action.value("Timezone", "UTC"), api.now); !fine)
    return tl::unexpected(fine.error());
  if (fresh)
    action["ScheduledActionARN"] = fmt::format(
        "arn:aws:autoscaling:{}:{}:scheduledAction:{}:resource/sagemaker/{}:scheduledActionName/{}",
        api.world.settings.region, api.world.settings.account, random_uuid(), resource, name);
  api.world.scaling.scheduled_after[action["ScheduledActionARN"]] = epoch_seconds(api.now);
  if (fresh)
    api.world.scaling.scheduled.push_back(std::move(action));
  else
    *known = std::move(action);
  return Json::object();
}

Result<Json> delete_scheduled_action(Api& api, const Json& in) {
  Fields fields(in);
  fields.choice("ServiceNamespace", {"sagemaker"});
  const std::string name = fields.text("ScheduledActionName", 256),
                    resource = fields.text("ResourceId", 1600);
  fields.choice("ScalableDimension", {kDimension});
  if (!fields.ok()) return fields.failure();
  const auto known = find_action(api.world, name, resource);
  if (known == api.world.scaling.scheduled.end())
    return fail(
        ErrorCode::kNotFound,
        fmt::format("No scheduled action found for resource ID: {}, action name: {}", resource, name));
  api.world.scaling.scheduled_after.erase((*known)["ScheduledActionARN"]);
  api.world.scaling.scheduled.erase(known);
  return Json::object();
}

Result<Json> describe_scheduled_actions(Api& api, const Json& in) {
  Fields fields(in);
  fields.choice("ServiceNamespace", {"sagemaker"});
  const auto names = fields.texts("ScheduledActionNames", 256);
  const auto resource = fields.maybe_text("ResourceId", 1600);
  fields.maybe_choice("ScalableDimension", {kDimension});
  const auto limit = fields.maybe_integer("MaxResults", 1, 50).value_or(50);
  const auto token = fields.maybe_text("NextToken");
  if (!fields.ok()) return fields.failure();
  std::vector<Json> rows;
  for (const Json& action : api.world.scaling.scheduled) {
    const bool named = std::find(names.begin(), names.end(),
                                 action["ScheduledActionName"].get<std::string>()) != names.end();
    if ((!resource || action["ResourceId"] == *resource) && (names.empty() || named)) rows.push_back(action);
  }
  const auto page = paginate(rows.size(), limit, token);
  if (!page) return fail(ErrorCode::kInvalidArgument, page.error().message, "InvalidNextTokenException");
  Json out{{"ScheduledActions", Json::array()}};
  for (std::size_t i = page->begin; i < page->end; ++i) out["ScheduledActions"].push_back(rows[i]);
  if (!page->next_token.empty()) out["NextToken"] = page->next_token;
  return out;
}

bool run_scheduled_actions(World& world, base::WallTime now) {
  bool changed = false;
  const double now_s = epoch_seconds(now);
  for (const Json& action : world.scaling.scheduled) {
    double& after = world.scaling.scheduled_after[action.at("ScheduledActionARN")];
    // Once a second is often enough, and a cron line is not worked out at every look.
    if (now_s - after < 1) continue;
    const bool due = is_due(world, action, after, now_s);
    after = now_s;
    if (due) changed = carry_out(world, action, now) || changed;
  }
  return changed;
}

}  // namespace headroom::cloud
