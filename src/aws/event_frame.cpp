// Encodes event frames with aws-c-event-stream.
#include "aws/event_frame.hpp"

#include <cstdint>
#include <mutex>

#include <aws/checksums/checksums.h>
#include <aws/common/array_list.h>
#include <aws/event-stream/event_stream.h>

namespace headroom::aws {

std::string encode_event_frame(const EventFrame& frame) {
  // The library would otherwise pick its CRC routine on first use, without a lock.
  static std::once_flag once;
  std::call_once(once, [] { aws_checksums_library_init(aws_default_allocator()); });

  if (frame.payload.size() > AWS_EVENT_STREAM_MAX_MESSAGE_SIZE) return {};
  aws_array_list headers;
  if (aws_event_stream_headers_list_init(&headers, aws_default_allocator()) != AWS_OP_SUCCESS) return {};
  bool fits = true;
  for (const auto& [name, value] : frame.headers) {
    if (name.empty() || name.size() > AWS_EVENT_STREAM_HEADER_NAME_LEN_MAX ||
        value.size() > AWS_EVENT_STREAM_HEADER_VALUE_LEN_MAX) {
      fits = false;
      break;
    }
    fits = fits && aws_event_stream_add_string_header(
                       &headers, name.data(), static_cast<std::uint8_t>(name.size()), value.data(),
                       static_cast<std::uint16_t>(value.size()), 0) == AWS_OP_SUCCESS;
  }
  std::string bytes;
  if (fits) {
    aws_byte_buf payload = aws_byte_buf_from_array(frame.payload.data(), frame.payload.size());
    aws_event_stream_message message;
    if (aws_event_stream_message_init(&message, aws_default_allocator(), &headers, &payload) ==
        AWS_OP_SUCCESS) {
      bytes.assign(reinterpret_cast<const char*>(aws_event_stream_message_buffer(&message)),
                   aws_event_stream_message_total_length(&message));
      aws_event_stream_message_clean_up(&message);
    }
  }
  aws_event_stream_headers_list_cleanup(&headers);
  return bytes;
}

}  // namespace headroom::aws
