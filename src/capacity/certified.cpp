// Steering: first rungs, above, below, between.
#include "capacity/certified.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace headroom::capacity {
namespace {

constexpr double kMostGrowth = 4;
constexpr double kHopeless = 1.6;      // a first rung this far above the crossing teaches nothing
constexpr double kRoundsNeeded = 7.6;  // 1.5 that are dropped and 6 that are judged
constexpr double kTestS = 90;
constexpr double kDeviations = 5, kTightDeviations = 4;
constexpr double kWiden = 1.5;
constexpr int kTightenings = 2;
constexpr double kTightenS = 90;  // with less time left a rung between the two rarely decides anything
constexpr double kStairWorkers = 2, kStairCv = 0.1;
constexpr double kScatter = 0.007;      // below it rungs agree
constexpr double kSlowNoiseLookS = 68;  // the first look where noise is longer than a rung

bool misses(RungVerdict verdict) {
  return verdict == RungVerdict::kFail || verdict == RungVerdict::kSaturated;
}

// Judged nothing for a reason that holding again may remove.
bool spoiled(RungVerdict verdict) {
  return verdict == RungVerdict::kClientBound || verdict == RungVerdict::kCapacityChanged ||
         verdict == RungVerdict::kUnstable;
}

int rounded(double x) { return static_cast<int>(std::lround(x)); }

}  // namespace

void CertifiedSearch::add(const HeldEvidence& held) {
  if (spoiled(held.verdict)) ++unjudged_[held.n];
  if (held.verdict == RungVerdict::kUndecided) ++undecided_[held.n];
  if (held.verdict == RungVerdict::kUndecided && held.n > settings_.first_rungs.back()) {
    const auto at = crossing();
    if (at && held.n > *at)
      ++undecided_above_;
    else
      ++undecided_below_;
  }
  if (first_fail() && last_pass() && held.n > *last_pass() && held.n < *first_fail()) ++tests_;
  held_[held.n] = held;
}

std::optional<int> CertifiedSearch::first_fail() const {
  for (const auto& [n, held] : held_) {
    if (misses(held.verdict)) return n;
  }
  return std::nullopt;
}

std::optional<int> CertifiedSearch::last_pass() const {
  std::optional<int> last;
  for (const auto& [n, held] : held_) {
    if (misses(held.verdict)) break;  // a pass above a failure proves nothing
    if (held.verdict == RungVerdict::kPass) last = n;
  }
  return last;
}

std::vector<LinePoint> CertifiedSearch::points() const {
  std::vector<LinePoint> out;
  for (const auto& [n, held] : held_) {
    const bool usable = !spoiled(held.verdict) && held.verdict != RungVerdict::kSaturated;
    if (usable && held.summary && held.summary->mean > 0) out.push_back({n, *held.summary});
  }
  return out;
}

std::optional<double> CertifiedSearch::crossing() const {
  const auto all = steering_points(points(), slow_noise());
  auto at = secant_crossing(all, settings_.slo_ms);
  if (!at) return std::nullopt;
  for (int turn = 0; turn < 3; ++turn) {  // the line is laid where the crossing is thought to be
    const auto line = line_crossing(all, settings_.slo_ms, *at);
    if (!line) break;
    at = line->n;
  }
  return std::max(0.5, *at);
}

// How many requests are served side by side: the largest throughput times the unqueued time of one (Little).
double CertifiedSearch::workers() const {
  const auto one = held_.find(1);
  if (one == held_.end() || !one->second.summary) return 1;
  double rps = 0;
  for (const auto& [n, held] : held_) rps = std::max(rps, held.rps.value_or(0));
  return std::max(1.0, rps * one->second.summary->mean / 1000);
}

// Workers with even service times make the curve a stair of this width; 0: no stair.
double CertifiedSearch::stair() const {
  const auto one = held_.find(1);
  if (one == held_.end() || !one->second.summary || workers() < kStairWorkers) return 0;
  return one->second.summary->sd < kStairCv * one->second.summary->mean ? workers() : 0;
}

std::optional<double> CertifiedSearch::scatter() const {
  return scatter_between(points(), std::max(5.0, 3 * workers()));
}

double CertifiedSearch::slow_noise() const {
  const double found = scatter().value_or(0);
  return found > kScatter ? found : 0;
}

// The rung nearest to the crossing says most about what lies there.
std::optional<LinePoint> CertifiedSearch::nearest(double crossing) const {
  std::optional<LinePoint> best;
  for (const LinePoint& point : points()) {
    if (!best || std::abs(std::log(point.n / crossing)) < std::abs(std::log(best->n / crossing)))
      best = point;
  }
  return best;
}

double CertifiedSearch::deviation_at(double crossing) const {
  const auto near = nearest(crossing);
  return near ? near->summary.sd * std::sqrt(crossing / near->n) : 0;  // of a sum of services
}

// How far from the crossing, relative, a rung must lie so that `seconds` tell its p95 from the SLO.
double CertifiedSearch::distance(double crossing, double seconds, double deviations) const {
  const auto near = nearest(crossing);
  if (!near) return settings_.precision / 2;
  const double rounds = std::max(1.0, seconds * 1000 / settings_.slo_ms / near->summary.noise_ratio);
  return std::clamp(deviations * deviation_at(crossing) / std::sqrt(rounds) / settings_.slo_ms,
                    settings_.precision / 2, 0.5);
}

std::optional<HoldRequest> CertifiedSearch::first_rung(double left_s) const {
  const auto at = crossing();
  if (first_fail()) return std::nullopt;
  for (const int n : settings_.first_rungs) {
    if (held(n) || n > settings_.max_n) continue;
    if (at && n > kHopeless * *at) return std::nullopt;
    const double round_s = at ? settings_.slo_ms / 1000 * n / *at : 0;
    return HoldRequest{n,
                       std::clamp(kRoundsNeeded * round_s, settings_.first_hold_s,
                                  std::max(settings_.first_hold_s, std::min(settings_.max_hold_s, left_s)))};
  }
  return std::nullopt;
}

// Whether anything passes at all is rung 1's to say. Its first hold is short: few rounds of a slow server, or
// none at all where a request hung.
std::optional<HoldRequest> CertifiedSearch::smallest_again(double left_s) const {
  const int n = settings_.first_rungs.front();
  const auto times = undecided_.find(n);
  const bool once = times != undecided_.end() && times->second == 1;
  if (!once || held_.at(n).verdict != RungVerdict::kUndecided) return std::nullopt;
  return HoldRequest{n, std::min(settings_.max_hold_s, left_s), settings_.first_hold_s};
}

// Between the last pass and the first failure, where the gap to the crossing is larger.
std::optional<int> CertifiedSearch::tighten(double at, double left_s) const {
  const int low = *last_pass(), high = *first_fail();
  if (tests_ >= kTightenings || left_s < kTightenS || high - low - 1 <= settings_.precision * at)
    return std::nullopt;
  const double seconds = std::min(settings_.max_hold_s, left_s) - settings_.first_hold_s / 4;
  const double delta = distance(at, seconds, kTightDeviations);
  const int above = std::max(static_cast<int>(at) + 1, rounded(at * (1 + delta)));
  const int below = std::min(static_cast<int>(at), rounded(at * (1 - delta)));
  const bool above_helps = above > low && above < high && !held(above);
  const bool below_helps = below > low && below < high && !held(below);
  if (above_helps && (!below_helps || high - above >= below - low)) return above;
  if (below_helps) return below;
  return std::nullopt;
}

std::optional<HoldRequest> CertifiedSearch::test_rung(double at, double left_s, std::string* why) const {
  const double at_most = std::min(settings_.max_hold_s, left_s);
  // Noise longer than a rung: a quick verdict would be one about this minute alone.
  const double first_look = slow_noise() > 0 ? std::min(kSlowNoiseLookS, at_most) : settings_.first_hold_s;
  const auto request = [&](int n) { return HoldRequest{n, at_most, first_look}; };
  const double seconds = std::min(kTestS, settings_.max_hold_s);
  const double delta = distance(at, seconds, kDeviations);
  const int low = last_pass().value_or(0);
  const auto high = first_fail();
  if (!high) {
    const double wide = delta * std::pow(kWiden, undecided_above_);
    int n = std::max({static_cast<int>(at) + 1, rounded(at * (1 + wide)), low + 1});
    while (held(n) && held_.at(n).verdict == RungVerdict::kUndecided)
      n += std::max(1, rounded(delta * at / 2));
    if (low >= settings_.max_n) {
      *why = fmt::format("the largest count allowed, {}, still passes", settings_.max_n);
      return std::nullopt;
    }
    return request(std::min(n, settings_.max_n));
  }
  if (*high - low <= 1) {
    *why = low == 0 ? "nothing passes" : "the largest passing and the smallest failing count are neighbours";
    return std::nullopt;
  }
  const double wide = delta * std::pow(kWiden, undecided_below_);
  const int below = std::min({static_cast<int>(at), rounded(at * (1 - wide)), *high - 1});
  if (low == 0 || low < below - std::max(0.5, delta * at / 2)) {
    int n = std::max(1, below);
    while (n > low + 1 && held(n)) n -= std::max(1, rounded(delta * at / 2));
    if (n > low && !held(n)) return request(n);
  }
  if (low == 0) {
    if (const auto again = smallest_again(left_s)) return again;
  }
  if (low > 0) {
    if (const auto n = tighten(at, left_s)) return request(*n);
  }
  *why = fmt::format("the gap between {} and {} is as narrow as its noise allows", low, *high);
  return std::nullopt;
}

std::optional<HoldRequest> CertifiedSearch::propose(double spent_s, std::string* why) const {
  const auto about = crossing();
  const double kept = settings_.reserve_s + (about && *about < 10 ? settings_.small_reserve_s : 0);
  const double left = settings_.budget_s - kept - spent_s;
  if (held_.empty()) return HoldRequest{settings_.first_rungs.front(), settings_.first_hold_s};
  for (const auto& [n, times] : unjudged_) {
    if (times >= 2) {
      *why = fmt::format("{} outstanding could not be judged in two holds", n);
      return std::nullopt;
    }
  }
  if (left < settings_.first_hold_s) {
    *why = "the budget is spent";
    return std::nullopt;
  }
  for (const auto& [n, times] : unjudged_) {
    if (spoiled(held_.at(n).verdict)) return HoldRequest{n, std::min(settings_.max_hold_s, left)};
  }
  if (misses(held_.begin()->second.verdict) && held_.begin()->first <= settings_.first_rungs.front()) {
    *why = "nothing passes";
    return std::nullopt;
  }
  if (!about) {  // nothing has succeeded
    if (const auto again = smallest_again(left)) return again;
  }
  if (const auto first = first_rung(left)) return first;
  const auto& at = about;
  if (!at) {
    *why = "no rung has succeeded";
    return std::nullopt;
  }
  const int largest = held_.rbegin()->first;
  if (!first_fail() && *at > kMostGrowth * largest && largest < settings_.max_n) {
    const int n = std::min(settings_.max_n, static_cast<int>(kMostGrowth * largest));
    return HoldRequest{n, std::min(left, settings_.first_hold_s)};
  }
  return test_rung(*at, left, why);
}

std::optional<HoldRequest> CertifiedSearch::next(double spent_s) const {
  std::string why;
  return propose(spent_s, &why);
}

std::string CertifiedSearch::ended_because(double spent_s) const {
  std::string why;
  propose(spent_s, &why);
  return why;
}

}  // namespace headroom::capacity
