// Authorization headers, dates, queries and header values from anyone: refused, never accepted and never a
// fault.
#include <cstdint>
#include <string>

#include "cloud/signature.hpp"

using namespace headroom::cloud;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Lines: Authorization, x-amz-date, query, path, x-amz-content-sha256; the rest is the body.
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto line = [&] {
    const auto end = std::min(rest.find('\n'), rest.size());
    std::string out(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return out;
  };
  headroom::net::Request request;
  request.method = "POST";
  request.headers.add("Authorization", line());
  request.headers.add("X-Amz-Date", line());
  request.headers.add("Host", "localhost");
  request.query = line();
  request.path = "/" + line();
  if (std::string hash = line(); !hash.empty()) request.headers.add("x-amz-content-sha256", std::move(hash));
  request.body = rest;
  const headroom::base::WallTime now{std::chrono::seconds{1'440'938'160}};  // of the seed
  for (const bool events : {false, true}) {
    const auto verified = verify_signature(request, {"AKIDEXAMPLE", "a secret that no input knows"}, now,
                                           {"us-east-1", "", events});
    if (verified || verified.error().context.empty()) __builtin_trap();
  }
  return 0;
}
