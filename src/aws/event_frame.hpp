// One event-stream frame as bytes, encoded by the Common Runtime: what InvokeEndpointWithResponseStream
// sends.
//
// Does not decode (invoke.hpp does) and does not sign. All headers are strings (type 7). Thread safe.
// Wire rule: big-endian total length, headers length, CRC32 of both, headers, payload, CRC32 of all before
// (Amazon event stream encoding). A frame that breaks a limit of the format (name over 255 bytes, value over
// 32,767, whole frame over 24 MiB) yields an empty string: a valid frame is never empty.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace headroom::aws {

struct EventFrame {
  std::vector<std::pair<std::string, std::string>> headers;
  std::string payload;
};

std::string encode_event_frame(const EventFrame& frame);

}  // namespace headroom::aws
