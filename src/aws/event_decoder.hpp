// Internal to src/aws: reads a response stream piece by piece and tells the payload of PayloadPart events.
//
// Payload is handed over as it arrives, before its frame's CRC is checked; a bad CRC makes feed() fail
// afterwards. Single-threaded. Wire rule: events, exceptions (:exception-type) and errors (:error-code) are
// ordinary frames told apart by :message-type; a stream that ends inside a frame is truncated even if its
// HTTP body ended properly.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <aws/event-stream/event_stream.h>

namespace headroom::aws {

class EventDecoder {
 public:
  explicit EventDecoder(std::function<void(std::string_view)> on_payload);
  ~EventDecoder();
  EventDecoder(const EventDecoder&) = delete;
  EventDecoder& operator=(const EventDecoder&) = delete;

  int feed(std::string_view bytes);  // 0 or a Common Runtime error
  bool inside_frame() const { return decoder_.message_pos != 0; }

  struct Failure {
    std::string type;     // ModelStreamError, InternalStreamFailure, or the :error-code
    std::string payload;  // {"Message":..,"ErrorCode":..}, or the :error-message
  };
  const std::optional<Failure>& failure() const { return failure_; }
  std::uint64_t events() const { return events_; }
  const std::string& data_type() const {
    return data_type_;
  }  // of the event whose payload is coming: UTF8, BINARY, ""
  void on_event(std::function<void()> call) { on_event_ = std::move(call); }  // after each whole event

 private:
  void on_header(aws_event_stream_header_value_pair* header);
  void on_segment(std::string_view bytes);
  void on_frame();

  std::function<void(std::string_view)> on_payload_;
  std::function<void()> on_event_;
  aws_event_stream_streaming_decoder decoder_{};
  std::string message_type_, event_type_, exception_type_, error_code_, error_message_, payload_, data_type_;
  std::optional<Failure> failure_;
  std::uint64_t events_ = 0;
};

}  // namespace headroom::aws
