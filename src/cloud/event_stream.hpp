// Event streams, the receiving side: frames out of bytes, and the signatures of a client's events.
//
// A client of InvokeEndpointWithBidirectionalStream sends outer frames with exactly :date and
// :chunk-signature, each chained to the one before, whose payload is an inner frame; an empty payload ends
// the input. Pure, single threaded. Errors: kInvalidData for bytes that are no frame, kUnauthenticated for a
// wrong signature. Source: Amazon event stream encoding (big-endian; u32 total, u32 headers length, u32 CRC32
// of those 8 bytes, headers, payload, u32 CRC32 of all before); "AWS4-HMAC-SHA256-PAYLOAD" as recomputed from
// the official clients (vectors in event_stream_test.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "cloud/signature.hpp"

namespace headroom::cloud {

enum class HeaderType : std::uint8_t {
  kTrue = 0,
  kFalse = 1,
  kByte = 2,
  kShort = 3,
  kInt = 4,
  kLong = 5,
  kBytes = 6,
  kString = 7,
  kTime = 8,
  kUuid = 9,
};

struct EventHeader {
  std::string name;
  HeaderType type = HeaderType::kString;
  std::string value;  // raw bytes without length; big-endian for numbers
};

struct Event {
  std::vector<EventHeader> headers;
  std::string payload;
  const EventHeader* find(std::string_view name) const;
  std::string text(std::string_view name) const;  // of a string header; "" if there is none
};

constexpr std::size_t kMaxEventBytes = 2U << 20U;

// One whole frame.
base::Result<Event> decode_event(std::string_view frame);

// Cuts frames out of a stream of bytes.
class EventReader {
 public:
  void feed(std::string_view bytes) { buffer_.append(bytes); }
  base::Result<std::optional<Event>> next();  // nothing: more bytes are needed
  bool inside_frame() const { return !buffer_.empty(); }

 private:
  std::string buffer_;
};

// Checks the chain of signatures; without `scope` it checks only the form.
class EventVerifier {
 public:
  explicit EventVerifier(std::optional<SignedScope> scope) : scope_(std::move(scope)) {}
  base::Result<void> check(const Event& outer, base::WallTime now);

 private:
  std::optional<SignedScope> scope_;  // its signature is the prior one
};

}  // namespace headroom::cloud
