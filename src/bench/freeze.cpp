// Claiming, suspending, pinning, and the way back.
#include "bench/freeze.hpp"

#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "base/atomic_file.hpp"
#include "base/names.hpp"

namespace headroom::bench {
namespace {

using base::ErrorCode;

constexpr auto kTagSettle = std::chrono::seconds(2);
constexpr auto kPoll = std::chrono::milliseconds(500);
constexpr auto kPatience = std::chrono::minutes(60);  // SPEC 2.4: an instance may take long

bool busy(const base::Error& error) {
  // SageMaker refuses a change while the endpoint is Updating; that passes.
  return error.code == ErrorCode::kConflict || error.code == ErrorCode::kThrottled ||
         error.code == ErrorCode::kUnavailable || error.message.find("in-progress") != std::string::npos ||
         error.message.find("Updating") != std::string::npos;
}

}  // namespace

Freeze::Freeze(Session& session, std::string endpoint_arn, FreezeRecord record, JournalLock lock)
    : session_(&session),
      endpoint_arn_(std::move(endpoint_arn)),
      record_(std::move(record)),
      lock_(std::move(lock)) {}

Freeze::Freeze(Freeze&& other) noexcept
    : session_(other.session_),
      endpoint_arn_(std::move(other.endpoint_arn_)),
      record_(std::move(other.record_)),
      lock_(std::move(other.lock_)),
      engaged_(std::exchange(other.engaged_, false)) {}

Freeze::~Freeze() {
  if (!engaged_) return;
  if (auto done = restore(); !done) session_->complain("restoring failed: " + base::describe(done.error()));
}

Freeze Freeze::adopt(Session& session, std::string endpoint_arn, FreezeRecord record, JournalLock lock) {
  Freeze freeze(session, std::move(endpoint_arn), std::move(record), std::move(lock));
  freeze.engaged_ = true;
  return freeze;
}

base::Result<Freeze> Freeze::engage(Session& session, const LiveEndpoint& live, int pinned) {
  FreezeRecord record;
  record.run_id = session.run_id();
  record.desired = live.desired;
  record.has_target = live.target.has_value();
  if (live.target) record.flags = live.target->suspended;
  record.epoch_s =
      std::chrono::duration_cast<std::chrono::seconds>(session.clock().wall().time_since_epoch()).count();
  auto lock = JournalLock::take(journal_path(session));
  if (!lock) return tl::unexpected(lock.error());
  Freeze freeze(session, live.endpoint.arn, record, std::move(*lock));
  if (auto claimed = freeze.claim(); !claimed) return tl::unexpected(claimed.error());
  freeze.engaged_ = true;
  session.interrupt().on_second([endpoint = session.endpoint(), url = session.options().endpoint_url] {
    fmt::print(stderr, "stopped before everything was restored; run: tts-bench thaw --endpoint {}{}{}\n",
               endpoint, url.empty() ? "" : " --endpoint-url ", url);
  });
  const auto undo = [&](const base::Error& error) -> base::Result<Freeze> {
    if (auto back = freeze.restore(); !back)
      session.complain("restoring failed: " + base::describe(back.error()));
    return tl::unexpected(error);
  };
  if (record.has_target) {
    if (auto done = freeze.suspend({true, true, true}); !done) return undo(done.error());
  } else {
    session.say("no scalable target: there is no scaling to suspend");
  }
  if (live.desired != pinned || live.endpoint.status != "InService") {
    if (auto done = freeze.set_count(pinned); !done) return undo(done.error());
  }
  if (session.interrupt().requested()) return undo({ErrorCode::kCancelled, "interrupted", {}});
  return freeze;
}

base::Result<void> Freeze::suspend(const aws::SuspendedState& flags) {
  aws::TargetChange change;
  change.resource_id = aws::variant_resource_id(session_->endpoint(), session_->variant());
  change.suspended = flags;
  return session_->autoscaling().register_target(change, session_->soon());
}

base::Result<void> Freeze::wait_in_service(bool stop_on_interrupt, std::optional<int> count) {
  const auto deadline = base::Deadline::after(session_->clock(), kPatience);
  while (true) {
    auto endpoint = session_->sagemaker().describe_endpoint(session_->endpoint(), session_->soon());
    if (endpoint) {
      const auto* variant = endpoint->variant(session_->variant());
      const bool counted = !count || (variant && variant->current_instance_count == *count &&
                                      variant->desired_instance_count == *count);
      if (endpoint->status == "InService" && counted) return {};
      if (endpoint->status == "Failed") {
        return base::fail(
            ErrorCode::kConflict,
            fmt::format("endpoint '{}' is Failed: {}; look at its log, then update or create it anew",
                        session_->endpoint(), endpoint->failure_reason));
      }
    } else if (!busy(endpoint.error())) {
      return tl::unexpected(endpoint.error());
    }
    if (deadline.passed(session_->clock())) {
      return base::fail(ErrorCode::kTimeout, fmt::format("endpoint '{}' was not InService within 60 minutes",
                                                         session_->endpoint()));
    }
    if (!stop_on_interrupt)
      std::this_thread::sleep_for(kPoll);
    else if (!session_->interrupt().wait_for(kPoll))
      return base::fail(ErrorCode::kCancelled, "interrupted");
  }
}

base::Result<void> Freeze::ask_count(int count) { return set_count_patiently(count, true); }

// An endpoint that is Updating refuses the change: it is asked again until it accepts.
base::Result<void> Freeze::set_count_patiently(int count, bool stop_on_interrupt) {
  const auto deadline = base::Deadline::after(session_->clock(), kPatience);
  while (true) {
    auto asked = session_->sagemaker().set_desired_instance_count(session_->endpoint(), session_->variant(),
                                                                  count, session_->soon());
    if (asked || !busy(asked.error()) || deadline.passed(session_->clock())) return asked;
    if (!stop_on_interrupt)
      std::this_thread::sleep_for(kPoll);
    else if (!session_->interrupt().wait_for(kPoll))
      return base::fail(ErrorCode::kCancelled, "interrupted");
  }
}

base::Result<void> Freeze::set_count(int count) {
  if (auto asked = set_count_patiently(count, true); !asked) return asked;
  return wait_in_service(true, count);
}

base::Result<void> Freeze::restore() {
  if (!engaged_) return {};
  const auto deadline = base::Deadline::after(session_->clock(), kPatience);
  auto live = session_->sagemaker().describe_endpoint(session_->endpoint(), session_->soon());
  while (!live && busy(live.error()) && !deadline.passed(session_->clock())) {
    std::this_thread::sleep_for(kPoll);
    live = session_->sagemaker().describe_endpoint(session_->endpoint(), session_->soon());
  }
  if (!live && live.error().code != ErrorCode::kNotFound) return tl::unexpected(live.error());
  if (live) {
    const auto* variant = live->variant(session_->variant());
    if (!variant || variant->desired_instance_count != record_.desired || live->status != "InService") {
      if (auto done = set_count_patiently(record_.desired, false); !done) return done;
      if (auto done = wait_in_service(false, record_.desired); !done) return done;
    }
    if (record_.has_target) {
      if (auto done = suspend(record_.flags); !done) return done;
    }
  }
  if (auto done = withdraw(); !done) return done;
  engaged_ = false;
  session_->say(fmt::format("restored: {} instance{}, scaling flags as before", record_.desired,
                            record_.desired == 1 ? "" : "s"));
  return {};
}

base::Result<void> Freeze::claim() {
  const std::string path = journal_path(*session_);
  auto journal = read_journal(path);
  if (!journal) return tl::unexpected(journal.error());
  if (*journal) {  // we hold the lock, so whoever wrote it is gone
    return base::fail(
        ErrorCode::kConflict,
        fmt::format("run {} left endpoint '{}' frozen when it was killed; run: tts-bench thaw --endpoint {}",
                    (*journal)->run_id, session_->endpoint(), session_->endpoint()));
  }
  const auto held_by_other = [&](const FreezeRecord& other) {
    return base::fail(ErrorCode::kConflict,
                      fmt::format("run {} holds endpoint '{}' since {}; wait until it ends, or, if it was "
                                  "killed, run: tts-bench thaw --endpoint {}",
                                  other.run_id, session_->endpoint(),
                                  base::format_iso8601(base::WallTime{std::chrono::seconds{other.epoch_s}}),
                                  session_->endpoint()));
  };
  auto tag = read_freeze_tag(*session_, endpoint_arn_);
  if (!tag) return tl::unexpected(tag.error());
  if (*tag) return held_by_other(**tag);
  if (auto written = write_journal(path, record_); !written) return written;
  const auto give_up = [&](const base::Error& error) -> base::Result<void> {
    (void)base::remove_file(path);
    return tl::unexpected(error);
  };
  auto added = session_->sagemaker().add_tags(endpoint_arn_, {{kFreezeTag, freeze_tag_text(record_)}},
                                              session_->soon());
  if (!added) return give_up(added.error());
  session_->interrupt().wait_for(kTagSettle);
  tag = read_freeze_tag(*session_, endpoint_arn_);
  if (!tag || !*tag) {
    (void)withdraw();
    return tl::unexpected(tag ? base::Error{ErrorCode::kConflict,
                                            "the freeze tag vanished while it was being claimed; try again",
                                            {}}
                              : tag.error());
  }
  if ((*tag)->run_id != record_.run_id) {  // the other run's tag stands; only our journal is ours to remove
    (void)base::remove_file(path);
    return held_by_other(**tag);
  }
  return {};
}

base::Result<void> Freeze::withdraw() {
  auto tag = read_freeze_tag(*session_, endpoint_arn_);
  if (tag && *tag && (*tag)->run_id == record_.run_id) {
    auto gone = session_->sagemaker().delete_tags(endpoint_arn_, {kFreezeTag}, session_->soon());
    if (!gone && gone.error().code != ErrorCode::kNotFound) return gone;
  } else if (!tag && tag.error().code != ErrorCode::kNotFound) {
    return tl::unexpected(tag.error());
  }
  return base::remove_file(journal_path(*session_));
}

}  // namespace headroom::bench
