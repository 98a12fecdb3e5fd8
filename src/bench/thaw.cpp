// Finds the record of the freeze and restores it.
#include "bench/thaw.hpp"

#include <fmt/format.h>

#include "base/error_table.hpp"
#include "bench/freeze.hpp"

namespace headroom::bench {
namespace {

int end_with(Session& session, const base::Error& error) {
  session.complain("tts-bench thaw: " + base::describe(error));
  return base::error_row(error.code).exit_code;
}

// Neither journal nor tag: nobody knows what was there, so only what is certainly wrong is lifted.
int thaw_unknown(const ThawOptions& options, Session& session, const LiveEndpoint& live, JournalLock lock) {
  const bool suspended = live.target && live.target->suspended != aws::SuspendedState{};
  const bool change_count = options.desired && *options.desired != live.desired;
  if (!suspended && !change_count) {
    session.say(
        fmt::format("endpoint '{}' is not frozen: no journal, no tag, nothing suspended; {} instance(s)",
                    session.endpoint(), live.desired));
    return base::kExitGood;
  }
  if (suspended && !options.desired) {
    session.complain(
        fmt::format("scaling of '{}' is suspended, and neither journal nor tag says how many instances there "
                    "were; pass --desired N (it has {} now)",
                    session.endpoint(), live.desired));
    return base::kExitUsage;
  }
  session.say(fmt::format("would set {} instance(s) and lift the suspension of scaling", *options.desired));
  if (options.dry_run) return base::kExitGood;
  if (auto yes = session.consent("set the count and lift the suspension of scaling", 0); !yes) {
    return end_with(session, yes.error());
  }
  FreezeRecord record;
  record.run_id = session.run_id();
  record.desired = *options.desired;
  record.has_target = live.target.has_value();
  auto freeze = Freeze::adopt(session, live.endpoint.arn, record, std::move(lock));
  if (auto done = freeze.restore(); !done) return end_with(session, done.error());
  return base::kExitGood;
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
  auto journal = read_journal(journal_path(session));
  if (!journal) return end_with(session, journal.error());
  auto live = read_live(session, {}, {});
  if (!live) return end_with(session, live.error());
  auto tag = read_freeze_tag(session, live->endpoint.arn);
  if (!tag) return end_with(session, tag.error());
  // A tag that another run wrote later than the journal is the truth about the endpoint; our journal is only
  // stale then.
  const auto& record = *tag ? *tag : *journal;
  if (!record) return thaw_unknown(options, session, *live, std::move(*lock));
  session.say(fmt::format("run {} froze '{}': {} instance(s), flags in/out/scheduled {}{}{} (from the {})",
                          record->run_id, session.endpoint(), record->desired, int(record->flags.scale_in),
                          int(record->flags.scale_out), int(record->flags.scheduled),
                          *tag ? "endpoint's tag" : "journal"));
  if (options.dry_run) {
    session.say("dry run: nothing was changed");
    return base::kExitGood;
  }
  if (auto yes = session.consent("restore that", 0); !yes) return end_with(session, yes.error());
  auto freeze = Freeze::adopt(session, live->endpoint.arn, *record, std::move(*lock));
  if (auto done = freeze.restore(); !done) return end_with(session, done.error());
  return base::kExitGood;
}

}  // namespace headroom::bench
