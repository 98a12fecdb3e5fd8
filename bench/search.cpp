// Search quality: whole searches through the product's own code on simulated services of known Q_max.
//
// usage: headroom_search_bench [SEARCHES_PER_FAMILY] [SEED]. Prints a table as Markdown: the certified
// search, the naive rule beside it, and each target with what was reached. Exit 0 if every target is met, 1
// otherwise.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "capacity/held_out_families.hpp"
#include "capacity/service_families.hpp"
#include "capacity/simulated_search.hpp"

namespace {

using namespace headroom::capacity;
using namespace headroom::capacity::test;

constexpr double kLadderS = 2178;
constexpr double kSloMs = 3000;

// log of the binomial probability of at most k of n at 5 %, summed; enough for a rule that is only compared
// with.
double at_most(std::size_t k, std::size_t n) {
  double log_term = static_cast<double>(n) * std::log(0.95), sum = 0;
  for (std::size_t i = 0; i <= k; ++i) {
    sum += std::exp(log_term);
    log_term += std::log(static_cast<double>(n - i) / static_cast<double>(i + 1)) + std::log(0.05 / 0.95);
  }
  return sum;
}

// What tools do that take every sample for independent: at each look an exact binomial test of the share that
// misses the SLO.
BoundJudgement naive(int n, std::span<const Completion> all, bool) {
  BoundJudgement out;
  std::vector<double> series;
  std::size_t misses = 0;
  for (const Completion& one : all) {
    series.push_back(one.ttfab_ms);
    misses += one.ttfab_ms > kSloMs ? 1 : 0;
  }
  out.summary = headroom::stats::summarise_rounds(series, n);
  if (series.empty()) return out;
  if (at_most(misses, series.size()) <= 0.025) out.verdict = RungVerdict::kPass;
  if (misses > 0 && 1 - at_most(misses - 1, series.size()) <= 0.025) out.verdict = RungVerdict::kFail;
  return out;
}

struct Tally {
  int runs = 0, covered = 0, above = 0, open = 0, naive_covered = 0, naive_above = 0;
  double error = 0, signed_error = 0, width = 0, seconds = 0, longest = 0, naive_seconds = 0;
  void add(const Tally& other) {
    runs += other.runs;
    covered += other.covered;
    above += other.above;
    open += other.open;
    naive_covered += other.naive_covered;
    naive_above += other.naive_above;
    error += other.error;
    signed_error += other.signed_error;
    width += other.width;
    seconds += other.seconds;
    longest = std::max(longest, other.longest);
    naive_seconds += other.naive_seconds;
  }
};

Tally measure(const ServiceFamily& family, int q, int searches, std::uint64_t seed) {
  Tally t;
  for (int i = 0; i < searches; ++i) {
    const auto run = simulate_search(family, seed + static_cast<std::uint64_t>(i));
    const auto& r = run.result;
    ++t.runs;
    t.covered += r.interval && r.interval->low <= q && q <= r.interval->high ? 1 : 0;
    t.above += r.interval && r.interval->low > q ? 1 : 0;
    t.open += r.open_above ? 1 : 0;
    t.error += r.estimate ? std::abs(*r.estimate - q) / q : 1;
    t.signed_error += r.estimate ? (*r.estimate - q) / q : -1;
    t.width += r.interval ? (r.interval->high - r.interval->low) / q : 1;
    t.seconds += run.seconds;
    t.longest = std::max(t.longest, run.seconds);
    const auto other = simulate_search(family, seed + static_cast<std::uint64_t>(i), {}, naive);
    const int low = other.result.last_pass.value_or(0);
    const int high = other.result.first_fail.value_or(1 << 20) - 1;
    t.naive_covered += low <= q && q <= high ? 1 : 0;
    t.naive_above += low > q ? 1 : 0;
    t.naive_seconds += other.seconds;
  }
  return t;
}

void print_row(const std::string& name, const std::string& q, const Tally& t) {
  const double n = t.runs;
  std::printf("| %s | %s | %.3f | %.3f | %.1f %% | %+.1f %% | %.1f %% | %.0f / %.0f | %.2f | %.3f | %.3f |\n",
              name.c_str(), q.c_str(), t.covered / n, t.above / n, 100 * t.error / n,
              100 * t.signed_error / n, 100 * t.width / n, t.seconds / n, t.longest, t.open / n,
              t.naive_covered / n, t.naive_above / n);
  std::fflush(stdout);
}

bool say(const std::string& what, bool met, double reached) {
  std::printf("%s  %s (reached %.4g)\n", met ? "met   " : "MISSED", what.c_str(), reached);
  return met;
}

}  // namespace

int main(int argc, char** argv) {
  const int searches = argc > 1 ? std::atoi(argv[1]) : 31;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20'000;
  if (searches < 1) {
    std::fputs("usage: headroom_search_bench [SEARCHES_PER_FAMILY >= 1] [SEED]\n", stderr);
    return 2;
  }
  auto families = known_families();
  const std::size_t known = families.size();
  for (const auto& family : held_out_families()) families.push_back(family);
  std::puts(
      "| family | Q | coverage | above Q | error | bias | width | mean / max s | open above | naive coverage "
      "| naive above |");
  std::puts("|---|---|---|---|---|---|---|---|---|---|---|");
  Tally all, unseen, paced;
  bool ok = true;
  double least = 1, worst = 0;
  std::string least_name, worst_name;
  for (std::size_t i = 0; i < families.size(); ++i) {
    const auto& family = families[i];
    const int q = true_q_max(family, kSloMs, 77, 400'000);
    const Tally t = measure(family, q, searches, seed + 1000 * i);
    print_row((i < known ? "" : "*held out:* ") + family.name, std::to_string(q), t);
    if (i == 0) paced = t;
    all.add(t);
    if (i >= known) unseen.add(t);
    const double coverage = static_cast<double>(t.covered) / t.runs;
    if (coverage < least) {
      least = coverage;
      least_name = family.name;
    }
    const double beyond = t.error / t.runs / std::max(1.0 / q, 0.06);
    if (beyond > worst) {
      worst = beyond;
      worst_name = family.name;
    }
  }
  print_row("**held out**", "", unseen);
  print_row("**all**", "", all);
  const double n = all.runs;
  std::puts("");
  ok &=
      say("interval holds the true Q_max in at least 95 % of all", all.covered >= 0.95 * n, all.covered / n);
  ok &= say("and in at least 90 % of each family; least: " + least_name, least >= 0.9, least);
  ok &= say("mean |estimate - Q| at most 2 % overall", all.error / n <= 0.02, all.error / n);
  ok &= say("and at most max(1, 6 %) per family, as a share of that; most: " + worst_name, worst <= 1, worst);
  ok &= say("q_max above the truth in at most 2.5 %", all.above <= 0.025 * n, all.above / n);
  ok &= say("mean time at most a fifth of the ladder's 2178 s", all.seconds / n <= kLadderS / 5,
            all.seconds / n);
  ok &= say("every search at most a quarter", all.longest <= kLadderS / 4, all.longest);
  ok &= say("paced engine within a seventh", paced.longest <= kLadderS / 7, paced.longest);
  ok &= say("paced engine exact to one request, as a share of one", paced.error / paced.runs <= 1.0 / 53,
            paced.error / paced.runs * 53);
  return ok ? 0 : 1;
}
