// CloudWatch Logs: groups, streams and events, read only (instances write them).
#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "cloud/operations.hpp"

namespace headroom::cloud {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

std::string group_name(Fields& fields) {
  if (fields.has("logGroupName") || !fields.has("logGroupIdentifier"))
    return fields.text("logGroupName", 512);
  const std::string id = fields.text("logGroupIdentifier", 2048);
  const auto at = id.find(":log-group:");  // an ARN or a plain name
  std::string name = at == std::string::npos ? id : id.substr(at + 11);
  if (name.size() > 2 && name.substr(name.size() - 2) == ":*") name.resize(name.size() - 2);
  return name;
}

Result<const LogGroup*> find_group(Api& api, const std::string& name) {
  const auto it = api.world.logs.groups().find(name);
  if (it == api.world.logs.groups().end())
    return fail(ErrorCode::kNotFound, "The specified log group does not exist.");
  return &it->second;
}

std::int64_t stored_bytes(const LogStream& stream) {
  std::int64_t bytes = 0;
  for (const LogEvent& event : stream.events) bytes += static_cast<std::int64_t>(event.message.size()) + 26;
  return bytes;
}

Result<Json> page_of(Fields& fields, const std::vector<Json>& rows, const char* key) {
  const auto limit = fields.maybe_integer("limit", 1, 50).value_or(50);
  const auto token = fields.maybe_text("nextToken");
  if (!fields.ok()) return fields.failure();
  const auto page = paginate(rows.size(), limit, token);
  if (!page) return tl::unexpected(page.error());
  Json out{{key, Json::array()}};
  for (std::size_t i = page->begin; i < page->end; ++i) out[key].push_back(rows[i]);
  if (!page->next_token.empty()) out["nextToken"] = page->next_token;
  return out;
}

Result<Json> describe_groups(Api& api, const Json& in) {
  Fields fields(in);
  const auto prefix = fields.maybe_text("logGroupNamePrefix", 512),
             pattern = fields.maybe_text("logGroupNamePattern", 512);
  std::vector<Json> rows;
  for (const auto& [name, group] : api.world.logs.groups()) {
    if (prefix && name.rfind(*prefix, 0) != 0) continue;
    if (pattern && name.find(*pattern) == std::string::npos) continue;
    std::int64_t bytes = 0;
    for (const auto& [stream_name, stream] : group.streams) bytes += stored_bytes(stream);
    const std::string arn = api.world.arn("logs", "log-group:" + name);
    rows.push_back({{"logGroupName", name},
                    {"creationTime", group.created_ms},
                    {"metricFilterCount", 0},
                    {"arn", arn + ":*"},
                    {"logGroupArn", arn},
                    {"storedBytes", bytes},
                    {"logGroupClass", "STANDARD"}});
  }
  return page_of(fields, rows, "logGroups");
}

Result<Json> describe_streams(Api& api, const Json& in) {
  Fields fields(in);
  const std::string name = group_name(fields);
  const auto prefix = fields.maybe_text("logStreamNamePrefix", 512);
  const auto order = fields.maybe_choice("orderBy", {"LogStreamName", "LastEventTime"});
  const bool descending = fields.maybe_flag("descending").value_or(false);
  if (!fields.ok()) return fields.failure();
  const auto group = find_group(api, name);
  if (!group) return tl::unexpected(group.error());
  std::vector<Json> rows;
  for (const auto& [stream_name, stream] : (*group)->streams) {
    if (prefix && stream_name.rfind(*prefix, 0) != 0) continue;
    Json row{{"logStreamName", stream_name},
             {"creationTime", stream.created_ms},
             {"arn", api.world.arn("logs", fmt::format("log-group:{}:log-stream:{}", name, stream_name))},
             {"uploadSequenceToken", "0"},
             {"storedBytes", 0}};
    if (!stream.events.empty()) {
      row["firstEventTimestamp"] = stream.events.front().time_ms;
      row["lastEventTimestamp"] = stream.events.back().time_ms;
      row["lastIngestionTime"] = stream.events.back().ingested_ms;
    }
    rows.push_back(std::move(row));
  }
  if (order == "LastEventTime") {
    std::stable_sort(rows.begin(), rows.end(), [](const Json& a, const Json& b) {
      return a.value("lastEventTimestamp", std::int64_t{0}) < b.value("lastEventTimestamp", std::int64_t{0});
    });
  }
  if (descending) std::reverse(rows.begin(), rows.end());
  return page_of(fields, rows, "logStreams");
}

struct TimeRange {
  std::int64_t start = 0;
  std::int64_t end = std::int64_t{1} << 62;  // exclusive
  bool holds(std::int64_t time) const { return time >= start && time < end; }
};

TimeRange time_range(Fields& fields) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  TimeRange range;
  if (const auto start = fields.maybe_integer("startTime", 0, kMost)) range.start = *start;
  if (const auto end = fields.maybe_integer("endTime", 0, kMost)) range.end = *end;
  return range;
}

// "f/123": from event 123 on; "b/123": up to and without event 123. Numbers are those of the store.
struct Cursor {
  bool forward = true;
  std::uint64_t number = 0;
};

std::optional<Cursor> parse_cursor(const std::string& token) {
  if (token.size() < 3 || token[1] != '/' || (token[0] != 'f' && token[0] != 'b')) return std::nullopt;
  Cursor cursor{token[0] == 'f', 0};
  const char* end = token.data() + token.size();
  const auto parsed = std::from_chars(token.data() + 2, end, cursor.number);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return cursor;
}

Result<Json> get_events(Api& api, const Json& in) {
  Fields fields(in);
  const std::string name = group_name(fields);
  const std::string stream_name = fields.text("logStreamName", 512);
  const TimeRange range = time_range(fields);
  const auto limit = static_cast<std::size_t>(fields.maybe_integer("limit", 1, 10'000).value_or(10'000));
  const bool from_head = fields.maybe_flag("startFromHead").value_or(false);
  const auto token = fields.maybe_text("nextToken");
  if (!fields.ok()) return fields.failure();
  std::optional<Cursor> cursor;
  if (token && !(cursor = parse_cursor(*token)))
    return fail(ErrorCode::kInvalidArgument, "The specified nextToken is invalid.");
  const auto group = find_group(api, name);
  if (!group) return tl::unexpected(group.error());
  const LogStream* stream = api.world.logs.find(name, stream_name);
  if (stream == nullptr) return fail(ErrorCode::kNotFound, "The specified log stream does not exist.");

  std::vector<const LogEvent*> found;
  for (const LogEvent& event : stream->events) {
    if (!range.holds(event.time_ms)) continue;
    if (cursor && (cursor->forward ? event.number < cursor->number : event.number >= cursor->number))
      continue;
    found.push_back(&event);
  }
  const bool take_first = cursor ? cursor->forward : from_head;
  if (found.size() > limit) {
    if (take_first)
      found.resize(limit);
    else
      found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(limit));
  }
  Json events = Json::array();
  for (const LogEvent* event : found)
    events.push_back(
        {{"timestamp", event->time_ms}, {"message", event->message}, {"ingestionTime", event->ingested_ms}});
  // At an end the token stays the same: that is how clients learn that there is no more.
  std::uint64_t forward = cursor ? cursor->number : 0, backward = forward;
  if (!found.empty()) {
    forward = found.back()->number + 1;
    backward = found.front()->number;
  }
  return Json{{"events", events},
              {"nextForwardToken", fmt::format("f/{}", forward)},
              {"nextBackwardToken", fmt::format("b/{}", backward)}};
}

Result<Json> filter_events(Api& api, const Json& in) {
  Fields fields(in);
  const std::string name = group_name(fields);
  const auto names = fields.texts("logStreamNames", 512);
  const auto prefix = fields.maybe_text("logStreamNamePrefix", 512);
  const std::string pattern = fields.maybe_text("filterPattern", 1024).value_or("");
  const TimeRange range = time_range(fields);
  const auto limit = static_cast<std::size_t>(fields.maybe_integer("limit", 1, 10'000).value_or(10'000));
  const auto token = fields.maybe_text("nextToken");
  if (!fields.ok()) return fields.failure();
  if (!matches_filter(pattern, ""))
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("filterPattern '{}' is not understood: this cloud matches terms and \"phrases\"",
                            pattern));
  Cursor cursor;
  if (token) {
    const auto parsed = parse_cursor(*token);
    if (!parsed) return fail(ErrorCode::kInvalidArgument, "The specified nextToken is invalid.");
    cursor = *parsed;
  }
  const auto group = find_group(api, name);
  if (!group) return tl::unexpected(group.error());

  std::vector<std::pair<const LogEvent*, const std::string*>> found;
  for (const auto& [stream_name, stream] : (*group)->streams) {
    if (!names.empty() && std::find(names.begin(), names.end(), stream_name) == names.end()) continue;
    if (prefix && stream_name.rfind(*prefix, 0) != 0) continue;
    for (const LogEvent& event : stream.events) {
      if (range.holds(event.time_ms) && event.number >= cursor.number &&
          *matches_filter(pattern, event.message))
        found.emplace_back(&event, &stream_name);
    }
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first->number < b.first->number; });
  const bool more = found.size() > limit;
  if (more) found.resize(limit);
  Json events = Json::array();
  for (const auto& [event, stream_name] : found) {
    events.push_back({{"logStreamName", *stream_name},
                      {"timestamp", event->time_ms},
                      {"message", event->message},
                      {"ingestionTime", event->ingested_ms},
                      {"eventId", fmt::format("{:056}", event->number)}});
  }
  Json out{{"events", events}, {"searchedLogStreams", Json::array()}};
  if (more) out["nextToken"] = fmt::format("f/{}", found.back().first->number + 1);
  return out;
}

constexpr std::array kOperations{
    OperationRow{"DescribeLogGroups", describe_groups},
    OperationRow{"DescribeLogStreams", describe_streams},
    OperationRow{"GetLogEvents", get_events},
    OperationRow{"FilterLogEvents", filter_events},
};

}  // namespace

std::span<const OperationRow> log_operations() { return kOperations; }

}  // namespace headroom::cloud
