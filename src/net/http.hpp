// HTTP messages as plain values, shared by the server and the client of this module.
//
// No parsing here (Beast does that). Header names compare without case. Values are not thread safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::net {

class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<std::pair<std::string, std::string>> rows) : rows_(rows) {}
  std::optional<std::string_view> find(std::string_view name) const;  // the first of that name
  std::string_view get(std::string_view name) const { return find(name).value_or(std::string_view{}); }
  void add(std::string name, std::string value);
  void set(std::string name, std::string value);  // replaces all of that name
  const std::vector<std::pair<std::string, std::string>>& rows() const { return rows_; }

 private:
  std::vector<std::pair<std::string, std::string>> rows_;
};

struct Request {
  std::string method;  // upper case
  std::string target;  // as sent, undecoded
  std::string path;    // target up to '?', undecoded, without scheme and authority
  std::string query;   // after '?', undecoded
  Headers headers;
  std::string body;
  std::string id;         // x-request-id of the client if it is sane, else one of ours
  bool http_1_0 = false;  // the client knows neither chunks nor 100 Continue
};

struct Response {
  int status = 200;
  Headers headers;
  std::string body;
};

// Sets path and query from the target. Of the absolute form (http://HOST/PATH) the host counts in place of
// the Host header (RFC 9112, section 3.2.2).
void set_path(Request& request);
bool iequals(std::string_view a, std::string_view b);
std::string percent_decode(std::string_view text);  // %xx only; '+' stays

}  // namespace headroom::net
