// LogStore: CloudWatch Logs groups, streams and events in memory, bounded per stream and as a whole.
//
// Instances come and go for as long as the cloud runs, and each has a stream: above a limit the streams that
// ended longest ago are dropped, with their group when it has no other. Those of living instances (between
// begin() and end()) stay; where they alone are too much, the largest loses its oldest events. Not persisted.
// Times are epoch milliseconds. Single threaded: the caller locks.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
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
  std::size_t bytes = 0;      // of memory, about
  std::deque<LogEvent> events;
};

struct LogGroup {
  std::int64_t created_ms = 0;
  std::map<std::string, LogStream> streams;
};

struct LogLimits {
  std::size_t events_per_stream = 50'000;
  std::size_t message_bytes = 256U << 10U;
  std::size_t streams_per_group = 200;
  std::size_t streams = 2'000;
  std::size_t bytes = 256U << 20U;  // of memory, about: each event costs more than its message
};

class LogStore {
 public:
  explicit LogStore(const LogLimits& limits = {}) : limits_(limits) {}

  void begin(const std::string& group, const std::string& stream) { living_.insert({group, stream}); }
  void end(const std::string& group, const std::string& stream) { living_.erase({group, stream}); }
  void append(const std::string& group, const std::string& stream, std::int64_t now_ms, std::string message);
  const std::map<std::string, LogGroup>& groups() const { return groups_; }
  const LogStream* find(const std::string& group, const std::string& stream) const;
  std::string last_line(const std::string& group, const std::string& stream) const;

 private:
  using Name = std::pair<std::string, std::string>;  // of group and stream

  std::optional<Name> oldest_ended(const std::string& group, const Name& kept) const;
  void drop(const Name& name);
  void drop_oldest_event(LogStream& stream);
  void make_room_for_stream(const Name& fresh);
  void shrink(const Name& current);

  const LogLimits limits_;
  std::map<std::string, LogGroup> groups_;
  std::set<Name> living_;
  std::size_t streams_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t next_number_ = 1;
};

// CloudWatch's filter pattern as far as it is used here: terms separated by spaces, all of which must occur;
// a quoted phrase is one term; a term with a leading '-' must not occur; ?a ?b means any. JSON and
// space-delimited patterns are not understood: nullopt for '{' or '['.
std::optional<bool> matches_filter(const std::string& pattern, const std::string& message);

}  // namespace headroom::cloud
