// Internal to src/aws: one bidirectional stream: request signed, event sent, answers read, input ended.
//
// Everything but start() and the arrival of fetched credentials runs on the first event loop; what comes from
// elsewhere is handed over to it. Kept alive by itself until on_done was called.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <aws/http/http2_stream_manager.h>
#include <aws/http/request_response.h>

#include "aws/event_decoder.hpp"
#include "aws/event_signer.hpp"
#include "aws/invoke.hpp"
#include "aws/invoke_outcome.hpp"

namespace headroom::aws {

struct BidiRequest {
  std::string path;
  std::string authority;
  std::string target_variant;
  std::string body;
  EventScope scope;  // its credentials are fetched for each stream
  aws_credentials_provider* provider = nullptr;
};

class BidiCall : public std::enable_shared_from_this<BidiCall> {
 public:
  BidiCall(Runtime::Impl& runtime, aws_http2_stream_manager* manager, BidiRequest request,
           InvokeEvents events, std::function<void()> ended);
  ~BidiCall();
  void start();
  void stop(bool timed_out);  // cancels; the loop's thread

 private:
  void on_loop(std::function<void(BidiCall&)> work);
  void fetch_credentials();
  bool build_message();
  void sign();
  void acquire();
  void acquired(aws_http_stream* stream, int error);
  void send(SignedEvent event, bool last);
  void end_input();
  int body(std::string_view bytes);
  void session_message();
  void completed(int error);  // the stream's last callback
  void finish(int error);

  static int headers_callback(aws_http_stream*, aws_http_header_block, const aws_http_header*, std::size_t,
                              void*);
  static int head_done_callback(aws_http_stream*, aws_http_header_block, void*);
  static int body_callback(aws_http_stream*, const aws_byte_cursor*, void*);
  static void complete_callback(aws_http_stream*, int error, void*);

  Runtime::Impl& runtime_;
  aws_http2_stream_manager* manager_;
  BidiRequest request_;
  const InvokeEvents events_;
  const std::function<void()> on_ended_;
  std::shared_ptr<BidiCall> self_;
  aws_http_message* message_ = nullptr;
  aws_http_stream* stream_ = nullptr;
  std::string prior_;  // signature
  std::string text_;   // of the UTF8 event that is coming in
  AnswerFacts facts_;
  EventDecoder decoder_;
  base::SteadyTime arrived_{};
  std::optional<InvokeResult> said_;  // by the session: an error
  bool complete_ = false;             // synthesis_complete came
  bool input_ended_ = false;
  bool completed_ = false;
  bool done_ = false;
  bool timed_out_ = false;
  bool cancelled_ = false;
};

}  // namespace headroom::aws
