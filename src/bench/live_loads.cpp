// A rig for each load, and a look at the fleet each second.
#include "bench/live_loads.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "bench/freeze.hpp"
#include "load/schedule.hpp"

namespace headroom::bench {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

// Why the driver was the limit; empty: it was not.
std::string limit_of(const load::Driver& driver, base::SteadyTime from, base::SteadyTime to) {
  const auto view = driver.window(from, to);
  return view.client_bound ? view.client_bound_why : std::string();
}

}  // namespace

Result<std::unique_ptr<Rig>> LiveLoads::start(const LiveLoad& load, double longest_s) {
  auto plan = plan_load(options_, session_);
  if (!plan) return tl::unexpected(plan.error());
  load::OpenLoop open;
  const bool closed = load.outstanding > 0;
  if (!closed) {
    auto schedule = load::make_schedule(load::Arrivals::kConstant, load.rate_rps, base::from_s(longest_s),
                                        plan->workload, static_cast<std::uint64_t>(options_.seed));
    if (!schedule) return tl::unexpected(schedule.error());
    open.schedule = std::move(*schedule);
  }
  LoadOptions quiet = options_;
  quiet.records = "none";
  const int most = closed ? load.outstanding : static_cast<int>(std::clamp(10 * load.rate_rps, 64.0, 1000.0));
  open.most_outstanding = most;
  auto rig = Rig::make(session_, std::move(*plan), quiet, most);
  if (!rig) return rig;
  if (auto warm = (*rig)->warm(std::min(most, 64), session_); !warm) return tl::unexpected(warm.error());
  closed ? (*rig)->driver().hold(load.outstanding) : (*rig)->driver().open(std::move(open));
  return rig;
}

Result<LiveLoads::Held> LiveLoads::hold(const LiveLoad& load, double settle_s, double judged_s) {
  auto rig = start(load, settle_s + judged_s + 5);
  if (!rig) return tl::unexpected(rig.error());
  const auto began = session_.clock().steady();
  const auto from = began + base::from_s(settle_s);
  const bool whole = session_.interrupt().wait_for(base::from_s(settle_s + judged_s));
  const auto to = from + base::from_s(judged_s);
  if (auto closed = (*rig)->close(whole ? base::from_s(30) : base::Duration{}); !closed)
    return tl::unexpected(closed.error());
  if (!whole) return fail(ErrorCode::kCancelled, "interrupted");
  auto& driver = (*rig)->driver();
  return Held{driver.window(from, to, load::Basis::kStarted), driver.live().dropped,
              limit_of(driver, began, to)};
}

Result<FleetPoint> LiveLoads::read_fleet(base::SteadyTime began) {
  const auto endpoint = session_.sagemaker().describe_endpoint(session_.endpoint(), session_.shortly());
  if (!endpoint) return tl::unexpected(endpoint.error());
  const auto* variant = endpoint->variant(session_.variant());
  if (variant == nullptr)
    return fail(ErrorCode::kNotFound,
                fmt::format("'{}' has no variant '{}' any more", session_.endpoint(), session_.variant()));
  if (!variant->desired_instance_count || !variant->current_instance_count)
    return fail(ErrorCode::kUnavailable, "DescribeEndpoint told no counts");
  return FleetPoint{base::to_s(session_.clock().steady() - began), *variant->desired_instance_count,
                    *variant->current_instance_count};
}

Result<FleetCourse> LiveLoads::watch(double longest_s, const Done& done) {
  const auto began = session_.clock().steady();
  const auto since_s = [&] { return base::to_s(session_.clock().steady() - began); };
  FleetCourse course;
  for (;;) {
    const auto point = read_fleet(began);
    if (point) {
      course.add(*point);
      progress_.show(fmt::format("  {:4.0f} of {:.0f} s  desired {}  in service {}", point->at_s, longest_s,
                                 point->desired, point->in_service));
      if (done(course.points)) break;
    } else if (restore_patience(point.error()) <= base::Duration{}) {
      return tl::unexpected(point.error());
    } else {
      course.miss(since_s(), base::describe(point.error()));
    }
    if (since_s() > longest_s) break;
    if (!session_.interrupt().wait_for(base::from_s(kReadingS)))
      return fail(ErrorCode::kCancelled, "interrupted");
  }
  progress_.clear();
  return course;
}

Result<LiveLoads::Watched> LiveLoads::watch_under(const LiveLoad& load, double longest_s, const Done& done) {
  auto rig = start(load, longest_s + 60);
  if (!rig) return tl::unexpected(rig.error());
  const auto began = session_.clock().steady();
  auto course = watch(longest_s, done);
  const std::string limit = limit_of((*rig)->driver(), began, session_.clock().steady());
  // After an interrupt the endpoint is to be restored within seconds.
  if (auto closed = (*rig)->close(course ? base::from_s(10) : base::Duration{}); !closed)
    return tl::unexpected(closed.error());
  if (!course) return tl::unexpected(course.error());
  return Watched{std::move(*course), limit};
}

}  // namespace headroom::bench
