// Signature version 4, the checking side: does a request carry the signature of the configured credentials?
//
// Header form only (no presigned URLs). `host` and every x-amz-* header must be signed, the credential scope
// must name the region and, where it is known, the service. The request's own SignedHeaders list decides what
// is covered. The payload hash is taken from the body; where x-amz-content-sha256 is sent it must agree with
// it. Pure, thread safe. Errors: kUnauthenticated, with AWS's exception name in context. Source: AWS General
// Reference, "Signature Version 4 signing process".
#pragma once

#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "net/http.hpp"

namespace headroom::cloud {

struct Credentials {
  std::string access_key;
  std::string secret;
};

// What a request must be signed for.
struct SignatureScope {
  std::string region{};       // empty: any
  std::string service{};      // empty: any
  bool event_stream = false;  // the body is a stream of signed events (event_stream.hpp)
};

// What the events of a stream are signed with.
struct SignedScope {
  std::string signature;  // of the request, hex
  std::string scope;      // DATE/REGION/SERVICE/aws4_request
  std::string key;        // derived, raw
};

base::Result<SignedScope> verify_signature(const net::Request& request, const Credentials& credentials,
                                           base::WallTime now, const SignatureScope& wanted = {});

// The pieces that signing is made of, for event streams.
std::string hmac_sha256(std::string_view key, std::string_view data);  // raw
std::string to_hex(std::string_view bytes);
std::string signing_key(const std::string& secret, const std::string& scope);
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace headroom::cloud
