// The bytes of a streamed answer: its head and its chunks (RFC 9112, sections 4 to 7.1).
//
// Internal to net. Pure. They are made here rather than written one by one, so that what lies ready leaves in
// one packet: a client learns of the first byte when it can also have the first audio, and each side is woken
// once.
#pragma once

#include <string>
#include <string_view>

#include "net/http.hpp"

namespace headroom::net {

// Of one answer; HTTP/1.0 knows no chunks, so there the body ends with the connection.
struct HeadForm {
  std::string_view server;
  std::string_view request_id;
  bool keep_alive = true;
  bool chunked = true;
};

std::string head_bytes(int status, const Headers& headers, const HeadForm& form);
void append_chunk(std::string& to, std::string_view chunk);  // an empty one would end the body: not allowed
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace headroom::net
