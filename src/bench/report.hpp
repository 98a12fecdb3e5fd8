// tts-bench report: writes one HTML file from the artifacts of an endpoint.
//
// Reads qmax.json, ttotal.json, plan.json and simulate.json of the folder, as far as they are there; a file
// that is there but unreadable is an error, not a gap. No network. Exit codes: 0, 1 unreadable, 2 usage.
#pragma once

#include <string>
#include <vector>

#include "bench/plan.hpp"

namespace headroom::bench {

struct ReportOptions {
  std::string html;  // default: OUT/report.html
  std::vector<base::Option> table();
};

int run_report(const ReportOptions& options, const PlanContext& context, const Print& print,
               const Print& complain);

}  // namespace headroom::bench
