// Internal to src/aws: wraps an event frame into a signed one, each signature chained to the one before.
//
// The Common Runtime signs events with the very credentials of the request only, never through a provider.
// `done` runs before sign_event() returns, or later on another thread. Wire rule (Signature Version 4 for
// event streams, captured from the official clients): the outer frame has exactly :date (timestamp, ms) and
// :chunk-signature (32 bytes) and the inner frame as its payload; the string to sign is
// AWS4-HMAC-SHA256-PAYLOAD over date, scope, prior signature, the encoded :date header and the payload. An
// empty payload ends the stream. Thread safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "aws/crt.hpp"
#include "base/clock.hpp"

namespace headroom::aws {

struct SignedEvent {
  int error = 0;          // of the Common Runtime; the rest is then empty
  std::string frame;      // to send
  std::string signature;  // in hex: the prior one of the next event
};

struct EventScope {
  std::string region;
  std::string service = "sagemaker";
  aws_credentials* credentials = nullptr;  // alive until `done` ran
};

void sign_event(aws_allocator* allocator, const EventScope& scope, std::string payload, std::string prior,
                base::WallTime date, std::function<void(SignedEvent)> done);

}  // namespace headroom::aws
