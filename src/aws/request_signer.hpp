// Internal to src/aws: signs an HTTP request (AWS Signature Version 4, in its headers).
//
// The paths of every service but S3 are encoded twice and normalised. Thread safe. `done` runs before
// sign_request() returns where the keys are at hand; where a provider fetches them first, on another thread.
#pragma once

#include <functional>
#include <string>

#include <aws/auth/credentials.h>
#include <aws/http/request_response.h>

namespace headroom::aws {

struct RequestSignature {
  std::string region;
  std::string service;
  aws_credentials_provider* provider = nullptr;  // either
  const aws_credentials* credentials = nullptr;  // or
  bool signed_events = false;  // the body is a stream of events, each signed after the one before
};

// `done` gets the signature in hex, or "" and a Common Runtime error. `message` must live until then, and has
// the headers of the signature added when it is called.
void sign_request(aws_allocator* allocator, aws_http_message* message, const RequestSignature& how,
                  std::function<void(std::string signature, int error)> done);

}  // namespace headroom::aws
