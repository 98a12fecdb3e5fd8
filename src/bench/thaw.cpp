// Finds the record of the freeze and restores it.
#include "bench/thaw.hpp"

#include <fmt/format.h>

#include "base/atomic_file.hpp"
#include "base/error_table.hpp"
#include "bench/freeze.hpp"

namespace headroom::bench {
namespace {

int end_with(Session& session, const base::Error& error) {
  session.complain("tts-bench thaw: " + base::describe(error));
  return base::error_row(error.code).exit_code;
}

// What thaw needs to know of the endpoint; less than a measurement does, since a model may be gone by now.
struct Standing {
  aws::EndpointDescription endpoint;
  int desired = 0;
  bool suspended = false;
  bool has_target = false;
};

base::Result<Standing> read_standing(Session& session) {
  auto endpoint = session.sagemaker().describe_endpoint(session.endpoint(), session.soon());
  if (!endpoint) return tl::unexpected(endpoint.error());
  auto targets = session.autoscaling().describe_targets(
      {aws::variant_resource_id(session.endpoint(), session.variant())}, session.soon());
  if (!targets) return tl::unexpected(targets.error());
  Standing standing;
  if (const auto* variant = endpoint->variant(session.variant())) {
    standing.desired = variant->desired_instance_count.value_or(0);
  }
  standing.endpoint = std::move(*endpoint);
  standing.has_target = !targets->empty();
  standing.suspended = standing.has_target && targets->front().suspended != aws::SuspendedState{};
  return standing;
}

// The endpoint was deleted: there is nothing to restore, and its journal must not meet a later one of that
// name.
int thaw_deleted(const ThawOptions& options, Session& session, const base::Error& error) {
  const std::string path = journal_path(session);
  if (!base::file_exists(path)) return end_with(session, error);
  session.say(fmt::format("endpoint '{}' does not exist any more; its journal {} {}", session.endpoint(),
                          path, options.dry_run ? "would be removed" : "is removed"));
  if (options.dry_run) return base::kExitGood;
  if (auto gone = base::remove_file(path); !gone) return end_with(session, gone.error());
  return base::kExitGood;
}

// Neither journal nor tag: nobody knows what was there, so only what is certainly wrong is lifted.
int thaw_unknown(const ThawOptions& options, Session& session, const Standing& standing, JournalLock lock) {
  const bool change_count = options.desired && *options.desired != standing.desired;
  if (!standing.suspended && !change_count) {
    session.say(
        fmt::format("endpoint '{}' is not frozen: no journal, no tag, nothing suspended; {} instance(s)",
                    session.endpoint(), standing.desired));
    return base::kExitGood;
  }
  if (!options.desired) {
    session.complain(
        fmt::format("scaling of '{}' is suspended, and neither journal nor tag says how many instances there "
                    "were; pass --desired "
                    "N (it has {} now)",
                    session.endpoint(), standing.desired));
    return base::kExitUsage;
  }
  session.say(fmt::format("{} instance(s), and the suspension of scaling lifted", *options.desired));
  if (options.dry_run) return base::kExitGood;
  if (auto yes = session.consent("set the count and lift the suspension of scaling", 0); !yes) {
    return end_with(session, yes.error());
  }
  FreezeRecord record;
  record.run_id = session.run_id();
  record.desired = *options.desired;
  record.has_target = standing.has_target;
  auto freeze = Freeze::adopt(session, standing.endpoint.arn, record, std::move(lock));
  if (auto done = freeze.restore(); !done) return end_with(session, done.error());
  return base::kExitGood;
}

// The endpoint has one tag for all its variants: what another one's run wrote must not be restored here.
base::Result<void> check_owner(Session& session, const Standing& standing,
                               const std::optional<FreezeRecord>& tag,
                               const std::optional<FreezeRecord>& journal) {
  if (!tag || (journal && journal->run_id == tag->run_id)) return {};  // our journal says whose it is
  const auto owner = frozen_variant(*tag, standing.endpoint);
  if (!owner) {
    return base::fail(
        base::ErrorCode::kRefused,
        fmt::format("the tag {} of endpoint '{}' is of run {} and does not say which of the {} variants it "
                    "froze ({} instance(s), written by an older version); thaw on the machine that measured, "
                    "or set count and flags by hand and delete the tag: {}",
                    kFreezeTag, session.endpoint(), tag->run_id, standing.endpoint.variants.size(),
                    tag->desired,
                    commands_for(session, {})
                        .aws(fmt::format("sagemaker delete-tags --resource-arn {} --tag-keys {}",
                                         standing.endpoint.arn, kFreezeTag))));
  }
  if (*owner == session.variant()) return {};
  return base::fail(base::ErrorCode::kRefused,
                    fmt::format("run {} froze variant '{}' of endpoint '{}', not '{}'; nothing was changed; "
                                "run: {}",
                                tag->run_id, *owner, session.endpoint(), session.variant(),
                                thaw_line(commands_for(session, {}), *tag)));
}

}  // namespace

std::vector<base::Option> ThawOptions::table() {
  return {
      {.name = "desired",
       .help = "instances to go back to, where neither journal nor tag knows",
       .target = &desired,
       .min = 0,
       .max = 10000},
      {.name = "dry-run", .help = "say what would be done", .target = &dry_run},
  };
}

int run_thaw(const ThawOptions& options, Session& session) {
  auto lock = JournalLock::take(journal_path(session));
  if (!lock) return end_with(session, lock.error());
  auto standing = read_standing(session);
  if (!standing && standing.error().code == base::ErrorCode::kNotFound)
    return thaw_deleted(options, session, standing.error());
  if (!standing) return end_with(session, standing.error());
  auto journal = read_journal(journal_path(session));
  auto tag = read_freeze_tag(session, standing->endpoint.arn);
  // One that cannot be read does not stand in the way of the other.
  const auto known = [](const auto& read) { return read && *read; };
  if (!known(tag) && !known(journal)) {
    if (!tag) return end_with(session, tag.error());
    if (!journal) return end_with(session, journal.error());
    return thaw_unknown(options, session, *standing, std::move(*lock));
  }
  const auto of = [](const auto& read) { return read ? *read : std::nullopt; };
  if (auto ours = check_owner(session, *standing, of(tag), of(journal)); !ours)
    return end_with(session, ours.error());
  const FreezeRecord record = truth_of(of(tag), of(journal));
  session.say(fmt::format("run {} froze '{}': {} instance(s), flags in/out/scheduled {}{}{} (from the {})",
                          record.run_id, session.endpoint(), record.desired, int(record.flags.scale_in),
                          int(record.flags.scale_out), int(record.flags.scheduled),
                          known(tag) && record == **tag ? "endpoint's tag" : "journal"));
  if (options.dry_run) {
    session.say("dry run: nothing was changed");
    return base::kExitGood;
  }
  if (auto yes = session.consent("restore that", 0); !yes) return end_with(session, yes.error());
  auto freeze = Freeze::adopt(session, standing->endpoint.arn, record, std::move(*lock));
  if (auto done = freeze.restore(); !done) return end_with(session, done.error());
  return base::kExitGood;
}

}  // namespace headroom::bench
