// One request, one line.
#include "serve/log_words.hpp"

#include <cctype>

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

}  // namespace headroom::serve
