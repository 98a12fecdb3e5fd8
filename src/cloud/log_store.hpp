// LogStore: CloudWatch Logs groups, streams and events in memory, bounded per stream.
//
// Not persisted. Times are epoch milliseconds. Single threaded: the caller locks.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headroom::cloud {

struct LogEvent {
  std::int64_t time_ms = 0;
  std::int64_t ingested_ms = 0;
  std::uint64_t number = 0;  // increases over the whole store; the order of arrival
  std::string message;
};

struct LogStream {
  std::int64_t created_ms = 0;
  std::uint64_t dropped = 0;  // oldest events that no longer fit
  std::deque<LogEvent> events;
};

struct LogGroup {
  std::int64_t created_ms = 0;
  std::map<std::string, LogStream> streams;
};

class LogStore {
 public:
  static constexpr std::size_t kMaxEventsPerStream = 50'000;
  static constexpr std::size_t kMaxMessageBytes = 256U << 10U;

  void append(const std::string& group, const std::string& stream, std::int64_t now_ms, std::string message);
  const std::map<std::string, LogGroup>& groups() const { return groups_; }
  const LogStream* find(const std::string& group, const std::string& stream) const;
  std::string last_line(const std::string& group, const std::string& stream) const;

 private:
  std::map<std::string, LogGroup> groups_;
  std::uint64_t next_number_ = 1;
};

// CloudWatch's filter pattern as far as it is used here: terms separated by spaces, all of which must occur;
// a quoted phrase is one term; a term with a leading '-' must not occur; ?a ?b means any. JSON and
// space-delimited patterns are not understood: nullopt for '{' or '['.
std::optional<bool> matches_filter(const std::string& pattern, const std::string& message);

}  // namespace headroom::cloud
