// Tests of the closed loop with a fake target and a fake clock, and once with real threads.
#include "load/driver.hpp"

#include <atomic>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "load/event_lane.hpp"

namespace headroom::load {
namespace {

using std::chrono::milliseconds;

// Keeps every request open until the test ends it.
class FakeTarget final : public Target {
 public:
  void post(std::size_t, Work work) override { work(); }
  void at(std::size_t, base::SteadyTime, Work) override {}  // tests call step()
  std::uint64_t start(std::size_t, aws::InvokeRequest request, aws::InvokeEvents events) override {
    bodies.push_back(request.body);
    open.emplace(++last, std::move(events));
    most = std::max(most, open.size());
    return last;
  }
  void cancel(std::size_t, std::uint64_t id) override {
    cancelled.push_back(id);
    if (!deaf) end(id, Outcome::kAborted, clock->steady());
  }
  void end(std::uint64_t id, Outcome outcome, base::SteadyTime at) {
    const auto found = open.find(id);
    if (found == open.end()) return;
    aws::InvokeEvents events = std::move(found->second);
    open.erase(found);
    aws::InvokeResult result;
    result.outcome = outcome;
    if (outcome != Outcome::kOk) result.error = std::string(name_of(outcome)) + ": because";
    events.on_done(at, result);
  }
  std::uint64_t oldest() const { return open.begin()->first; }

  base::Clock* clock = nullptr;
  std::map<std::uint64_t, aws::InvokeEvents> open;
  std::vector<std::string> bodies;
  std::vector<std::uint64_t> cancelled;
  std::uint64_t last = 0;
  std::size_t most = 0;
  bool deaf = false;
};

class DriverTest : public testing::Test {
 protected:
  DriverTest() {
    target.clock = &clock;
    DriverOptions options;
    options.cancel_patience = milliseconds{20};
    driver = std::make_unique<Driver>(target, workload, *body_format("sagemaker", "af_heart", "wav"), clock,
                                      options, [this] { return cpu; });
  }
  void run(base::Duration time) {
    for (base::Duration passed{}; passed < time; passed += milliseconds{10}) {
      driver->step();
      clock.advance(milliseconds{10});
    }
    driver->step();
  }
  void fill(int n) {
    driver->hold(n);
    run(milliseconds{20 * n});
  }
  static void expect_never_over(const std::vector<Sample>& samples) {
    for (const Sample& sample : samples) EXPECT_LE(sample.in_flight, sample.limit);
  }

  base::FakeClock clock;
  FakeTarget target;
  const Workload workload = *Workload::make("short");
  double cpu = 0;
  std::unique_ptr<Driver> driver;
};

TEST_F(DriverTest, RampsInOneSlotAtATime) {
  driver->hold(5);
  driver->step();
  EXPECT_EQ(target.open.size(), 1u);
  clock.advance(milliseconds{20});
  driver->step();
  EXPECT_EQ(target.open.size(), 2u);
  run(milliseconds{200});
  EXPECT_EQ(target.open.size(), 5u);
}

TEST_F(DriverTest, ItsOwnRampIsNoFaultOfTheDriver) {
  fill(100);
  const auto view = driver->window(base::SteadyTime{}, clock.steady());
  EXPECT_NEAR(view.held_mean, 50, 2);
  EXPECT_FALSE(view.client_bound) << view.client_bound_why;

  driver->hold(200);
  clock.advance(milliseconds{1000});  // it gets no turn, and what is asked goes on
  driver->step();
  EXPECT_EQ(driver->samples().back().asked, 150);
  driver->hold(50);
  run(milliseconds{200});
  EXPECT_EQ(driver->samples().back().asked, 50);
}

TEST_F(DriverTest, HoldsExactlyNThroughEveryOutcome) {
  fill(5);
  for (int i = 0; i < 200; ++i) {
    clock.advance(milliseconds{7});
    const std::array kOutcomes{Outcome::kOk, Outcome::kOk, Outcome::kTimedOut};
    target.end(target.oldest(), kOutcomes[static_cast<std::size_t>(i) % 3], clock.steady());
    EXPECT_EQ(target.open.size(), 5u);
    driver->step();
  }
  EXPECT_EQ(target.most, 5u);
  expect_never_over(driver->samples());
  EXPECT_EQ(driver->live().in_flight, 5);
}

TEST_F(DriverTest, ARefusedSlotWaitsAndStillCountsAsHeld) {
  fill(3);
  target.end(target.oldest(), Outcome::kRejected, clock.steady());
  EXPECT_EQ(target.open.size(), 2u);
  clock.advance(milliseconds{49});
  driver->step();
  EXPECT_EQ(target.open.size(), 2u);
  clock.advance(milliseconds{60});  // late: the lag is the driver's own
  driver->step();
  EXPECT_EQ(target.open.size(), 3u);
  EXPECT_EQ(driver->samples().back().in_flight + driver->samples().back().waiting, 3);
  target.end(3, Outcome::kOk, clock.steady());
  target.end(4, Outcome::kOk, clock.steady());
  EXPECT_EQ(driver->records().back().start - driver->records().back().planned, milliseconds{59});
}

TEST_F(DriverTest, LoweringDropsNothingAndRaisingGoesOn) {
  fill(6);
  driver->hold(2);
  run(milliseconds{300});
  EXPECT_EQ(target.open.size(), 6u);
  for (int i = 0; i < 5; ++i) target.end(target.oldest(), Outcome::kOk, clock.steady());
  EXPECT_EQ(target.open.size(), 2u);
  EXPECT_TRUE(target.cancelled.empty());
  driver->hold(4);
  run(milliseconds{100});
  EXPECT_EQ(target.open.size(), 4u);
  expect_never_over(driver->samples());
}

TEST_F(DriverTest, StopAbortsTheRestWithItsAge) {
  fill(3);
  clock.advance(std::chrono::seconds{8});
  const auto now = clock.steady();
  driver->stop({});
  ASSERT_EQ(driver->records().size(), 3u);
  for (const Record& record : driver->records()) {
    EXPECT_EQ(record.outcome, Outcome::kAborted);
    EXPECT_GE(record.end - record.start, std::chrono::seconds{8});
  }
  const auto view = driver->window(now - std::chrono::hours{1}, now + milliseconds{1}, Basis::kStarted);
  EXPECT_EQ(view.started, 3u);
  EXPECT_EQ(view.aborted, 3u);
  EXPECT_EQ(view.open, 0u);
}

TEST_F(DriverTest, ARequestThatWasGivenUpTakesNothingAnyMore) {
  target.deaf = true;
  fill(1);
  driver->stop({});
  ASSERT_EQ(driver->records().size(), 1u);
  auto& late = target.open.begin()->second;
  late.on_connected(clock.steady());
  late.on_data(clock.steady(), "RIFF");
  target.end(1, Outcome::kOk, clock.steady());
  const Record record = driver->records().at(0);
  EXPECT_EQ(record.outcome, Outcome::kAborted);
  EXPECT_EQ(record.bytes, 0u);
  EXPECT_FALSE(record.connected);
  EXPECT_EQ(driver->live().in_flight, 0);
}

TEST_F(DriverTest, EveryTextComesInOrder) {
  fill(3);
  EXPECT_EQ(target.bodies[0], render_body(*body_format("sagemaker", "af_heart", "wav"), workload.at(0).text));
  EXPECT_NE(target.bodies[0], target.bodies[1]);
}

TEST_F(DriverTest, ReadsAudioTimes) {
  fill(1);
  const auto start = clock.steady();
  auto& events = target.open.begin()->second;
  events.on_connected(start + milliseconds{1});
  events.on_data(start + milliseconds{50}, "RI");
  events.on_data(start + milliseconds{60}, "FF");
  target.end(1, Outcome::kOk, start + milliseconds{70});
  const Record record = driver->records().at(0);
  EXPECT_EQ(record.connected, start + milliseconds{1});
  EXPECT_EQ(record.first_byte, start + milliseconds{50});
  EXPECT_EQ(record.chunks.size(), 2u);
  EXPECT_EQ(record.bytes, 4u);
}

TEST_F(DriverTest, CountsWhatWaitsForItsFirstByte) {
  fill(3);
  clock.advance(milliseconds{500});
  EXPECT_EQ(driver->unheard(clock.steady()), 3u);
  EXPECT_EQ(driver->unheard(clock.steady() - milliseconds{700}), 0u);
  target.open.at(1).on_data(clock.steady(), "x");
  EXPECT_EQ(driver->unheard(clock.steady()), 2u);
  target.end(2, Outcome::kTimedOut, clock.steady());  // its slot's next request has only just begun
  EXPECT_EQ(driver->unheard(clock.steady()), 1u);
  clock.advance(milliseconds{1});
  EXPECT_EQ(driver->unheard(clock.steady()), 2u);
}

TEST_F(DriverTest, AnEmptyPieceIsNoFirstByte) {
  fill(1);
  const auto began = clock.steady();
  target.open.at(1).on_data(began, "");
  EXPECT_EQ(driver->unheard(began + milliseconds{1}), 1u);
  target.open.at(1).on_data(began + milliseconds{30}, "x");
  target.end(1, Outcome::kOk, began + milliseconds{40});
  EXPECT_EQ(driver->records().at(0).first_byte, began + milliseconds{30});
}

TEST_F(DriverTest, TellsWhenTheNthEndedSinceATime) {
  fill(2);
  const auto from = clock.steady();
  target.end(target.oldest(), Outcome::kOk, from - milliseconds{1});  // before
  target.end(target.oldest(), Outcome::kOk, from + milliseconds{30});
  target.end(target.oldest(), Outcome::kFailed,
             from + milliseconds{20});  // its thread came to the lock later
  EXPECT_EQ(driver->nth_end_since(from, 1), from + milliseconds{20});
  EXPECT_EQ(driver->nth_end_since(from, 2), from + milliseconds{30});
  EXPECT_FALSE(driver->nth_end_since(from, 3));
  EXPECT_FALSE(driver->nth_end_since(from, 0));
  EXPECT_EQ(driver->window(from, from + milliseconds{31}).started, 2u);
  EXPECT_EQ(driver->records().size(), 3u);
}

TEST_F(DriverTest, AWindowHoldsWhatEndedInItThoughALateLaneHandedItOnBeforeOlderEnds) {
  fill(2);
  const auto began = clock.steady();
  clock.advance(std::chrono::seconds{5});  // the lane stood still; the kernel stamped two ends meanwhile
  target.end(1, Outcome::kOk, began + milliseconds{4900});
  target.end(2, Outcome::kOk, began + milliseconds{100});
  EXPECT_EQ(driver->window(began + milliseconds{2000}, clock.steady()).ok, 1u);
  EXPECT_EQ(driver->nth_end_since(began, 1), began + milliseconds{100});
}

TEST_F(DriverTest, OpenLoopCountsFromThePlannedStartAndDropsWhatWaitedTooLong) {
  OpenLoop load;
  for (int i = 0; i < 10; ++i)
    load.schedule.push_back({milliseconds{100 * i}, 9u - static_cast<unsigned>(i)});
  load.most_outstanding = 2;
  load.patience = milliseconds{350};
  const auto begin = clock.steady();
  driver->open(load);
  run(milliseconds{1000});
  EXPECT_EQ(target.most, 2u);             // the others wait for room
  EXPECT_EQ(driver->live().dropped, 5u);  // planned at 200 to 600: more than 350 ms ago
  EXPECT_EQ(driver->dropped(begin + milliseconds{300}, begin + milliseconds{600}), 3u);
  target.open.at(1).on_data(begin + milliseconds{1005}, "x");
  target.end(1, Outcome::kOk, clock.steady());
  EXPECT_EQ(target.open.size(), 2u);
  target.end(3, Outcome::kOk, clock.steady());
  const auto records = driver->records();
  EXPECT_EQ(records.at(0).ttfab(), milliseconds{1005});
  EXPECT_EQ(records.at(0).index, 9u);
  EXPECT_EQ(records.at(1).planned, begin + milliseconds{700});
  EXPECT_EQ(records.at(1).index, 2u);  // its own text, though five before it were never sent
  EXPECT_EQ(records.at(1).cap_wait, clock.steady() - begin - milliseconds{700});
  EXPECT_EQ(records.at(1).lag().count(), 0);
}

TEST_F(DriverTest, WhatWasDueWhenTheDriverStoppedCountsAsDropped) {
  OpenLoop load;
  for (int i = 0; i < 10; ++i)
    load.schedule.push_back({milliseconds{100 * i}, 9u - static_cast<unsigned>(i)});
  load.most_outstanding = 1;
  load.patience = std::chrono::seconds{10};
  driver->open(load);
  run(milliseconds{150});  // the second waits for room
  clock.advance(milliseconds{300});
  driver->stop({});
  EXPECT_EQ(driver->records().size(), 1u);
  EXPECT_EQ(driver->live().dropped, 4u);  // planned at 100, and at 200 to 400, which no turn has seen
  clock.advance(std::chrono::seconds{1});
  driver->stop({});
  EXPECT_EQ(driver->live().dropped, 4u);
}

TEST_F(DriverTest, CancelsTheShareItWasToldTo) {
  DriverOptions options;
  options.cancel_share = 0.25;
  driver = std::make_unique<Driver>(target, workload, *body_format("sagemaker", "af_heart", "wav"), clock,
                                    options, [] { return 0.0; });
  driver->hold(1);
  driver->step();
  for (int i = 0; i < 100; ++i) {
    const auto id = target.oldest();
    const auto on_data = target.open.at(id).on_data;
    on_data(clock.steady(), "x");
    target.end(id, Outcome::kOk, clock.steady());  // does nothing where it was cancelled
  }
  EXPECT_EQ(driver->live().ok, 75u);
  EXPECT_EQ(driver->live().not_ok, 25u);
}

TEST_F(DriverTest, HandsEveryRecordOnOnce) {
  std::vector<std::uint64_t> seen;
  DriverOptions options;
  options.on_record = [&seen](const Record& record) { seen.push_back(record.index); };
  driver = std::make_unique<Driver>(target, workload, *body_format("sagemaker", "af_heart", "wav"), clock,
                                    options, [] { return 0.0; });
  fill(2);
  target.end(1, Outcome::kOk, clock.steady());
  driver->step();
  target.end(2, Outcome::kOk, clock.steady());
  driver->stop({});
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{0, 1, 2, 3}));
}

// Answers every request from the lane's own thread a moment later.
class LaneTarget final : public Target {
 public:
  explicit LaneTarget(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) loops.push_back(std::move(*EventLane::make()));
  }
  std::size_t lanes() const override { return loops.size(); }
  void post(std::size_t lane, Work work) override { loops[lane]->post(std::move(work)); }
  void at(std::size_t lane, base::SteadyTime when, Work work) override {
    loops[lane]->at(when, std::move(work));
  }
  std::uint64_t start(std::size_t lane, aws::InvokeRequest, aws::InvokeEvents events) override {
    const int now = ++in_flight;
    int seen = most;
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
    loops[lane]->at(std::chrono::steady_clock::now() + std::chrono::microseconds{100},
                    [this, events = std::move(events)] {
                      --in_flight;
                      aws::InvokeResult result;
                      result.outcome = Outcome::kOk;
                      events.on_done(std::chrono::steady_clock::now(), result);
                    });
    return ++id;
  }
  void cancel(std::size_t, std::uint64_t) override {}
  std::atomic<int> in_flight{0}, most{0};
  std::atomic<std::uint64_t> id{0};
  std::vector<std::unique_ptr<EventLane>> loops;
};

TEST(DriverThreads, NeverExceedsNOverSeveralLanes) {
  LaneTarget target(3);
  const Workload workload = *Workload::make("short");
  DriverOptions options;
  options.ramp_step = std::chrono::microseconds{100};
  options.sample_every = milliseconds{1};
  Driver driver(target, workload, *body_format("sagemaker", "af_heart", "wav"), base::SystemClock::instance(),
                options);
  driver.start();
  for (const int n : {8, 2, 7}) {
    const auto before = driver.live().ok;
    driver.hold(n);
    while (driver.live().ok < before + 400) std::this_thread::yield();
  }
  driver.stop(std::chrono::seconds{5});
  EXPECT_LE(target.most, 8);
  EXPECT_EQ(driver.live().in_flight, 0);
  EXPECT_GE(driver.records().size(), 1200u);
  for (const Sample& sample : driver.samples()) EXPECT_LE(sample.in_flight, sample.limit);
}

}  // namespace
}  // namespace headroom::load
