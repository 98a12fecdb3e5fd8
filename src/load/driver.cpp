// The closed loop: slots, their requests, and the thread that samples and ramps.
#include "load/driver.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <queue>
#include <thread>
#include <unordered_map>

#include <sys/resource.h>

#include "load/audio_probe.hpp"

namespace headroom::load {

using base::SteadyTime;

namespace {

// Records come in order of their end, but for what lies between reading the clock on a loop's thread and
// taking the lock.
constexpr base::Duration kEndDisorder = std::chrono::seconds{1};

struct Active {
  explicit Active(int pcm_rate) : probe(pcm_rate) {}
  std::uint64_t index = 0;
  SteadyTime start{};
  Record record;
  AudioProbe probe;
  std::uint64_t id = 0;  // of the target, once start() has returned
  // Guards the record and the probe: one that was given up on may still get bytes, on another thread.
  std::mutex mutex;
  bool done = false;
};

}  // namespace

struct Driver::Impl : std::enable_shared_from_this<Driver::Impl> {
  Impl(Target& t, const Workload& w, BodyFormat b, base::Clock& c, DriverOptions o,
       std::function<double()> cpu)
      : target(t), workload(w), body(std::move(b)), clock(c), options(o), cpu_seconds(std::move(cpu)) {}

  Target& target;
  const Workload& workload;
  const BodyFormat body;
  base::Clock& clock;
  const DriverOptions options;
  const std::function<double()> cpu_seconds;

  mutable std::mutex mutex;  // guards all below
  std::condition_variable changed;
  int asked = 0;
  int slots = 0;  // of `asked`, those that are ramped in
  int in_flight = 0;
  int limit = 0;
  bool stopping = false;
  std::priority_queue<SteadyTime, std::vector<SteadyTime>, std::greater<>> waiting;  // when each may go again
  SteadyTime next_ramp{};
  std::optional<SteadyTime> next_sample;
  std::uint64_t next_index = 0;
  std::unordered_map<std::uint64_t, std::shared_ptr<Active>> active;  // by index
  std::deque<Record> records;  // only grows, so that what it holds may be read without the lock
  std::vector<Sample> samples;
  std::uint64_t ok = 0;

  std::jthread thread;

  int held() const { return in_flight + static_cast<int>(waiting.size()); }

  // Takes the lock. The records live as long as the driver.
  std::vector<const Record*> ended_since(SteadyTime from) const {
    std::vector<const Record*> out;
    {
      std::lock_guard lock(mutex);
      for (auto at = records.rbegin(); at != records.rend() && at->end >= from - kEndDisorder; ++at) {
        if (at->end >= from) out.push_back(&*at);
      }
    }
    std::reverse(out.begin(), out.end());
    return out;
  }

  // Under the lock: takes a free slot for a request due at `planned`.
  std::shared_ptr<Active> take(SteadyTime planned) {
    auto next = std::make_shared<Active>(body.pcm_sample_rate);
    next->index = next->record.index = next_index++;
    next->record.planned = planned;
    next->start = next->record.start = clock.steady();
    ++in_flight;
    active.emplace(next->index, next);
    return next;
  }

  void launch(const std::shared_ptr<Active>& one) {
    aws::InvokeRequest request;
    request.body = render_body(body, workload.at(one->index).text);
    request.content_type = body.content_type;
    request.accept = body.accept;
    request.timeout = options.request_timeout;
    aws::InvokeEvents events;
    events.on_connected = [one](SteadyTime at) {
      std::lock_guard lock(one->mutex);
      if (!one->done) one->record.connected = at;
    };
    events.on_data = [one](SteadyTime at, std::string_view bytes) {
      std::lock_guard lock(one->mutex);
      if (one->done) return;
      Record& record = one->record;
      if (!record.first_byte) record.first_byte = at;
      record.chunks.push_back({at - record.start, static_cast<std::uint32_t>(bytes.size())});
      record.bytes += bytes.size();
      one->probe.feed(bytes, at);
    };
    events.on_done = [self = shared_from_this(), one](SteadyTime at, const aws::InvokeResult& result) {
      self->done(one, at, result);
    };
    const std::uint64_t id = target.start(std::move(request), std::move(events));
    std::lock_guard lock(mutex);
    one->id = id;
  }

  // Under the lock.
  void finish(const std::shared_ptr<Active>& one, SteadyTime at, const aws::InvokeResult& result) {
    std::lock_guard quiet(one->mutex);
    one->done = true;
    one->probe.end(at);
    Record& record = one->record;
    record.end = at;
    record.first_audible = one->probe.first_audible();
    record.audio_s = one->probe.audio_s();
    record.underruns = one->probe.underruns();
    record.underrun_s = one->probe.underrun_s();
    record.outcome = result.outcome;
    record.status = result.status;
    record.error = result.error;
    record.server_request_id = result.server_request_id;
    if (record.outcome == Outcome::kOk) ++ok;
    --in_flight;
    limit = std::max(asked, in_flight);
    active.erase(one->index);
    records.push_back(std::move(record));
  }

  void done(const std::shared_ptr<Active>& one, SteadyTime at, const aws::InvokeResult& result) {
    std::shared_ptr<Active> next;
    {
      std::lock_guard lock(mutex);
      if (!active.contains(one->index)) return;  // given up on earlier
      finish(one, at, result);
      bool wake = in_flight == 0;
      if (!stopping && held() < slots) {
        if (result.outcome == Outcome::kRejected || result.outcome == Outcome::kFailed) {
          waiting.push(at + options.backoff);
          wake = true;
        } else {
          next = take(at);
        }
      }
      if (wake) changed.notify_all();
    }
    if (next) launch(next);
  }

  void hold(int n) {
    std::lock_guard lock(mutex);
    asked = std::max(n, 0);
    if (slots < asked) next_ramp = std::max(next_ramp, clock.steady());
    slots = std::min(slots, asked);
    while (held() > slots && !waiting.empty()) waiting.pop();
    limit = std::max(asked, in_flight);
    changed.notify_all();
  }

  // One turn; returns when the next is due.
  SteadyTime step() {
    const SteadyTime now = clock.steady();
    const double cpu = cpu_seconds();
    std::vector<std::shared_ptr<Active>> ready;
    SteadyTime next = now + options.sample_every;
    {
      std::lock_guard lock(mutex);
      if (!stopping) {
        while (!waiting.empty() && waiting.top() <= now) {
          const SteadyTime due = waiting.top();
          waiting.pop();
          if (held() < slots) ready.push_back(take(due));
        }
        while (slots < asked && next_ramp <= now) {
          ++slots;
          if (held() < slots) ready.push_back(take(next_ramp));
          next_ramp += options.ramp_step;
        }
        if (!waiting.empty()) next = std::min(next, waiting.top());
        if (slots < asked) next = std::min(next, next_ramp);
      }
      if (!next_sample) next_sample = now;
      if (now >= *next_sample) {
        samples.push_back({now, in_flight, static_cast<int>(waiting.size()), asked, limit, cpu});
        while (*next_sample <= now) *next_sample += options.sample_every;  // a late one is not made up for
      }
      next = std::min(next, *next_sample);
    }
    for (const auto& one : ready) launch(one);
    return next;
  }

  void run(std::stop_token stop) {
    while (!stop.stop_requested()) {
      const SteadyTime next = step();
      std::unique_lock lock(mutex);
      if (stop.stop_requested()) return;
      // Woken early by hold() and by slots that begin to wait.
      changed.wait_until(lock, next);
    }
  }

  bool wait_until_idle(SteadyTime until) {
    std::unique_lock lock(mutex);
    return changed.wait_until(lock, until, [this] { return in_flight == 0; });
  }

  void cancel_all() {
    std::vector<std::uint64_t> ids;
    {
      std::lock_guard lock(mutex);
      for (const auto& [index, one] : active) {
        if (one->id != 0) ids.push_back(one->id);
      }
    }
    for (std::uint64_t id : ids) target.cancel(id);
  }

  // A target that never calls back must not hold the run up: its requests end here, aborted with their age.
  void give_up() {
    std::lock_guard lock(mutex);
    std::vector<std::shared_ptr<Active>> rest;
    for (const auto& [index, one] : active) rest.push_back(one);
    aws::InvokeResult result;
    result.outcome = Outcome::kAborted;
    result.error = "aborted: the request did not end after it was cancelled";
    for (const auto& one : rest) finish(one, clock.steady(), result);
  }

  void stop(base::Duration grace) {
    {
      std::lock_guard lock(mutex);
      stopping = true;
      asked = slots = 0;
      limit = in_flight;
      while (!waiting.empty()) waiting.pop();
      changed.notify_all();
    }
    using Real = std::chrono::steady_clock;
    if (!wait_until_idle(Real::now() + grace)) {
      const auto until = Real::now() + options.cancel_patience;
      do {
        cancel_all();  // again: one whose start() was still running had no id yet
      } while (!wait_until_idle(std::min(Real::now() + std::chrono::milliseconds{50}, until)) &&
               Real::now() < until);
      give_up();
    }
    if (thread.joinable()) {
      thread.request_stop();
      {
        std::lock_guard lock(mutex);
        changed.notify_all();
      }
      thread.join();
    }
  }
};

Driver::Driver(Target& target, const Workload& workload, BodyFormat body, base::Clock& clock,
               DriverOptions options, std::function<double()> cpu_seconds)
    : impl_(std::make_shared<Impl>(target, workload, std::move(body), clock, options,
                                   std::move(cpu_seconds))) {}

Driver::~Driver() { stop({}); }

void Driver::start() {
  if (impl_->thread.joinable()) return;
  impl_->thread = std::jthread([impl = impl_.get()](std::stop_token stop) { impl->run(stop); });
}

void Driver::hold(int asked) { impl_->hold(asked); }
void Driver::stop(base::Duration grace) { impl_->stop(grace); }
void Driver::step() { impl_->step(); }

Live Driver::live() const {
  std::lock_guard lock(impl_->mutex);
  return {impl_->asked, impl_->in_flight, impl_->ok, impl_->records.size() - impl_->ok};
}

std::vector<Record> Driver::records() const {
  std::vector<Record> out;
  for (const Record* record : impl_->ended_since(SteadyTime::min() + kEndDisorder)) out.push_back(*record);
  return out;
}

std::vector<Sample> Driver::samples() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->samples;
}

WindowView Driver::window(SteadyTime from, SteadyTime to, Basis basis) const {
  const std::vector<const Record*> ended = impl_->ended_since(from);
  std::vector<Sample> samples;
  std::vector<SteadyTime> open;
  {
    std::lock_guard lock(impl_->mutex);
    for (auto at = impl_->samples.rbegin(); at != impl_->samples.rend() && at->at >= from; ++at)
      samples.push_back(*at);
    for (const auto& [index, one] : impl_->active) open.push_back(one->start);
  }
  std::reverse(samples.begin(), samples.end());
  return view_window({ended, samples, open}, from, to, basis, impl_->options.event_loops);
}

std::optional<SteadyTime> Driver::nth_end_since(SteadyTime from, std::size_t n) const {
  std::vector<SteadyTime> ends;
  for (const Record* record : impl_->ended_since(from)) ends.push_back(record->end);
  if (n == 0 || ends.size() < n) return std::nullopt;
  std::nth_element(ends.begin(), ends.begin() + static_cast<std::ptrdiff_t>(n) - 1, ends.end());
  return ends[n - 1];
}

double Driver::process_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace headroom::load
