// DriverLane: the driver's slots and requests on one lane of the target. Internal to src/load.
//
// Everything but what is marked "any thread" runs on the lane's thread and takes no lock; other threads see
// the published counts and the ended records.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <vector>

#include "load/append_log.hpp"
#include "load/audio_probe.hpp"
#include "load/driver.hpp"

namespace headroom::load {

// What all lanes share; immutable but for the flags.
struct LoadContext {
  Target& target;
  const Workload& workload;
  const BodyFormat body;
  base::Clock& clock;
  const DriverOptions options;
  std::size_t lanes = 1;
  std::atomic<bool> running{false};  // lanes arm timers; otherwise someone calls turn()
};

class DriverLane : public std::enable_shared_from_this<DriverLane> {
 public:
  // `context` keeps whatever the callbacks need alive.
  DriverLane(std::shared_ptr<LoadContext> context, std::size_t number);

  void hold(int asked, base::Duration ramp_step, base::Duration ramp_offset);
  void open(std::shared_ptr<const OpenLoop> load, base::SteadyTime begin);
  void turn();  // does what is due and arms the next turn
  void beat();  // starts the heartbeat
  void halt();  // issues nothing any more
  void cancel_all();
  void give_up();  // ends what is left here, aborted with its age

  // Any thread.
  struct Status {
    int in_flight = 0, waiting = 0, limit = 0;
  };
  Status status() const;
  std::uint64_t ok() const { return ok_.load(std::memory_order_relaxed); }
  std::uint64_t dropped() const { return dropped_.size(); }
  std::uint64_t dropped(base::SteadyTime from, base::SteadyTime to) const;  // planned within [from, to)
  bool halted() const { return halted_.load(std::memory_order_acquire); }
  base::Duration take_loop_lag() { return base::Duration(loop_lag_.exchange(0)); }  // largest since last time
  const AppendLog<Record>& records() const { return records_; }
  void add_open_starts(std::vector<base::SteadyTime>& to) const;
  std::uint64_t unheard(base::SteadyTime before) const;  // started before that, and no first byte yet

 private:
  struct Slot {
    Slot(DriverLane& owner, int pcm_rate) : lane(owner), probe(pcm_rate) {}
    DriverLane& lane;
    std::atomic<std::int64_t> since{0};  // start of the open request, 0: none
    std::atomic<std::int64_t> unheard_since{
        0};                        // the same until its first byte; one word, so never of two requests
    std::uint64_t generation = 0;  // a late callback of an earlier request is known by it
    std::uint64_t id = 0;          // of the target, once start() has returned
    bool busy = false;
    bool cancel_at_data = false;
    std::size_t chunks = 0;  // of the request before: room for as many is made at once
    Record record;
    AudioProbe probe;
  };
  int held() const { return in_flight_ + static_cast<int>(waiting_.size()); }
  void publish();
  struct Planned {  // by the open loop's schedule
    base::SteadyTime at;
    std::uint64_t utterance = 0;
  };
  Planned nth_planned(std::size_t i) const;
  void launch_next(base::SteadyTime due);                              // closed loop
  void launch_planned(const Planned& one, base::SteadyTime cap_free);  // open loop
  void launch(std::uint64_t utterance, base::SteadyTime planned, base::SteadyTime cap_free, bool open_loop);
  void data(Slot& slot, base::SteadyTime at, std::string_view bytes);
  void done(Slot& slot, std::uint64_t generation, base::SteadyTime at, const aws::InvokeResult& result);
  void finish(Slot& slot, base::SteadyTime at, const aws::InvokeResult& result);
  void closed_turn(base::SteadyTime now);
  void open_turn(base::SteadyTime now);
  void drop_stale(base::SteadyTime now);
  std::optional<base::SteadyTime> next_due() const;
  void arm(base::SteadyTime when);
  void arm_beat(base::SteadyTime due);

  const std::shared_ptr<LoadContext> context_;
  const std::size_t number_;
  int asked_ = 0;
  int slots_ = 0;  // of `asked`, those that are ramped in
  int in_flight_ = 0;
  int limit_ = 0;
  bool stopping_ = false;
  std::priority_queue<base::SteadyTime, std::vector<base::SteadyTime>, std::greater<>> waiting_;
  base::SteadyTime next_ramp_{};
  base::Duration ramp_step_{};
  std::uint64_t next_index_;  // closed loop: the next utterance
  std::shared_ptr<const OpenLoop> schedule_;
  base::SteadyTime begin_{};
  std::size_t next_planned_ = 0;
  int cap_ = 0;
  std::deque<Planned> queued_;  // planned starts that wait for room under the cap
  std::optional<base::SteadyTime> armed_;
  AppendLog<Slot*> slot_log_;  // for other threads
  std::vector<std::unique_ptr<Slot>> all_;
  std::vector<Slot*> free_;

  std::atomic<std::uint64_t> packed_{0};
  std::atomic<std::uint64_t> ok_{0};
  AppendLog<base::SteadyTime> dropped_;  // when they were planned
  std::atomic<std::int64_t> loop_lag_{0};
  std::atomic<bool> halted_{false};
  AppendLog<Record> records_;
};

}  // namespace headroom::load
