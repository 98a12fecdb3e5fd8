// The lanes together, and the thread that samples them.
#include "load/driver.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <sys/resource.h>

#include "load/clock_look.hpp"
#include "load/driver_lane.hpp"

namespace headroom::load {

using base::SteadyTime;

namespace {

// Records come in order of their end within a lane, but for what lies between an arrival, which the kernel
// stamps, and the callback: a lane that stood still hands on at once what came in all that time, in any
// order.
constexpr base::Duration kEndDisorder = kOldestStamp + std::chrono::seconds{1};
constexpr auto kPoll = std::chrono::milliseconds{10};  // looks while a run ends; each costs a wake-up

}  // namespace

struct Driver::Impl {
  Impl(Target& target, const Workload& workload, BodyFormat body, base::Clock& clock, DriverOptions options,
       std::function<double()> cpu)
      : context(std::make_shared<LoadContext>(target, workload, std::move(body), clock, std::move(options))),
        cpu_seconds(std::move(cpu)) {
    context->lanes = std::max<std::size_t>(target.lanes(), 1);
    for (std::size_t i = 0; i < context->lanes; ++i) {
      lanes.push_back(std::make_shared<DriverLane>(context, i));
      handed_on.push_back(0);
    }
  }

  const std::shared_ptr<LoadContext> context;
  const std::function<double()> cpu_seconds;
  std::vector<std::shared_ptr<DriverLane>> lanes;
  std::vector<std::size_t> handed_on;  // records, by lane
  std::atomic<int> asked{0};
  AppendLog<Sample> samples;
  std::optional<SteadyTime> next_sample;
  struct Ramp {
    int from = 0, to = 0;
    SteadyTime began{};
    base::Duration step{};
  };
  Ramp ramp;         // guarded by mutex
  std::mutex mutex;  // also of `changed`
  std::condition_variable_any changed;
  std::jthread thread;

  // `work` on every lane, on its thread.
  void on_lanes(const std::function<void(DriverLane&)>& work) {
    for (std::size_t i = 0; i < lanes.size(); ++i)
      context->target.post(i, [lane = lanes[i], work] { work(*lane); });
  }

  int in_flight() const {
    int sum = 0;
    for (const auto& lane : lanes) sum += lane->status().in_flight;
    return sum;
  }

  std::vector<const Record*> ended_since(SteadyTime from) const {
    std::vector<const Record*> out;
    for (const auto& lane : lanes) {
      const auto& log = lane->records();
      for (std::size_t i = log.size(); i-- > 0 && log.at(i).end >= from - kEndDisorder;) {
        if (log.at(i).end >= from) out.push_back(&log.at(i));
      }
    }
    std::reverse(out.begin(), out.end());
    std::stable_sort(out.begin(), out.end(),
                     [](const Record* a, const Record* b) { return a->end < b->end; });
    return out;
  }

  // As many as should be held at a moment: what a driver that keeps its ramp has.
  int due(SteadyTime at) {
    std::lock_guard lock(mutex);
    const auto steps = ramp.step.count() > 0 ? (at - ramp.began) / ramp.step : ramp.to;
    return static_cast<int>(std::min<std::int64_t>(ramp.to, ramp.from + steps));
  }

  void hold(int n) {
    const int before = asked.exchange(std::max(n, 0));
    const int now = asked;
    const auto count = static_cast<int>(lanes.size());
    const auto step = std::min<base::Duration>(context->options.ramp_step,
                                               context->options.longest_ramp / std::max(now - before, 1));
    const auto began = context->clock.steady();
    const int held = due(began);
    {
      std::lock_guard lock(mutex);
      ramp = {held, now, began, step};
    }
    for (int i = 0; i < count; ++i) {
      const int share = now / count + (i < now % count ? 1 : 0);
      context->target.post(static_cast<std::size_t>(i),
                           [lane = lanes[static_cast<std::size_t>(i)], share, step, count, i] {
                             lane->hold(share, step * count, step * i);
                           });
    }
  }

  void sample(SteadyTime now) {
    if (!next_sample) next_sample = now;
    if (now < *next_sample) return;
    Sample out;
    out.at = now;
    out.asked = due(now);
    out.cpu_s = cpu_seconds();
    for (const auto& lane : lanes) {
      const auto status = lane->status();
      out.in_flight += status.in_flight;
      out.waiting += status.waiting;
      out.limit += status.limit;
      out.loop_lag = std::max(out.loop_lag, lane->take_loop_lag());
    }
    samples.push(out);
    while (*next_sample <= now) *next_sample += context->options.sample_every;  // a late one is not made up
  }

  void hand_on() {
    if (!context->options.on_record) return;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      const auto& log = lanes[i]->records();
      for (const std::size_t n = log.size(); handed_on[i] < n; ++handed_on[i])
        context->options.on_record(log.at(handed_on[i]));
    }
  }

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      sample(context->clock.steady());
      hand_on();
      std::unique_lock lock(mutex);
      changed.wait_until(lock, stop, *next_sample, [] { return false; });
    }
  }

  template <class Condition>
  static bool wait_for(base::Duration patience, Condition condition) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!condition()) {
      if (std::chrono::steady_clock::now() >= until) return false;
      std::this_thread::sleep_for(kPoll);
    }
    return true;
  }

  bool idle() const {
    return std::all_of(lanes.begin(), lanes.end(), [](const auto& lane) { return lane->halted(); }) &&
           in_flight() == 0;
  }

  void stop(base::Duration grace) {
    asked = 0;
    on_lanes([](DriverLane& lane) { lane.halt(); });
    if (!wait_for(grace, [this] { return idle(); })) {
      const auto until = std::chrono::steady_clock::now() + context->options.cancel_patience;
      do {  // again: what was being started had no id yet
        on_lanes([](DriverLane& lane) { lane.cancel_all(); });
      } while (!wait_for(std::chrono::milliseconds{50}, [this] { return idle(); }) &&
               std::chrono::steady_clock::now() < until);
      // A target that never calls back must not hold the run up: its requests end here.
      on_lanes([](DriverLane& lane) { lane.give_up(); });
      wait_for(context->options.cancel_patience, [this] { return idle(); });
    }
    if (thread.joinable()) {
      thread.request_stop();
      thread.join();
      context->running = false;
    }
    hand_on();
  }
};

Driver::Driver(Target& target, const Workload& workload, BodyFormat body, base::Clock& clock,
               DriverOptions options, std::function<double()> cpu_seconds)
    : impl_(std::make_shared<Impl>(target, workload, std::move(body), clock, std::move(options),
                                   std::move(cpu_seconds))) {}

Driver::~Driver() { stop({}); }

void Driver::start() {
  if (impl_->thread.joinable()) return;
  impl_->context->running = true;
  impl_->on_lanes([](DriverLane& lane) {
    lane.beat();
    lane.turn();
  });
  impl_->thread = std::jthread([impl = impl_.get()](const std::stop_token& stop) { impl->run(stop); });
}

void Driver::hold(int asked) { impl_->hold(asked); }

void Driver::open(OpenLoop load) {
  const auto shared = std::make_shared<const OpenLoop>(std::move(load));
  const SteadyTime begin = impl_->context->clock.steady();
  impl_->on_lanes([shared, begin](DriverLane& lane) { lane.open(shared, begin); });
}

void Driver::stop(base::Duration grace) { impl_->stop(grace); }

void Driver::step() {
  for (const auto& lane : impl_->lanes) lane->turn();
  impl_->sample(impl_->context->clock.steady());
  impl_->hand_on();
}

Live Driver::live() const {
  Live out;
  out.asked = impl_->asked;
  for (const auto& lane : impl_->lanes) {
    out.in_flight += lane->status().in_flight;
    out.ok += lane->ok();
    out.not_ok += lane->records().size();
    out.dropped += lane->dropped();
  }
  out.not_ok -= std::min(out.ok, out.not_ok);
  return out;
}

std::vector<Record> Driver::records() const {
  std::vector<Record> out;
  for (const Record* record : impl_->ended_since(SteadyTime::min() + kEndDisorder)) out.push_back(*record);
  return out;
}

std::vector<Sample> Driver::samples() const {
  std::vector<Sample> out;
  for (std::size_t i = 0, n = impl_->samples.size(); i < n; ++i) out.push_back(impl_->samples.at(i));
  return out;
}

WindowView Driver::window(SteadyTime from, SteadyTime to, Basis basis) const {
  const std::vector<const Record*> ended = impl_->ended_since(from);
  std::vector<Sample> samples;
  for (std::size_t i = impl_->samples.size(); i-- > 0 && impl_->samples.at(i).at >= from;)
    samples.push_back(impl_->samples.at(i));
  std::reverse(samples.begin(), samples.end());
  std::vector<SteadyTime> open;
  for (const auto& lane : impl_->lanes) lane->add_open_starts(open);
  return view_window({ended, samples, open}, from, to, basis, impl_->context->options.event_loops);
}

std::optional<SteadyTime> Driver::nth_end_since(SteadyTime from, std::size_t n) const {
  const std::vector<const Record*> ended = impl_->ended_since(from);
  if (n == 0 || ended.size() < n) return std::nullopt;
  return ended[n - 1]->end;
}

std::uint64_t Driver::dropped(SteadyTime from, SteadyTime to) const {
  std::uint64_t count = 0;
  for (const auto& lane : impl_->lanes) count += lane->dropped(from, to);
  return count;
}

std::uint64_t Driver::unheard(SteadyTime before) const {
  std::uint64_t count = 0;
  for (const auto& lane : impl_->lanes) count += lane->unheard(before);
  return count;
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
