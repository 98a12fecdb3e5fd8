// tts-bench compare: two artifacts of one kind, field by field, and whether they contradict each other.
//
// qmax: Q_max with its interval, the curve rung by rung. ttotal: T_m and its stages. plan: every number of
// the policy. Measurements contradict each other when their intervals do not overlap (qmax) or T_m differs by
// more than 25 % (ttotal); plans, when a number differs. No network. Exit codes: 0 alike, 3 different, 1
// unreadable.
#pragma once

#include <string>
#include <vector>

#include "bench/plan.hpp"

namespace headroom::bench {

struct CompareOptions {
  std::string left, right;
  std::vector<base::Option> table();
};

struct Comparison {
  struct Line {
    std::string what, left, right;
    bool differs = false;
  };
  std::string kind;
  std::vector<Line> lines;
  std::vector<std::string> conditions;  // what was not measured alike
  bool different = false;
  std::string verdict;
};
base::Result<Comparison> compare_artifacts(const std::string& left, const std::string& right);

int run_compare(const CompareOptions& options, const PlanContext& context, const Print& print,
                const Print& complain);

}  // namespace headroom::bench
