// Who may ask: API keys, and the browser origins that may read the answers (CORS).
//
// Both are off unless asked for: behind SageMaker, IAM decides. /ping and /health are always open. Keys are
// kept and compared as SHA-256 sums, so that comparing tells nothing of a key. Immutable after creation.
// Errors: kNotFound, kInvalidData naming the key file. Source of the CORS headers: the Fetch standard.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "net/http.hpp"

namespace headroom::serve {

class ApiKeys {
 public:
  ApiKeys() = default;  // everybody may
  // One key a line; empty lines and lines that begin with '#' count nothing.
  static base::Result<ApiKeys> read(const std::string& file);
  // `Authorization: Bearer KEY` or `x-api-key: KEY`.
  bool allow(const net::Request& request) const;

 private:
  std::vector<std::string> sums_;
};

class Cors {
 public:
  Cors() = default;                                                                  // no origin
  explicit Cors(std::vector<std::string> origins) : origins_(std::move(origins)) {}  // "*": all
  bool on() const { return !origins_.empty(); }
  bool allows(std::string_view origin) const;
  // A page may open a WebSocket to any address, so the server must look: no Origin (not a browser), the
  // server's own, or one that is listed.
  bool allows_websocket(const net::Request& request) const;
  void decorate(const net::Request& request, net::Headers& answer) const;
  net::Response preflight(const net::Request& request) const;

 private:
  std::vector<std::string> origins_;
};

}  // namespace headroom::serve
