// Event frames from anyone: whole, in pieces, signed and nested. What is cut differently must read the same.
#include <cstdint>
#include <string>

#include "cloud/event_stream.hpp"

using namespace headroom::cloud;

namespace {

std::size_t read_all(std::string_view bytes, std::size_t piece, std::size_t& payload) {
  EventReader reader;
  std::size_t events = 0;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.feed(bytes.substr(at, piece));
    while (true) {
      const auto event = reader.next();
      if (!event) return events + 1000;
      if (!*event) break;
      ++events;
      payload += (*event)->payload.size();
      EventVerifier{std::nullopt}.check(**event, {});
      EventVerifier{SignedScope{"00", "20260101/r/s/aws4_request", "key"}}.check(**event, {});
      if (const auto inner = decode_event((*event)->payload)) payload += inner->text(":event-type").size();
    }
  }
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::size_t whole = 0, cut = 0;
  if (read_all(bytes, size + 1, whole) != read_all(bytes, 1, cut) || whole != cut) __builtin_trap();
  return 0;
}
