// Header lookup and small text helpers.
#include "net/http.hpp"

#include <algorithm>
#include <cctype>

namespace headroom::net {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool iequals(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
  for (const auto& [key, value] : rows_) {
    if (iequals(key, name)) return std::string_view(value);
  }
  return std::nullopt;
}

void Headers::add(std::string name, std::string value) {
  rows_.emplace_back(std::move(name), std::move(value));
}

void Headers::set(std::string name, std::string value) {
  std::erase_if(rows_, [&](const auto& row) { return iequals(row.first, name); });
  add(std::move(name), std::move(value));
}

void set_path(Request& request) {
  std::string_view rest = request.target;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!iequals(rest.substr(0, scheme.size()), scheme)) continue;
    rest.remove_prefix(scheme.size());
    const auto authority = rest.substr(0, rest.find_first_of("/?"));
    request.headers.set("host", std::string(authority));
    rest.remove_prefix(authority.size());
    break;
  }
  const auto mark = rest.find('?');
  request.path = rest.substr(0, mark);
  if (request.path.empty()) request.path = "/";
  if (mark != std::string_view::npos) request.query = rest.substr(mark + 1);
}

std::string percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = hex_value(text[i + 1]);
      const int low = hex_value(text[i + 2]);
      if (high >= 0 && low >= 0) {
        out.push_back(static_cast<char>(high * 16 + low));
        i += 2;
        continue;
      }
    }
    out.push_back(text[i]);
  }
  return out;
}

}  // namespace headroom::net
