// The plain search: secant towards the SLO, then halving between pass and fail.
#include "capacity/search.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace headroom::capacity {

void PlainSearch::add(const Rung& rung) {
  if (rung.repeat) return;
  const RungVerdict verdict = rung.verdict.value_or(
      rung.p95_ms && *rung.p95_ms <= settings_.slo_ms ? RungVerdict::kPass : RungVerdict::kFail);
  const bool failed = verdict == RungVerdict::kFail || verdict == RungVerdict::kSaturated;
  if (verdict == RungVerdict::kPass) {
    if (!first_fail_ || rung.n < *first_fail_) last_pass_ = std::max(last_pass_.value_or(0), rung.n);
  } else if (failed) {
    first_fail_ = std::min(first_fail_.value_or(rung.n), rung.n);
    if (last_pass_ && *last_pass_ >= *first_fail_) last_pass_.reset();  // a failure below a pass overrules it
  } else if (std::find(once_.begin(), once_.end(), rung.n) != once_.end()) {
    unclear_ = std::min(unclear_.value_or(rung.n), rung.n);
  } else {
    once_.push_back(rung.n);  // worth one more try
  }
  if (rung.p95_ms && std::isfinite(*rung.p95_ms) && judges(verdict)) {
    std::erase_if(points_, [&](const Point& p) { return p.n == rung.n; });
    points_.push_back({rung.n, *rung.p95_ms});
    std::sort(points_.begin(), points_.end(), [](const Point& a, const Point& b) { return a.n < b.n; });
  }
  if (last_pass_ && first_fail_) ++halvings_;
  if (!last_pass_) {  // after an overruling failure, the largest pass below it that is still known
    for (const Point& p : points_) {
      if (p.p95_ms <= settings_.slo_ms && (!first_fail_ || p.n < *first_fail_)) last_pass_ = p.n;
    }
  }
}

std::optional<int> PlainSearch::next() const {
  std::string why;
  return propose(&why);
}

std::string PlainSearch::ended_because() const {
  std::string why;
  propose(&why);
  return why;
}

// Crossing of the SLO on the line through the two points nearest to it, strictly between low and high.
int PlainSearch::secant(int low, int high) const {
  std::vector<Point> near = points_;
  std::sort(near.begin(), near.end(), [&](const Point& a, const Point& b) {
    return std::abs(a.p95_ms - settings_.slo_ms) < std::abs(b.p95_ms - settings_.slo_ms);
  });
  double crossing = 0.5 * (low + high);
  if (near.size() >= 2 && near[0].n != near[1].n) {
    const double slope = (near[0].p95_ms - near[1].p95_ms) / (near[0].n - near[1].n);
    if (slope > 0) crossing = near[0].n + (settings_.slo_ms - near[0].p95_ms) / slope;
  }
  return static_cast<int>(std::clamp(std::floor(crossing + 1e-9), low + 1.0, high - 1.0));
}

std::optional<int> PlainSearch::propose(std::string* why) const {
  const auto known = [&](int n) {
    return std::any_of(points_.begin(), points_.end(), [&](const Point& p) { return p.n == n; }) ||
           (unclear_ && n >= *unclear_);
  };
  if (!first_fail_ && !unclear_) {
    for (const int n : settings_.first_rungs) {
      if (!known(n) && n <= settings_.max_n) return n;
    }
  }
  const int low = last_pass_.value_or(0);
  if (first_fail_ && *first_fail_ - low <= 1) {
    *why = low == 0 ? "nothing passes" : "the largest passing and the smallest failing count are neighbours";
    return std::nullopt;
  }
  if (unclear_ && (!first_fail_ || *unclear_ < *first_fail_)) {
    *why = fmt::format("{} outstanding could not be judged in two holds", *unclear_);
    return std::nullopt;
  }
  if (!first_fail_) {  // upwards, at most x4
    if (low >= settings_.max_n) {
      *why = fmt::format("the largest count allowed, {}, still passes", settings_.max_n);
      return std::nullopt;
    }
    const int high = std::min(std::max(low, 1) * 4, settings_.max_n);
    // One above the crossing: when it fails, as it should, the crossing itself is next and closes the
    // bracket.
    return low + 1 >= high ? high : std::min(secant(low, high + 1) + 1, high);
  }
  if (*first_fail_ - low <= std::max(1.0, std::floor(settings_.precision * low))) {
    *why = fmt::format("the gap between {} and {} is within the precision", low, *first_fail_);
    return std::nullopt;
  }
  if (low == 0) return *first_fail_ / 2;
  // Every third proposal halves, so that a curve the secant misjudges still closes in.
  if (halvings_ % 3 == 2 && *first_fail_ - low > 4) return low + (*first_fail_ - low) / 2;
  return secant(low, *first_fail_);
}

}  // namespace headroom::capacity
