// Endpoint, freeze, container, quota, orphans: everything but the scaling itself.
#include "bench/drift_rows.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace headroom::bench {
namespace {

// The bounds the count must keep: the target's where there is one, else the model file's.
std::vector<Check> endpoint_rows(const DriftInput& in) {
  std::optional<int> low, high;
  if (in.live.target) {
    low = in.live.target->min_capacity;
    high = in.live.target->max_capacity;
  } else if (in.model_file) {
    low = in.model_file->min_instances;
    high = in.model_file->max_instances;
  }
  return compare_counts(in.live.endpoint, in.deployed.variant, low, high, in.commands);
}

std::vector<Check> freeze_rows(const DriftInput& in) {
  std::vector<Check> out = in.spoilt_freezes;
  const auto row = [&](const std::string& id, const FreezeRecord& record, const std::string& more) {
    out.push_back({id, "ERROR",
                   fmt::format("run {} froze {} at {} instance(s){}", record.run_id,
                               record.variant.empty() ? "the endpoint" : "variant '" + record.variant + "'",
                               record.desired, more),
                   "not frozen", thaw_line(in.commands, record)});
  };
  const std::string alive = in.journal_alive ? ", and still measures: let it end" : "";
  if (in.tag) row("freeze.tag", *in.tag, in.journal && in.journal->run_id == in.tag->run_id ? alive : "");
  if (in.journal && (!in.tag || in.journal->run_id != in.tag->run_id))
    row("freeze.journal", *in.journal, alive);
  if (out.empty()) out.push_back({"freeze", "OK", "no tag, no journal", "", ""});
  return out;
}

std::vector<Check> orphan_rows(const DriftInput& in) {
  std::vector<Check> out;
  for (const Orphan& orphan : in.orphans) {
    std::string what = orphan.target ? "scalable target" : "";
    if (!orphan.policies.empty())
      what += fmt::format("{}policies {}", what.empty() ? "" : " with ", fmt::join(orphan.policies, ", "));
    out.push_back({"orphan " + orphan.resource_id, "WARN", fmt::format("{}, but {}", what, orphan.why),
                   "none",
                   in.commands.aws(fmt::format("application-autoscaling deregister-scalable-target "
                                               "--service-namespace sagemaker --scalable-dimension {} "
                                               "--resource-id {}",
                                               aws::kVariantDimension, orphan.resource_id))});
  }
  return out;
}

}  // namespace

std::vector<Check> drift_container(const DriftInput& in) {
  std::vector<Check> out;
  const bool readable = !in.live.model.name.empty();
  if (in.model_file) {
    const model::ModelFile& wanted = *in.model_file;
    const std::string redeploy = "deploy " + wanted.path + ", or correct the file if the endpoint is right";
    if (!wanted.instance_type.empty() && !in.live.config.instance_type.empty()) {
      const bool equal = wanted.instance_type == in.live.config.instance_type;
      out.push_back({"endpoint.InstanceType", equal ? "OK" : "ERROR", in.live.config.instance_type,
                     equal ? "" : wanted.instance_type, equal ? "" : redeploy});
    }
    if (readable && !wanted.image.empty() && wanted.image != in.live.model.image)
      out.push_back({"model.Image", "WARN", show(in.live.model.image), wanted.image, redeploy});
    for (const auto& [name, value] : wanted.environment) {
      const auto it = in.live.model.environment.find(name);
      const bool there = it != in.live.model.environment.end();
      if (!readable || (there && it->second == value)) continue;
      out.push_back({"environment." + name, "WARN",
                     there ? artifact::environment_value(name, it->second) : std::string("unset"),
                     artifact::environment_value(name, value), redeploy});
    }
  }
  if (in.plan) {
    append(out, compare_fingerprint(in.plan->header.fingerprint, in.live.fingerprint, "WARN"));
    out.push_back(compare_queue_limit(in.live.queue_limit, readable, in.plan->plan.queue_limit, in.commands));
  } else {
    out.push_back({"environment.MAX_QUEUE_DEPTH", "INFO",
                   in.live.queue_limit ? show(*in.live.queue_limit) : std::string("unset, no limit"), "",
                   ""});
  }
  return out;
}

Check drift_quota(const DriftInput& in) {
  const std::string type = show(in.live.config.instance_type);
  if (!in.quota) {
    return {"quota", "INFO", "unknown for " + type, "",
            in.commands.aws("service-quotas list-service-quotas --service-code sagemaker")};
  }
  int most = std::max(in.live.desired + 1, 1);
  std::string who = "one more than now, which ttotal needs";
  const auto larger = [&](int count, const char* whose) {
    if (count <= most) return;
    most = count;
    who = whose;
  };
  if (in.live.target) larger(in.live.target->max_capacity, "the target's maximum");
  if (in.plan) larger(in.plan->plan.max_instances, "the plan's maximum");
  if (in.model_file) larger(in.model_file->max_instances, "the model file's maximum");
  const std::string found = room_text(*in.quota, type);
  if (in.quota->has_room_for(most)) return {"quota", "OK", found, "", ""};
  return {"quota", "WARN", found, fmt::format("room for {} ({})", most, who),
          in.commands.aws(ask_for_more(*in.quota, most))};
}

std::vector<Check> drift_checks(const DriftInput& in) {
  std::vector<Check> out = endpoint_rows(in);
  append(out, drift_container(in));
  append(out, freeze_rows(in));
  append(out, drift_scaling(in));
  append(out, drift_activity(in));
  out.push_back(drift_quota(in));
  append(out, orphan_rows(in));
  append(out, in.unread);
  return out;
}

std::string drift_verdict(const std::vector<Check>& checks) {
  if (has_level(checks, "ERROR")) return "drifted";
  return has_level(checks, "WARN") ? "warnings" : "clean";
}

}  // namespace headroom::bench
