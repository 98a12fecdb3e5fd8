// Signature version 4, the checking side: does a request carry the signature of the configured credentials?
//
// Header form only (no presigned URLs). The request's own SignedHeaders list decides what is covered; `host`
// must be in it. The payload hash is taken from the body; where x-amz-content-sha256 is sent it must agree
// with it. Pure, thread safe. Errors: kUnauthenticated, with AWS's exception name in context. Source: AWS
// General Reference, "Signature Version 4 signing process".
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

base::Result<void> verify_signature(const net::Request& request, const Credentials& credentials,
                                    base::WallTime now);

}  // namespace headroom::cloud
