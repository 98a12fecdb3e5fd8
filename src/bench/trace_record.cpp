// Reads one metric, writes one file.
#include "bench/trace_record.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/atomic_file.hpp"
#include "base/error_table.hpp"
#include "capacity/policy.hpp"

namespace headroom::bench {
namespace {

base::Result<std::string> recorded(const TraceOptions& options, Session& session, double& total) {
  const auto named = capacity::invocations_metric(session.endpoint(), session.variant());
  aws::Metric metric{named.metric_namespace, named.name, {}};
  for (const auto& dimension : named.dimensions)
    metric.dimensions.push_back({dimension.name, dimension.value});
  constexpr auto kMinute = std::chrono::seconds(60);
  const auto end = std::chrono::floor<std::chrono::minutes>(session.clock().wall());
  const auto begin = end - std::chrono::minutes(static_cast<int>(std::lround(60 * options.hours)));
  const auto points = session.cloudwatch().series(metric, "Sum", 60, begin, end, session.soon());
  if (!points) return tl::unexpected(points.error());
  if (points->empty())
    return base::fail(
        base::ErrorCode::kNotFound,
        fmt::format("Invocations of '{}' has no datapoint in the last {:g} h; name a longer time with "
                    "--hours, or the variant with --variant",
                    session.endpoint(), options.hours));
  std::string out = "t_s,count,period_s\n";
  for (const auto& point : *points) {
    const auto at = std::chrono::duration_cast<std::chrono::seconds>(point.at - begin).count();
    out += fmt::format("{},{:.0f},{}\n", at, point.value, kMinute.count());
    total += point.value;
  }
  return out;
}

}  // namespace

std::vector<base::Option> TraceOptions::table() {
  return {{.name = "hours",
           .help = "how far back; CloudWatch keeps minutes for 15 days",
           .target = &hours,
           .min = 0.1,
           .max = 360},
          {.name = "file",
           .help = "where it goes",
           .target = &file,
           .value_name = "FILE",
           .default_text = "OUT/trace.csv"}};
}

int run_trace(const TraceOptions& options, Session& session) {
  const auto told = [&](const base::Error& error) {
    session.complain("tts-bench trace: " + base::describe(error));
    return base::error_row(error.code).exit_code;
  };
  double total = 0;
  const auto text = recorded(options, session, total);
  if (!text) return told(text.error());
  const std::string path = options.file.empty() ? session.folder() + "/trace.csv" : options.file;
  if (auto ok = base::make_directories(session.folder()); !ok) return told(ok.error());
  if (auto ok = base::write_file_atomically(path, *text); !ok) return told(ok.error());
  session.say(fmt::format(
      "{:.0f} requests in the last {:g} h, by the minute: {}\nnext: tts-bench simulate --trace {}", total,
      options.hours, path, path));
  return base::kExitGood;
}

}  // namespace headroom::bench
