// One request, one line.
#include "serve/log_words.hpp"

#include <cctype>

#include <fmt/format.h>

namespace headroom::serve {

std::string log_id(std::string id) {
  for (char& c : id) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
    if (!plain) c = '_';
  }
  return id;
}

std::string log_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(static_cast<unsigned char>(c) < 0x20 ? ' ' : c);
  }
  return out + '"';
}

std::string request_end(std::string_view id, std::string_view route, std::string_view outcome,
                        std::string_view error) {
  return fmt::format("request id={} route={} outcome={}{}{}", log_id(std::string(id)), route, outcome,
                     error.empty() ? "" : " error=", error);
}

std::string drained_words(bool idle, std::size_t taking) {
  if (!idle) return "time ran out, the rest was dropped";
  if (taking == 0) return "all answered";
  return fmt::format("all answered, {} still taking what was answered when time ran out", taking);
}

}  // namespace headroom::serve
