// Freeze: holds an endpoint still while it is measured, and puts it back exactly as it was.
//
// Before anything changes, what was there is written to a journal on disk (mode 0600) and to the endpoint tag
// `headroom:freeze`; so every exit, kill -9 included, can be undone by `thaw`. Tags have no compare-and-set:
// a run writes, waits 2 s and reads back; what stands there then is the last write, the same for all, so
// exactly one of several runs that started together goes on. Order of restoring: Updating waited out, count,
// InService, flags, tag, journal. What needs the policies to act (validate --live) claims the endpoint the
// same way and leaves it as it is. Single threaded. Errors: kConflict (another run holds the endpoint; names
// it), those of the APIs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "bench/checks.hpp"
#include "bench/session.hpp"

namespace headroom::bench {

inline constexpr const char* kFreezeTag = "headroom:freeze";

struct FreezeRecord {
  std::string run_id;
  std::string variant;        // empty: not said (journals, whose name says it, and tags of older versions)
  int desired = 0;            // the count to go back to
  bool has_target = false;    // without one there was nothing to suspend
  aws::SuspendedState flags;  // as they were
  std::int64_t epoch_s = 0;   // when
  int pid = 0;                // journal only, for who reads it
  bool operator==(const FreezeRecord&) const = default;
};

// `v1 run=ID desired=3 flags=000 t=EPOCH variant=NAME`: in, out and scheduled; `flags=-` where there is no
// scalable target. The tag belongs to the endpoint, so it has to say which variant it froze; older versions
// did not.
std::string freeze_tag_text(const FreezeRecord& record);
std::optional<FreezeRecord> parse_freeze_tag(const std::string& text);
// Which variant a tag is of; a tag that does not say it is of the endpoint's only one, or nobody knows.
std::optional<std::string> frozen_variant(const FreezeRecord& tag, const aws::EndpointDescription& endpoint);
// What to restore, where at least one is there. Of one run the journal is written first and so is never the
// older; a tag that another run wrote is later than the journal.
FreezeRecord truth_of(const std::optional<FreezeRecord>& tag, const std::optional<FreezeRecord>& journal);
// The line that restores `record`, of whichever variant it is.
std::string thaw_line(Commands commands, const FreezeRecord& record);

// ${XDG_STATE_HOME:-~/.local/state}/headroom/freeze/<endpoint>.<variant>.<hash of URL and region>.json
std::string journal_path(Session& session);
// Fills in this process.
base::Result<void> write_journal(const std::string& path, FreezeRecord& record);
base::Result<std::optional<FreezeRecord>> read_journal(const std::string& path);
base::Result<std::optional<FreezeRecord>> read_freeze_tag(Session& session, const std::string& endpoint_arn);

// Only one process of this machine at a time may touch the journal; the kernel lets go when it dies, however
// it dies.
class JournalLock {
 public:
  // kConflict if another process holds it.
  static base::Result<JournalLock> take(const std::string& journal);
  JournalLock(JournalLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  JournalLock& operator=(JournalLock&&) = delete;
  ~JournalLock();

 private:
  explicit JournalLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

// For how long restoring tries again in spite of `error`: nearly every failure passes, and a source of
// credentials that fails (a process, SSO, instance metadata) does so like any other; credentials that the
// service itself rejected may be renewed within minutes; what it forbids or does not know stays so.
base::Duration restore_patience(const base::Error& error);
// The same for a count that is set back: what others took of quota or capacity meanwhile is not waited for
// long, since scaling stays suspended as long as that lasts.
base::Duration count_patience(const base::Error& error);

class Freeze {
 public:
  // Claims the endpoint, suspends scaling, pins the count to `pinned` and waits until it is InService. An
  // interruption on the way restores what was changed and returns kCancelled; where that fails, its error.
  static base::Result<Freeze> engage(Session& session, const LiveEndpoint& live, int pinned);
  // Claims the endpoint and notes what stands there, and changes nothing: the policies go on acting. Until
  // will_change() there is nothing to restore but the claim. Scaling is suspended only while restore() sets a
  // count back, so that none of them undoes it.
  static base::Result<Freeze> claim_as_it_is(Session& session, const LiveEndpoint& live);
  // For thaw: what a dead run left.
  static Freeze adopt(Session& session, std::string endpoint_arn, FreezeRecord record, JournalLock lock);

  Freeze(Freeze&& other) noexcept;
  Freeze& operator=(Freeze&&) = delete;
  ~Freeze();  // restores, if restore() was not called

  void will_change() { untouched_ = false; }  // from now on restore() puts the count back too
  base::Result<void> set_count(int count);    // asks and waits for InService
  base::Result<void> ask_count(int count);    // asks only
  base::Result<void> restore();               // goes on although interrupted
  // Lets the policies scale out, and nothing else; kRefused without a scalable target. hold_scaling() takes
  // it back. What a killed run left loose is still in the journal, so that thaw restores it all the same.
  base::Result<void> let_scale_out();
  base::Result<void> hold_scaling();
  const std::string& run_id() const { return record_.run_id; }
  int standing_count() const { return record_.desired; }  // when it was engaged or claimed

 private:
  Freeze(Session& session, std::string endpoint_arn, FreezeRecord record, JournalLock lock);
  // Takes lock and record, then `hold`; what that changed before it failed is restored.
  static base::Result<Freeze> begin(Session& session, const LiveEndpoint& live,
                                    const std::function<base::Result<void>(Freeze&)>& hold);
  void tell_on_second_signal();
  base::Result<void> read_and_claim();
  base::Result<void> hold_still(int pinned);
  base::Result<void> read_count();     // into record_.desired
  base::Result<void> read_standing();  // count and flags
  base::Result<std::optional<aws::ScalableTarget>> read_target();
  base::Result<void> note_if_changed(const FreezeRecord& before);
  base::Result<void> claim();
  base::Result<void> withdraw();
  base::Result<void> suspend(const aws::SuspendedState& flags);
  // One look at the endpoint; kRefused where it is Failed.
  struct Look {
    bool in_service = false;
    std::optional<int> desired, current;  // of our variant; nullopt: it has none such
    bool has(int count) const { return in_service && desired == count && current == count; }
  };
  base::Result<aws::EndpointDescription> describe();
  base::Result<Look> look();
  base::Result<Look> look_at(const aws::EndpointDescription& endpoint) const;
  base::Result<void> restore_count_and_flags();
  base::Result<void> restore_count();
  base::Result<void> ask_once(int count);
  base::Result<bool> ask_and_wait();  // false: the service took the count back

  Session* session_;
  std::string endpoint_arn_;
  FreezeRecord record_;
  JournalLock lock_;
  bool engaged_ = false;
  bool steady_ = false;        // InService with as many instances as desired, when it was read
  bool loose_ = false;         // policies may act
  bool untouched_ = false;     // claimed, and nothing of it was changed
  bool variant_gone_ = false;  // found when it was restored
};

}  // namespace headroom::bench
