// The Common Runtime's streaming decoder, told apart by message type.
#include "aws/event_decoder.hpp"

namespace headroom::aws {
namespace {

constexpr std::size_t kLargestFailure = 64 * 1024;

}  // namespace

EventDecoder::EventDecoder(std::function<void(std::string_view)> on_payload)
    : on_payload_(std::move(on_payload)) {
  aws_event_stream_streaming_decoder_options options{};
  options.user_data = this;
  options.on_payload_segment = [](aws_event_stream_streaming_decoder*, aws_byte_buf* payload, std::int8_t,
                                  void* self) {
    static_cast<EventDecoder*>(self)->on_segment(
        {reinterpret_cast<const char*>(payload->buffer), payload->len});
  };
  options.on_prelude = [](aws_event_stream_streaming_decoder*, aws_event_stream_message_prelude*,
                          void* self) {
    auto& me = *static_cast<EventDecoder*>(self);
    for (std::string* text : {&me.message_type_, &me.event_type_, &me.exception_type_, &me.error_code_,
                              &me.error_message_, &me.payload_, &me.data_type_}) {
      text->clear();
    }
  };
  options.on_header = [](aws_event_stream_streaming_decoder*, aws_event_stream_message_prelude*,
                         aws_event_stream_header_value_pair* header,
                         void* self) { static_cast<EventDecoder*>(self)->on_header(header); };
  options.on_complete = [](aws_event_stream_streaming_decoder*, std::uint32_t, void* self) {
    static_cast<EventDecoder*>(self)->on_frame();
  };
  options.on_error = [](aws_event_stream_streaming_decoder*, aws_event_stream_message_prelude*, int,
                        const char*, void*) {};  // pump() returns the same error
  aws_event_stream_streaming_decoder_init_from_options(&decoder_, aws_default_allocator(), &options);
}

EventDecoder::~EventDecoder() { aws_event_stream_streaming_decoder_clean_up(&decoder_); }

int EventDecoder::feed(std::string_view bytes) {
  const aws_byte_buf buffer = aws_byte_buf_from_array(bytes.data(), bytes.size());
  if (aws_event_stream_streaming_decoder_pump(&decoder_, &buffer) == AWS_OP_SUCCESS) return 0;
  const int error = aws_last_error();
  return error != 0 ? error : AWS_ERROR_UNKNOWN;
}

void EventDecoder::on_header(aws_event_stream_header_value_pair* header) {
  if (header->header_value_type != AWS_EVENT_STREAM_HEADER_STRING) return;
  const std::string_view name(header->header_name, header->header_name_len);
  const aws_byte_buf raw = aws_event_stream_header_value_as_string(header);
  const std::string_view value(reinterpret_cast<const char*>(raw.buffer), raw.len);
  if (name == ":message-type") message_type_ = value;
  if (name == ":event-type") event_type_ = value;
  if (name == ":exception-type") exception_type_ = value;
  if (name == ":error-code") error_code_ = value;
  if (name == ":error-message") error_message_ = value;
  if (name == "DataType") data_type_ = value;
}

void EventDecoder::on_segment(std::string_view bytes) {
  if (bytes.empty()) return;
  if (message_type_ == "event") {
    if (event_type_ == "PayloadPart") on_payload_(bytes);
  } else if (payload_.size() + bytes.size() <= kLargestFailure) {
    payload_ += bytes;
  }
}

void EventDecoder::on_frame() {
  if (message_type_ == "event") {
    ++events_;
    if (on_event_) on_event_();
    return;
  }
  if (failure_) return;
  if (message_type_ == "exception") {
    failure_ = Failure{exception_type_.empty() ? "exception without a type" : exception_type_, payload_};
  } else if (message_type_ == "error") {
    failure_ = Failure{error_code_.empty() ? "error without a code" : error_code_,
                       error_message_.empty() ? payload_ : error_message_};
  } else {
    failure_ = Failure{"frame of unknown :message-type '" + message_type_ + "'", payload_};
  }
}

}  // namespace headroom::aws
