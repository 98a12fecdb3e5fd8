// Reads keys and compares; writes CORS headers.
#include "serve/access.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "base/sha256.hpp"

namespace headroom::serve {

base::Result<ApiKeys> ApiKeys::read(const std::string& file) {
  std::ifstream in(file);
  if (!in) {
    return base::fail(base::ErrorCode::kNotFound,
                      fmt::format("cannot read the key file '{}'; give a file with one key a line", file));
  }
  ApiKeys keys;
  for (std::string line; std::getline(in, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty() && line.front() != '#') keys.sums_.push_back(base::sha256_hex(line));
  }
  if (keys.sums_.empty()) {
    return base::fail(base::ErrorCode::kInvalidData,
                      fmt::format("the key file '{}' holds no key; write one a line", file));
  }
  return keys;
}

bool ApiKeys::allow(const net::Request& request) const {
  if (sums_.empty()) return true;
  constexpr std::string_view kBearer = "bearer ";
  std::string_view given = request.headers.get("x-api-key");
  const auto authorization = request.headers.get("authorization");
  if (net::iequals(authorization.substr(0, kBearer.size()), kBearer))
    given = authorization.substr(kBearer.size());
  return !given.empty() &&
         std::find(sums_.begin(), sums_.end(), base::sha256_hex(std::string(given))) != sums_.end();
}

namespace {

// A list of header names as a browser sends it; whatever else it might be is not repeated.
bool is_name_list(std::string_view list) {
  return !list.empty() &&
         list.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~, ") ==
             std::string_view::npos;
}

}  // namespace

bool Cors::allows(std::string_view origin) const {
  return std::any_of(origins_.begin(), origins_.end(),
                     [&](const auto& known) { return known == "*" || known == origin; });
}

bool Cors::allows_websocket(const net::Request& request) const {
  const auto origin = request.headers.get("origin");
  if (origin.empty() || allows(origin)) return true;
  const auto scheme = origin.find("://");
  return scheme != std::string_view::npos && origin.substr(scheme + 3) == request.headers.get("host");
}

void Cors::decorate(const net::Request& request, net::Headers& answer) const {
  const auto origin = request.headers.get("origin");
  if (!on() || origin.empty()) return;
  answer.add("vary", "Origin");
  if (!allows(origin)) return;
  answer.add("access-control-allow-origin", std::string(origin));
  answer.add("access-control-expose-headers",
             "x-request-id, x-sample-rate, x-audio-duration, server-timing, retry-after");
}

net::Response Cors::preflight(const net::Request& request) const {
  net::Response response{204, {{"vary", "Access-Control-Request-Headers"}}, {}};
  if (!allows(request.headers.get("origin"))) return response;
  response.headers.add("access-control-allow-methods", "GET, HEAD, POST, OPTIONS");
  // Clients send headers of their own (OpenAI's: x-stainless-*); those that mean nothing here do no harm.
  const auto asked = request.headers.get("access-control-request-headers");
  response.headers.add(
      "access-control-allow-headers",
      is_name_list(asked) ? std::string(asked) : "authorization, content-type, x-api-key, x-request-id");
  response.headers.add("access-control-max-age", "600");
  return response;
}

}  // namespace headroom::serve
