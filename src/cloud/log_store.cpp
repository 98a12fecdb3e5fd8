// Appending, bounding and filtering of log events.
#include "cloud/log_store.hpp"

namespace headroom::cloud {

void LogStore::append(const std::string& group, const std::string& stream, std::int64_t now_ms,
                      std::string message) {
  LogGroup& in = groups_[group];
  if (in.created_ms == 0) in.created_ms = now_ms;
  LogStream& to = in.streams[stream];
  if (to.created_ms == 0) to.created_ms = now_ms;
  if (message.size() > kMaxMessageBytes) message.resize(kMaxMessageBytes);
  // A clock set back must not put a later event before an earlier one.
  if (!to.events.empty() && now_ms < to.events.back().time_ms) now_ms = to.events.back().time_ms;
  to.events.push_back({now_ms, now_ms, next_number_++, std::move(message)});
  if (to.events.size() > kMaxEventsPerStream) {
    to.events.pop_front();
    ++to.dropped;
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
