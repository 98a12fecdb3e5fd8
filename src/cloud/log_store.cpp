// Appending, bounding and filtering of log events.
#include "cloud/log_store.hpp"

#include <utility>

namespace headroom::cloud {
namespace {

std::size_t cost(const LogEvent& event) { return sizeof event + event.message.size(); }

std::uint64_t newest(const LogStream& stream) {
  return stream.events.empty() ? 0 : stream.events.back().number;
}

}  // namespace

void LogStore::append(const std::string& group, const std::string& stream, std::int64_t now_ms,
                      std::string message) {
  const Name name{group, stream};
  if (find(group, stream) == nullptr) make_room_for_stream(name);
  LogGroup& in = groups_[group];
  if (in.created_ms == 0) in.created_ms = now_ms;
  LogStream& to = in.streams[stream];
  if (to.created_ms == 0) to.created_ms = now_ms;
  if (message.size() > limits_.message_bytes) message.resize(limits_.message_bytes);
  // A clock set back must not put a later event before an earlier one.
  if (!to.events.empty() && now_ms < to.events.back().time_ms) now_ms = to.events.back().time_ms;
  to.events.push_back({now_ms, now_ms, next_number_++, std::move(message)});
  to.bytes += cost(to.events.back());
  bytes_ += cost(to.events.back());
  if (to.events.size() > limits_.events_per_stream) drop_oldest_event(to);
  shrink(name);
}

// Of all groups where `group` is empty.
std::optional<LogStore::Name> LogStore::oldest_ended(const std::string& group, const Name& kept) const {
  std::optional<Name> oldest;
  std::uint64_t last = 0;
  for (const auto& [group_name, in] : groups_) {
    if (!group.empty() && group != group_name) continue;
    for (const auto& [stream_name, stream] : in.streams) {
      if (oldest && newest(stream) >= last) continue;
      Name name{group_name, stream_name};
      if (name == kept || living_.count(name) > 0) continue;
      last = newest(stream);
      oldest = std::move(name);
    }
  }
  return oldest;
}

void LogStore::drop(const Name& name) {
  const auto in = groups_.find(name.first);
  const auto it = in->second.streams.find(name.second);
  bytes_ -= it->second.bytes;
  --streams_;
  in->second.streams.erase(it);
  if (in->second.streams.empty()) groups_.erase(in);
}

void LogStore::drop_oldest_event(LogStream& stream) {
  const std::size_t bytes = cost(stream.events.front());
  stream.bytes -= bytes;
  bytes_ -= bytes;
  stream.events.pop_front();
  ++stream.dropped;
}

void LogStore::make_room_for_stream(const Name& fresh) {
  const auto drop_one = [&](const std::string& group) {
    const auto old = oldest_ended(group, fresh);
    if (old) drop(*old);
    return old.has_value();
  };
  const auto size = [&] {
    const auto in = groups_.find(fresh.first);
    return in == groups_.end() ? 0 : in->second.streams.size();
  };
  while (size() >= limits_.streams_per_group && drop_one(fresh.first)) {
  }
  while (streams_ >= limits_.streams && drop_one("")) {
  }
  ++streams_;
}

// The stream that has just been written is none of the old ones, whoever writes it.
void LogStore::shrink(const Name& current) {
  while (bytes_ > limits_.bytes) {
    if (const auto old = oldest_ended("", current)) {
      drop(*old);
      continue;
    }
    LogStream* largest = nullptr;
    for (auto& [group, in] : groups_) {
      for (auto& [name, stream] : in.streams) {
        if (largest == nullptr || stream.bytes > largest->bytes) largest = &stream;
      }
    }
    if (largest->events.size() < 2) return;
    drop_oldest_event(*largest);
  }
}

const LogStream* LogStore::find(const std::string& group, const std::string& stream) const {
  const auto in = groups_.find(group);
  if (in == groups_.end()) return nullptr;
  const auto it = in->second.streams.find(stream);
  return it == in->second.streams.end() ? nullptr : &it->second;
}

std::string LogStore::last_line(const std::string& group, const std::string& stream) const {
  const LogStream* found = find(group, stream);
  return found == nullptr || found->events.empty() ? "" : found->events.back().message;
}

std::optional<bool> matches_filter(const std::string& pattern, const std::string& message) {
  const auto start = pattern.find_first_not_of(' ');
  if (start == std::string::npos) return true;
  if (pattern[start] == '{' || pattern[start] == '[') return std::nullopt;
  bool any_asked = false, any_found = false;
  for (std::size_t at = start; at < pattern.size();) {
    if (pattern[at] == ' ') {
      ++at;
      continue;
    }
    char sign = 0;
    if (pattern[at] == '?' || pattern[at] == '-') sign = pattern[at++];
    std::string term;
    if (at < pattern.size() && pattern[at] == '"') {
      for (++at; at < pattern.size() && pattern[at] != '"'; ++at) {
        if (pattern[at] == '\\' && at + 1 < pattern.size()) ++at;
        term += pattern[at];
      }
      ++at;
    } else {
      while (at < pattern.size() && pattern[at] != ' ') term += pattern[at++];
    }
    const bool found = message.find(term) != std::string::npos;
    if (sign == '?') {
      any_asked = true;
      any_found = any_found || found;
    } else if (found == (sign == '-')) {
      return false;
    }
  }
  return !any_asked || any_found;
}

}  // namespace headroom::cloud
