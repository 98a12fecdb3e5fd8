// Slots, requests, ramp and schedule of one lane.
#include "load/driver_lane.hpp"

#include <algorithm>

namespace headroom::load {

using base::SteadyTime;

namespace {

constexpr unsigned kBits = 21;  // of each count in the published word: two million requests
constexpr std::uint64_t kMask = (1u << kBits) - 1;

// Spreads the cancelled share evenly over the requests, the same ones in every run.
bool chosen(std::uint64_t index, double share) {
  if (share <= 0) return false;
  const double before = static_cast<double>(index) * share;
  return static_cast<std::uint64_t>(before + share) > static_cast<std::uint64_t>(before);
}

}  // namespace

DriverLane::DriverLane(std::shared_ptr<LoadContext> context, std::size_t number)
    : context_(std::move(context)), number_(number), next_index_(number) {}

void DriverLane::publish() {
  const auto part = [](std::size_t n) { return std::min<std::uint64_t>(n, kMask); };
  packed_.store(part(static_cast<std::size_t>(in_flight_)) | part(waiting_.size()) << kBits |
                    part(static_cast<std::size_t>(limit_)) << 2 * kBits,
                std::memory_order_release);
}

DriverLane::Status DriverLane::status() const {
  const std::uint64_t packed = packed_.load(std::memory_order_acquire);
  return {static_cast<int>(packed & kMask), static_cast<int>(packed >> kBits & kMask),
          static_cast<int>(packed >> 2 * kBits)};
}

void DriverLane::add_open_starts(std::vector<SteadyTime>& to) const {
  for (std::size_t i = 0, n = slot_log_.size(); i < n; ++i) {
    const std::int64_t since = slot_log_.at(i)->since.load(std::memory_order_relaxed);
    if (since != 0) to.emplace_back(base::Duration(since));
  }
}

std::uint64_t DriverLane::dropped(SteadyTime from, SteadyTime to) const {
  std::uint64_t count = 0;
  for (std::size_t i = 0, n = dropped_.size(); i < n; ++i)
    count += dropped_.at(i) >= from && dropped_.at(i) < to ? 1 : 0;
  return count;
}

std::uint64_t DriverLane::unheard(SteadyTime before) const {
  std::uint64_t count = 0;
  for (std::size_t i = 0, n = slot_log_.size(); i < n; ++i) {
    const std::int64_t since = slot_log_.at(i)->unheard_since.load(std::memory_order_relaxed);
    if (since != 0 && SteadyTime(base::Duration(since)) < before) ++count;
  }
  return count;
}

void DriverLane::hold(int asked, base::Duration ramp_step, base::Duration ramp_offset) {
  if (stopping_) return;
  asked_ = std::max(asked, 0);
  ramp_step_ = ramp_step;
  if (slots_ < asked_) next_ramp_ = std::max(next_ramp_, context_->clock.steady() + ramp_offset);
  slots_ = std::min(slots_, asked_);
  while (held() > slots_ && !waiting_.empty()) waiting_.pop();
  limit_ = std::max(asked_, in_flight_);
  publish();
  if (context_->running) turn();
}

void DriverLane::open(std::shared_ptr<const OpenLoop> load, SteadyTime begin) {
  if (stopping_) return;
  schedule_ = std::move(load);
  begin_ = begin;
  next_planned_ = number_;
  const int lanes = static_cast<int>(context_->lanes);
  const int whole = std::max(schedule_->most_outstanding, lanes);
  cap_ = whole / lanes + (static_cast<int>(number_) < whole % lanes ? 1 : 0);
  limit_ = std::max(cap_, in_flight_);
  publish();
  if (context_->running) turn();
}

DriverLane::Planned DriverLane::nth_planned(std::size_t i) const {
  const PlannedStart& start = schedule_->schedule[i];
  return {begin_ + start.at, start.utterance};
}

void DriverLane::launch_next(SteadyTime due) {
  const std::uint64_t utterance = next_index_;
  next_index_ += context_->lanes;
  launch(utterance, due, due, false);
}

void DriverLane::launch_planned(const Planned& one, SteadyTime cap_free) {
  launch(one.utterance, one.at, cap_free, true);
}

void DriverLane::launch(std::uint64_t utterance, SteadyTime planned, SteadyTime cap_free, bool open_loop) {
  Slot* slot = nullptr;
  if (free_.empty()) {
    all_.push_back(std::make_unique<Slot>(*this, context_->body.pcm_sample_rate));
    slot = all_.back().get();
    slot_log_.push(slot);
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  const std::uint64_t generation = ++slot->generation;
  slot->id = 0;
  slot->busy = true;
  slot->probe = AudioProbe(context_->body.pcm_sample_rate);
  Record& record = slot->record = Record{};
  record.chunks.reserve(slot->chunks);
  record.index = utterance;
  slot->cancel_at_data = chosen(record.index, context_->options.cancel_share);
  record.planned = planned;
  record.open_loop = open_loop;
  record.cap_wait = std::max(cap_free - planned, base::Duration{});
  record.start = context_->clock.steady();
  slot->since.store(record.start.time_since_epoch().count(), std::memory_order_relaxed);
  slot->unheard_since.store(record.start.time_since_epoch().count(), std::memory_order_relaxed);
  ++in_flight_;
  publish();

  aws::InvokeRequest request;
  request.body = render_body(context_->body, context_->workload.at(record.index).text);
  request.content_type = context_->body.content_type;
  request.accept = context_->body.accept;
  request.timeout = context_->options.request_timeout;
  aws::InvokeEvents events;
  events.on_connected = [slot, generation](SteadyTime at) {
    if (slot->generation == generation && slot->busy) slot->record.connected = at;
  };
  // Two words, which need no memory of their own.
  events.on_data = [slot, generation](SteadyTime at, std::string_view bytes) {
    if (slot->generation == generation && slot->busy) slot->lane.data(*slot, at, bytes);
  };
  events.on_done = [self = shared_from_this(), slot, generation](SteadyTime at,
                                                                 const aws::InvokeResult& result) {
    self->done(*slot, generation, at, result);
  };
  const std::uint64_t id = context_->target.start(number_, std::move(request), std::move(events));
  if (slot->generation == generation && slot->busy) slot->id = id;
}

void DriverLane::data(Slot& slot, SteadyTime at, std::string_view bytes) {
  if (bytes.empty()) return;  // an empty message is no audio byte
  Record& record = slot.record;
  if (!record.first_byte) {
    record.first_byte = at;
    slot.unheard_since.store(0, std::memory_order_relaxed);
  }
  record.chunks.push_back({at - record.start, static_cast<std::uint32_t>(bytes.size())});
  record.bytes += bytes.size();
  slot.probe.feed(bytes, at);
  if (slot.cancel_at_data) {
    slot.cancel_at_data = false;
    context_->target.cancel(number_, slot.id);
  }
}

void DriverLane::finish(Slot& slot, SteadyTime at, const aws::InvokeResult& result) {
  slot.busy = false;
  slot.since.store(0, std::memory_order_relaxed);
  slot.unheard_since.store(0, std::memory_order_relaxed);
  slot.probe.end(at);
  Record& record = slot.record;
  record.end = at;
  record.first_audible = slot.probe.first_audible();
  record.audio_s = slot.probe.audio_s();
  record.underruns = slot.probe.underruns();
  record.underrun_s = slot.probe.underrun_s();
  record.outcome = result.outcome;
  record.status = result.status;
  record.error = result.error;
  record.server_request_id = result.server_request_id;
  if (record.outcome == Outcome::kOk) ok_.fetch_add(1, std::memory_order_relaxed);
  --in_flight_;
  limit_ = std::max(schedule_ ? cap_ : asked_, in_flight_);
  free_.push_back(&slot);
  slot.chunks = record.chunks.size();
  records_.push(std::move(record));
  publish();
}

void DriverLane::done(Slot& slot, std::uint64_t generation, SteadyTime at, const aws::InvokeResult& result) {
  if (slot.generation != generation || !slot.busy) return;  // given up on earlier
  finish(slot, at, result);
  if (stopping_) return;
  if (schedule_) {
    drop_stale(at);
    if (in_flight_ >= cap_ || queued_.empty()) return;
    const Planned next = queued_.front();
    queued_.pop_front();
    return launch_planned(next, at);
  }
  if (held() >= slots_) return;
  if (result.outcome == Outcome::kRejected || result.outcome == Outcome::kFailed) {
    waiting_.push(at + context_->options.backoff);
    publish();
    arm(at + context_->options.backoff);
  } else {
    launch_next(at);
  }
}

void DriverLane::closed_turn(SteadyTime now) {
  while (!waiting_.empty() && waiting_.top() <= now) {
    const SteadyTime due = waiting_.top();
    waiting_.pop();
    if (held() < slots_) launch_next(due);
  }
  while (slots_ < asked_ && next_ramp_ <= now) {
    ++slots_;
    const SteadyTime due = next_ramp_;
    next_ramp_ += ramp_step_;
    if (held() < slots_) launch_next(due);
  }
  publish();
}

void DriverLane::drop_stale(SteadyTime now) {
  while (!queued_.empty() && now - queued_.front().at > schedule_->patience) {
    dropped_.push(queued_.front().at);
    queued_.pop_front();
  }
}

void DriverLane::open_turn(SteadyTime now) {
  const std::size_t all = schedule_->schedule.size();
  drop_stale(now);
  while (next_planned_ < all && nth_planned(next_planned_).at <= now) {
    const Planned next = nth_planned(next_planned_);
    next_planned_ += context_->lanes;
    if (in_flight_ < cap_ && queued_.empty()) {
      launch_planned(next, next.at);
    } else {
      queued_.push_back(next);
    }
  }
}

std::optional<SteadyTime> DriverLane::next_due() const {
  std::optional<SteadyTime> next;
  const auto take = [&next](SteadyTime when) {
    if (!next || when < *next) next = when;
  };
  if (!waiting_.empty()) take(waiting_.top());
  if (slots_ < asked_) take(next_ramp_);
  if (schedule_ && next_planned_ < schedule_->schedule.size()) take(nth_planned(next_planned_).at);
  if (schedule_ && !queued_.empty())
    take(queued_.front().at + schedule_->patience + std::chrono::milliseconds{1});
  return next;
}

void DriverLane::turn() {
  if (stopping_) return;
  const SteadyTime now = context_->clock.steady();
  schedule_ ? open_turn(now) : closed_turn(now);
  if (const auto next = next_due()) arm(*next);
}

void DriverLane::arm(SteadyTime when) {
  if (!context_->running || (armed_ && *armed_ <= when)) return;
  armed_ = when;
  context_->target.at(number_, when, [self = shared_from_this()] {
    self->armed_.reset();
    self->turn();
  });
}

void DriverLane::beat() { arm_beat(context_->clock.steady() + context_->options.heartbeat); }

void DriverLane::arm_beat(SteadyTime due) {
  context_->target.at(number_, due, [self = shared_from_this(), due] {
    if (self->stopping_) return;
    const SteadyTime now = self->context_->clock.steady();
    const std::int64_t late = std::max<std::int64_t>((now - due).count(), 0);
    std::int64_t seen = self->loop_lag_.load();
    while (late > seen && !self->loop_lag_.compare_exchange_weak(seen, late)) {
    }
    self->arm_beat(now + self->context_->options.heartbeat);
  });
}

void DriverLane::halt() {
  for (const Planned& one : queued_) dropped_.push(one.at);
  if (!stopping_ && schedule_) {  // what was due, though no turn took it up
    const SteadyTime now = context_->clock.steady();
    const std::size_t all = schedule_->schedule.size();
    for (; next_planned_ < all && nth_planned(next_planned_).at <= now; next_planned_ += context_->lanes)
      dropped_.push(nth_planned(next_planned_).at);
  }
  stopping_ = true;
  asked_ = slots_ = 0;
  limit_ = in_flight_;
  queued_.clear();
  while (!waiting_.empty()) waiting_.pop();
  publish();
  halted_.store(true, std::memory_order_release);
}

void DriverLane::cancel_all() {
  std::vector<std::uint64_t> ids;  // a cancel may end its request at once
  for (const auto& slot : all_) {
    if (slot->busy && slot->id != 0) ids.push_back(slot->id);
  }
  for (const std::uint64_t id : ids) context_->target.cancel(number_, id);
}

void DriverLane::give_up() {
  aws::InvokeResult result;
  result.outcome = Outcome::kAborted;
  result.error = "aborted: the request did not end after it was cancelled";
  for (const auto& slot : all_) {
    if (slot->busy) finish(*slot, context_->clock.steady(), result);
  }
}

}  // namespace headroom::load
