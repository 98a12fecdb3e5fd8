// CloudWatch Logs reads as JSON 1.1. Times are milliseconds here, unlike in the other services.
#include "aws/logs.hpp"

#include <algorithm>

#include "aws/json_call.hpp"

namespace headroom::aws {
namespace {

using base::Result;

LogEvent read_event(const json& in, const std::string& stream) {
  LogEvent out;
  out.at = millis_of(in, "timestamp").value_or(base::WallTime{});
  out.ingested = millis_of(in, "ingestionTime");
  out.stream = stream.empty() ? text_of(in, "logStreamName") : stream;
  out.message = text_of(in, "message");
  return out;
}

}  // namespace

std::string endpoint_log_group(const std::string& endpoint) { return "/aws/sagemaker/Endpoints/" + endpoint; }

Result<std::vector<LogStream>> Logs::describe_streams(const std::string& group, const std::string& prefix,
                                                      base::Deadline deadline) {
  json body = {{"logGroupName", group}};
  set_if(body, "logStreamNamePrefix", prefix);
  std::vector<LogStream> out;
  auto done = call_pages(transport_, {Service::kLogs, "DescribeLogStreams", group, deadline}, std::move(body),
                         "nextToken", "nextToken", [&](const json& page) {
                           for (const json& in : list_of(page, "logStreams")) {
                             LogStream stream;
                             stream.name = text_of(in, "logStreamName");
                             stream.created = millis_of(in, "creationTime");
                             stream.first_event = millis_of(in, "firstEventTimestamp");
                             stream.last_event = millis_of(in, "lastEventTimestamp");
                             out.push_back(std::move(stream));
                           }
                         });
  if (!done && done.error().code == base::ErrorCode::kNotFound) return std::vector<LogStream>{};
  if (!done) return tl::unexpected(done.error());
  return out;
}

Result<std::vector<LogEvent>> Logs::get_events(const std::string& group, const std::string& stream,
                                               std::optional<base::WallTime> start, base::Deadline deadline) {
  json body = {{"logGroupName", group}, {"logStreamName", stream}, {"startFromHead", true}};
  if (start) body["startTime"] = epoch_millis(*start);
  std::vector<LogEvent> out;
  // The forward token is always there; the end is where it repeats, which call_pages takes as the end.
  auto done = call_pages(transport_, {Service::kLogs, "GetLogEvents", stream, deadline}, std::move(body),
                         "nextToken", "nextForwardToken", [&](const json& page) {
                           for (const json& in : list_of(page, "events"))
                             out.push_back(read_event(in, stream));
                         });
  if (!done) return tl::unexpected(done.error());
  return out;
}

Result<std::vector<LogEvent>> Logs::filter_events(
    const std::string& group, const std::vector<std::string>& streams, const std::string& pattern,
    std::optional<base::WallTime> start, std::optional<base::WallTime> end, base::Deadline deadline) {
  json body = {{"logGroupName", group}};
  if (!streams.empty()) body["logStreamNames"] = streams;
  set_if(body, "filterPattern", pattern);
  if (start) body["startTime"] = epoch_millis(*start);
  if (end) body["endTime"] = epoch_millis(*end);
  std::vector<LogEvent> out;
  auto done = call_pages(transport_, {Service::kLogs, "FilterLogEvents", group, deadline}, std::move(body),
                         "nextToken", "nextToken", [&](const json& page) {
                           for (const json& in : list_of(page, "events")) out.push_back(read_event(in, ""));
                         });
  if (!done) return tl::unexpected(done.error());
  std::stable_sort(out.begin(), out.end(), [](const LogEvent& a, const LogEvent& b) { return a.at < b.at; });
  return out;
}

}  // namespace headroom::aws
