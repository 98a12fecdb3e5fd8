// Claiming, suspending, pinning, and the way back.
#include "bench/freeze.hpp"

#include <thread>

#include <fmt/format.h>

#include "base/atomic_file.hpp"
#include "base/names.hpp"
#include "bench/checks.hpp"
#include "bench/stage_watch.hpp"

namespace headroom::bench {
namespace {

using base::Error;
using base::ErrorCode;

constexpr auto kTagSettle = std::chrono::seconds(2);
constexpr auto kClaimLimit = std::chrono::seconds(1);  // from reading the tag to having written it
constexpr auto kPoll = std::chrono::milliseconds(500);
constexpr auto kPatience = std::chrono::minutes(60);    // SPEC 2.4: an instance may take long
constexpr auto kLoginGrace = std::chrono::minutes(5);   // for rejected credentials to be renewed
constexpr auto kNoRoomGrace = std::chrono::minutes(2);  // for quota or capacity that others hold
constexpr int kAsks = 3;

// SageMaker refuses a change while the endpoint is Updating; that passes.
bool busy(const Error& error) {
  return error.code == ErrorCode::kConflict || error.code == ErrorCode::kThrottled ||
         error.code == ErrorCode::kUnavailable || error.message.find("in-progress") != std::string::npos ||
         error.message.find("Updating") != std::string::npos;
}

std::string whose(const FreezeRecord& record, const std::string& endpoint) {
  const std::string variant = record.variant.empty() ? "" : fmt::format("variant '{}' of ", record.variant);
  return fmt::format("{}endpoint '{}'", variant, endpoint);
}

Error cancelled() { return {ErrorCode::kCancelled, "interrupted", {}}; }

std::string thaw_command(Session& session) { return commands_for(session, {}).bench("thaw"); }

// `action` until it works or patience with its error ends; says once what it waits for.
template <class F>
auto persist(Session& session, const char* what, F&& action,
             base::Duration (*patience)(const Error&) = restore_patience) -> decltype(action()) {
  const auto began = session.clock().steady();
  for (bool told = false;; told = true) {
    auto result = action();
    if (result || session.clock().steady() - began >= patience(result.error())) return result;
    if (!told) session.complain(fmt::format("restoring: waiting to {} ({})", what, result.error().message));
    std::this_thread::sleep_for(kPoll);
  }
}

}  // namespace

base::Duration restore_patience(const Error& error) {
  if (busy(error)) return kPatience;
  switch (error.code) {
    case ErrorCode::kNotFound:
    case ErrorCode::kForbidden:
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kRefused:
      return {};
    case ErrorCode::kUnauthenticated:
      return aws::is_missing_credentials(error) ? base::Duration(kPatience) : base::Duration(kLoginGrace);
    default:
      return kPatience;
  }
}

base::Duration count_patience(const Error& error) {
  if (error.code == ErrorCode::kResourceExhausted) return kNoRoomGrace;
  return restore_patience(error);
}

Freeze::Freeze(Session& session, std::string endpoint_arn, FreezeRecord record, JournalLock lock)
    : session_(&session),
      endpoint_arn_(std::move(endpoint_arn)),
      record_(std::move(record)),
      lock_(std::move(lock)) {
  record_.variant = session.variant();  // whatever is restored is this one
}

Freeze::Freeze(Freeze&& other) noexcept
    : session_(other.session_),
      endpoint_arn_(std::move(other.endpoint_arn_)),
      record_(std::move(other.record_)),
      lock_(std::move(other.lock_)),
      engaged_(std::exchange(other.engaged_, false)),
      steady_(other.steady_),
      loose_(other.loose_),
      untouched_(other.untouched_),
      variant_gone_(other.variant_gone_) {}

Freeze::~Freeze() {
  if (!engaged_) return;
  if (auto done = restore(); !done) session_->complain(base::describe(done.error()));
}

Freeze Freeze::adopt(Session& session, std::string endpoint_arn, FreezeRecord record, JournalLock lock) {
  Freeze freeze(session, std::move(endpoint_arn), std::move(record), std::move(lock));
  freeze.tell_on_second_signal();
  freeze.engaged_ = true;
  freeze.loose_ = freeze.record_.has_target;  // the other process may have let the policies act
  return freeze;
}

void Freeze::tell_on_second_signal() {
  session_->interrupt().on_second([line = thaw_command(*session_)] {
    std::fputs(("stopped before everything was restored; run: " + line + "\n").c_str(), stderr);
  });
}

base::Result<Freeze> Freeze::engage(Session& session, const LiveEndpoint& live, int pinned) {
  return begin(session, live, [pinned](Freeze& freeze) { return freeze.hold_still(pinned); });
}

base::Result<Freeze> Freeze::claim_as_it_is(Session& session, const LiveEndpoint& live) {
  return begin(session, live, [](Freeze& freeze) {
    auto claimed = freeze.read_and_claim();
    freeze.loose_ = freeze.record_.has_target;
    return claimed;
  });
}

base::Result<Freeze> Freeze::begin(Session& session, const LiveEndpoint& live,
                                   const std::function<base::Result<void>(Freeze&)>& hold) {
  if (session.interrupt().requested()) return tl::unexpected(cancelled());
  auto lock = JournalLock::take(journal_path(session));
  if (!lock) return tl::unexpected(lock.error());
  FreezeRecord record;
  record.run_id = session.run_id();
  record.epoch_s =
      std::chrono::duration_cast<std::chrono::seconds>(session.clock().wall().time_since_epoch()).count();
  Freeze freeze(session, live.endpoint.arn, record, std::move(*lock));
  freeze.tell_on_second_signal();
  auto held = hold(freeze);
  if (held) return freeze;
  const auto back = freeze.restore();
  session.interrupt().on_second({});
  if (back) return tl::unexpected(held.error());
  session.complain(base::describe(held.error()));
  return tl::unexpected(back.error());  // what still stands is the worse of the two
}

// From here on everything that was changed is written down before it is changed.
base::Result<void> Freeze::read_and_claim() {
  if (auto known = read_standing(); !known) return known;
  if (auto claimed = claim(); !claimed) return claimed;
  engaged_ = untouched_ = true;
  if (session_->interrupt().requested()) return tl::unexpected(cancelled());
  return {};
}

base::Result<void> Freeze::hold_still(int pinned) {
  if (auto claimed = read_and_claim(); !claimed) return claimed;
  // The policy may have acted since: what is written down is what stands once it can act no more.
  const FreezeRecord before = record_;
  if (auto known = read_standing(); !known) return known;
  if (record_.has_target) {
    if (auto done = note_if_changed(before); !done) return done;
    will_change();
    if (auto done = suspend({true, true, true}); !done) return done;
    const FreezeRecord suspended = record_;
    if (auto known = read_count(); !known) return known;
    if (auto done = note_if_changed(suspended); !done) return done;
  } else {
    if (auto done = note_if_changed(before); !done) return done;
    session_->say("no scalable target: there is no scaling to suspend");
  }
  auto tag = read_freeze_tag(*session_, endpoint_arn_);
  if (!tag) return tl::unexpected(tag.error());
  if (!*tag || (*tag)->run_id != record_.run_id) {
    return base::fail(ErrorCode::kConflict,
                      "another run claimed the endpoint meanwhile; try again when it has ended");
  }
  if (session_->interrupt().requested()) return tl::unexpected(cancelled());
  will_change();
  if (record_.desired != pinned || !steady_) return set_count(pinned);
  return {};
}

base::Result<void> Freeze::read_count() {
  const auto endpoint = describe();
  if (!endpoint) return tl::unexpected(endpoint.error());
  const auto* variant = endpoint->variant(session_->variant());
  if (!variant || !variant->desired_instance_count) {
    return base::fail(ErrorCode::kInvalidData,
                      fmt::format("DescribeEndpoint of '{}' gives no desired count for variant '{}'",
                                  session_->endpoint(), session_->variant()));
  }
  record_.desired = *variant->desired_instance_count;
  steady_ =
      endpoint->status == "InService" && variant->current_instance_count == variant->desired_instance_count;
  return {};
}

base::Result<void> Freeze::read_standing() {
  if (auto counted = read_count(); !counted) return counted;
  auto target = read_target();
  if (!target) return tl::unexpected(target.error());
  record_.has_target = target->has_value();
  if (*target) record_.flags = (*target)->suspended;
  return {};
}

base::Result<std::optional<aws::ScalableTarget>> Freeze::read_target() {
  auto targets = session_->autoscaling().describe_targets(
      {aws::variant_resource_id(session_->endpoint(), session_->variant())}, session_->soon());
  if (!targets) return tl::unexpected(targets.error());
  if (targets->empty()) return std::optional<aws::ScalableTarget>{};
  return std::optional(targets->front());
}

base::Result<void> Freeze::note_if_changed(const FreezeRecord& before) {
  if (record_ == before) return {};
  if (auto written = write_journal(journal_path(*session_), record_); !written) return written;
  return session_->sagemaker().add_tags(endpoint_arn_, {{kFreezeTag, freeze_tag_text(record_)}},
                                        session_->soon());
}

base::Result<void> Freeze::suspend(const aws::SuspendedState& flags) {
  aws::TargetChange change;
  change.resource_id = aws::variant_resource_id(session_->endpoint(), session_->variant());
  change.suspended = flags;
  return session_->autoscaling().register_target(change, session_->soon());
}

base::Result<void> Freeze::let_scale_out() {
  if (!record_.has_target) {
    return base::fail(
        ErrorCode::kRefused,
        fmt::format("endpoint '{}' has no scalable target, so that no policy can act", session_->endpoint()));
  }
  loose_ = true;
  return suspend({true, false, true});
}

base::Result<void> Freeze::hold_scaling() {
  auto done = suspend({true, true, true});
  if (done) loose_ = false;
  return done;
}

base::Result<aws::EndpointDescription> Freeze::describe() {
  return session_->sagemaker().describe_endpoint(session_->endpoint(), session_->soon());
}

base::Result<Freeze::Look> Freeze::look() {
  const auto endpoint = describe();
  if (!endpoint) return tl::unexpected(endpoint.error());
  return look_at(*endpoint);
}

base::Result<Freeze::Look> Freeze::look_at(const aws::EndpointDescription& endpoint) const {
  if (endpoint.status == "Failed") {
    return base::fail(
        ErrorCode::kRefused,
        fmt::format("endpoint '{}' is Failed: {}; look at its log, then update or create it anew",
                    session_->endpoint(), endpoint.failure_reason));
  }
  Look out;
  out.in_service = endpoint.status == "InService";
  if (const auto* variant = endpoint.variant(session_->variant())) {
    out.desired = variant->desired_instance_count.value_or(0);
    out.current = variant->current_instance_count;
  }
  return out;
}

base::Result<void> Freeze::ask_once(int count) {
  return session_->sagemaker().set_desired_instance_count(session_->endpoint(), session_->variant(), count,
                                                          session_->soon());
}

// An endpoint that is Updating refuses the change: it is asked again until it accepts.
base::Result<void> Freeze::ask_count(int count) {
  const auto deadline = base::Deadline::after(session_->clock(), kPatience);
  while (true) {
    if (session_->interrupt().requested()) return tl::unexpected(cancelled());
    auto asked = ask_once(count);
    if (asked || !busy(asked.error()) || deadline.passed(session_->clock())) return asked;
    if (!session_->interrupt().wait_for(kPoll)) return tl::unexpected(cancelled());
  }
}

base::Result<void> Freeze::set_count(int count) {
  if (auto asked = ask_count(count); !asked) return asked;
  const auto deadline = base::Deadline::after(session_->clock(), kPatience);
  while (true) {
    auto seen = look();
    if (!seen && !busy(seen.error())) return tl::unexpected(seen.error());
    if (seen && seen->has(count)) return {};
    if (deadline.passed(session_->clock())) {
      return base::fail(ErrorCode::kTimeout,
                        fmt::format("endpoint '{}' was not InService with {} instance(s) within 60 minutes",
                                    session_->endpoint(), count));
    }
    if (!session_->interrupt().wait_for(kPoll)) return tl::unexpected(cancelled());
  }
}

base::Result<void> Freeze::restore() {
  if (!engaged_) return {};
  engaged_ = false;  // tried once; what then still stands is thaw's work
  auto done = untouched_ ? base::Result<void>() : restore_count_and_flags();
  if (done) done = persist(*session_, "remove the freeze tag", [&] { return withdraw(); });
  if (!done) {
    return base::fail(
        done.error().code,
        fmt::format("restoring failed: {}; run: {}", done.error().message, thaw_command(*session_)),
        done.error().context);
  }
  session_->interrupt().on_second({});
  if (variant_gone_) {
    session_->say(fmt::format("'{}' has no variant '{}' any more, so that there is no count to restore",
                              session_->endpoint(), session_->variant()));
  } else if (!untouched_) {
    session_->say(fmt::format("restored: {} instance{}, scaling flags as before", record_.desired,
                              record_.desired == 1 ? "" : "s"));
  }
  return {};
}

base::Result<void> Freeze::restore_count_and_flags() {
  auto counted = restore_count();
  if (!counted && counted.error().code == ErrorCode::kNotFound)
    return {};  // the endpoint is gone: nothing to restore
  if (!record_.has_target) return counted;
  // The flags go back even where the count could not: scaling may then mend it.
  auto target = persist(*session_, "read the scalable target", [&] { return read_target(); });
  if (!target) return tl::unexpected(target.error());
  if (*target) {
    if (auto flagged = persist(*session_, "set the scaling flags", [&] { return suspend(record_.flags); });
        !flagged)
      return flagged;
  }
  return counted;
}

base::Result<void> Freeze::restore_count() {
  const auto standing = persist(*session_, "read the endpoint", [&] { return look(); });
  if (!standing && standing.error().code == ErrorCode::kNotFound) return tl::unexpected(standing.error());
  variant_gone_ = standing && !standing->desired;
  if (variant_gone_ || (standing && standing->has(record_.desired))) return {};
  // A policy that may act would undo the count that is about to be set.
  if (loose_) (void)persist(*session_, "hold scaling", [&] { return hold_scaling(); });
  for (int i = 0; i < kAsks; ++i) {
    const auto came = ask_and_wait();
    if (!came) return tl::unexpected(came.error());
    if (*came) return {};
  }
  return base::fail(ErrorCode::kResourceExhausted,
                    fmt::format("endpoint '{}' was asked {} times for {} instance(s) and went back to fewer; "
                                "see its events: quota or capacity may be used up",
                                session_->endpoint(), kAsks, record_.desired));
}

base::Result<bool> Freeze::ask_and_wait() {
  const auto ask = [&] { return ask_once(record_.desired); };
  if (auto asked = persist(*session_, "set the count", ask, count_patience); !asked)
    return tl::unexpected(asked.error());
  auto& clock = session_->clock();
  const auto deadline = base::Deadline::after(clock, kPatience);
  ScaleOutWatch watch(session_->variant(), record_.desired);
  while (!deadline.passed(clock)) {
    const auto endpoint = persist(*session_, "read the endpoint", [&] { return describe(); });
    if (!endpoint) return tl::unexpected(endpoint.error());
    const auto seen = look_at(*endpoint);
    if (!seen) return tl::unexpected(seen.error());
    if (seen->has(record_.desired)) return true;
    if (const auto why = watch.see(*endpoint)) {
      session_->complain("restoring: " + *why);
      return false;
    }
    std::this_thread::sleep_for(kPoll);
  }
  return base::fail(ErrorCode::kTimeout,
                    fmt::format("endpoint '{}' did not come back to {} instance(s) within 60 minutes",
                                session_->endpoint(), record_.desired));
}

base::Result<void> Freeze::claim() {
  const std::string path = journal_path(*session_);
  auto journal = read_journal(path);
  if (!journal) return tl::unexpected(journal.error());
  if (*journal) {  // we hold the lock, so whoever wrote it is gone
    return base::fail(ErrorCode::kConflict,
                      fmt::format("run {} left endpoint '{}' frozen when it was killed; run: {}",
                                  (*journal)->run_id, session_->endpoint(), thaw_command(*session_)));
  }
  const auto held_by_other = [&](const FreezeRecord& other) {
    return base::fail(
        ErrorCode::kConflict,
        fmt::format("run {} holds {} since {}; wait until it ends, or, if it was killed, run: {}",
                    other.run_id, whose(other, session_->endpoint()),
                    base::format_iso8601(base::WallTime{std::chrono::seconds{other.epoch_s}}),
                    thaw_line(commands_for(*session_, {}), other)));
  };
  const auto looked = session_->clock().steady();
  auto tag = read_freeze_tag(*session_, endpoint_arn_);
  if (!tag) return tl::unexpected(tag.error());
  if (*tag) return held_by_other(**tag);
  if (auto written = write_journal(path, record_); !written) return written;
  auto added = session_->sagemaker().add_tags(endpoint_arn_, {{kFreezeTag, freeze_tag_text(record_)}},
                                              session_->soon());
  // An answer that never came may have been a write: withdraw() looks. And a slow one may have come after
  // another run had read its own tag back, so it does not count.
  if (!added || session_->clock().steady() - looked > kClaimLimit) {
    (void)withdraw();
    return tl::unexpected(added ? Error{ErrorCode::kConflict,
                                        "writing the freeze tag took too long to be sure of it; try again",
                                        {}}
                                : added.error());
  }
  const bool went_on = session_->interrupt().wait_for(kTagSettle);
  tag = read_freeze_tag(*session_, endpoint_arn_);
  if (tag && *tag && (*tag)->run_id != record_.run_id) {
    (void)base::remove_file(path);  // the other run's tag stands; only our journal is ours to remove
    return held_by_other(**tag);
  }
  if (!went_on || !tag || !*tag) {
    (void)withdraw();
    if (!went_on) return tl::unexpected(cancelled());
    return tl::unexpected(
        tag ? Error{ErrorCode::kConflict, "the freeze tag vanished while it was being claimed; try again", {}}
            : tag.error());
  }
  return {};
}

// Removes our tag (or one that nobody can read) and the journal.
base::Result<void> Freeze::withdraw() {
  auto tag = read_freeze_tag(*session_, endpoint_arn_);
  const bool damaged = !tag && tag.error().code == ErrorCode::kInvalidData;
  if (damaged || (tag && *tag && (*tag)->run_id == record_.run_id)) {
    auto gone = session_->sagemaker().delete_tags(endpoint_arn_, {kFreezeTag}, session_->soon());
    if (!gone && gone.error().code != ErrorCode::kNotFound) return gone;
  } else if (!tag && tag.error().code != ErrorCode::kNotFound) {
    return tl::unexpected(tag.error());
  }
  return base::remove_file(journal_path(*session_));
}

}  // namespace headroom::bench
