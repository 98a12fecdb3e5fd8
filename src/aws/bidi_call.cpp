// One stream of InvokeEndpointWithBidirectionalStream. See bidi_call.hpp.
#include "aws/bidi_call.hpp"

#include <algorithm>
#include <cctype>

#include <aws/io/stream.h>

#include "aws/event_frame.hpp"
#include "aws/request_signer.hpp"
#include "aws/session_text.hpp"

namespace headroom::aws {
namespace {

constexpr std::size_t kLargestErrorBody = 64 * 1024;

base::SteadyTime now() { return std::chrono::steady_clock::now(); }
bool on_loop_thread(Runtime::Impl& runtime) {
  return aws_event_loop_thread_is_callers_thread(aws_event_loop_group_get_loop_at(runtime.loops, 0));
}

// A session that is told to close ends its stream at once; else the service waits for what it may still say.
constexpr const char* kCloseMessage = R"({"type":"close"})";

std::string text_event(const std::string& text) {
  return encode_event_frame({{{":message-type", "event"},
                              {":event-type", "PayloadPart"},
                              {"DataType", "UTF8"},
                              {"CompletionState", "COMPLETE"},
                              {":content-type", "application/octet-stream"}},
                             text});
}

// The bytes of one write, alive until the connection has taken them.
struct Write {
  std::string bytes;
  aws_input_stream* stream = nullptr;
  ~Write() { aws_input_stream_release(stream); }
};

}  // namespace

BidiCall::BidiCall(Runtime::Impl& runtime, aws_http2_stream_manager* manager, BidiRequest request,
                   InvokeEvents events, std::function<void()> ended)
    : runtime_(runtime),
      manager_(manager),
      request_(std::move(request)),
      events_(std::move(events)),
      on_ended_(std::move(ended)),
      decoder_([this](std::string_view bytes) {
        if (decoder_.data_type() == "UTF8") {
          text_ += bytes;
          return;
        }
        facts_.got_bytes = true;
        if (events_.on_data) events_.on_data(arrived_, bytes);
      }) {
  decoder_.on_event([this] { session_message(); });
}

BidiCall::~BidiCall() {
  if (message_ != nullptr) aws_http_message_release(message_);
  if (request_.scope.credentials != nullptr) aws_credentials_release(request_.scope.credentials);
}

void BidiCall::on_loop(std::function<void(BidiCall&)> work) {
  if (on_loop_thread(runtime_)) return work(*this);
  schedule_on_loop(runtime_, std::nullopt,
                   [self = shared_from_this(), work = std::move(work)] { work(*self); });
}

void BidiCall::start() {
  self_ = shared_from_this();
  if (!build_message()) {
    const int error = aws_last_error();
    return on_loop([error](BidiCall& call) { call.finish(error); });
  }
  fetch_credentials();
}

void BidiCall::fetch_credentials() {
  auto* mine = new std::shared_ptr<BidiCall>(shared_from_this());
  const auto callback = [](aws_credentials* credentials, int error, void* user_data) {
    const std::unique_ptr<std::shared_ptr<BidiCall>> held(static_cast<std::shared_ptr<BidiCall>*>(user_data));
    if (credentials != nullptr) aws_credentials_acquire(credentials);
    (*held)->on_loop([credentials, error](BidiCall& call) {
      call.request_.scope.credentials = credentials;  // a failed fetch may report error 0
      if (credentials == nullptr) return call.finish(error != 0 ? error : AWS_ERROR_UNKNOWN);
      if (!call.done_) call.sign();
    });
  };
  if (aws_credentials_provider_get_credentials(request_.provider, callback, mine) != AWS_OP_SUCCESS) {
    delete mine;
    const int error = aws_last_error();
    on_loop([error](BidiCall& call) { call.finish(error); });
  }
}

bool BidiCall::build_message() {
  // An HTTP/1 message, which the connection converts: a native one keeps the signer's upper-case names.
  message_ = aws_http_message_new_request(runtime_.allocator);
  const auto add = [this](std::string_view name, std::string_view value) {
    aws_http_header header{};
    header.name = cursor(name);
    header.value = cursor(value);
    return aws_http_message_add_header(message_, header) == AWS_OP_SUCCESS;
  };
  return aws_http_message_set_request_method(message_, cursor("POST")) == AWS_OP_SUCCESS &&
         aws_http_message_set_request_path(message_, cursor(request_.path)) == AWS_OP_SUCCESS &&
         add("Host", request_.authority) && add("Content-Type", "application/vnd.amazon.eventstream") &&
         add("User-Agent", "headroom/" HEADROOM_VERSION) &&
         (request_.target_variant.empty() || add("X-Amzn-SageMaker-Target-Variant", request_.target_variant));
}

void BidiCall::sign() {
  RequestSignature how;
  how.region = request_.scope.region;
  how.service = request_.scope.service;
  how.credentials = request_.scope.credentials;
  how.signed_events = true;
  sign_request(runtime_.allocator, message_, how,
               [self = shared_from_this()](const std::string& signature, int error) {
                 self->on_loop([signature, error](BidiCall& call) {
                   if (signature.empty()) return call.finish(error);
                   call.prior_ = signature;
                   call.acquire();
                 });
               });
}

void BidiCall::acquire() {
  if (done_) return;
  aws_http_make_request_options options{};
  options.self_size = sizeof options;
  options.request = message_;
  options.user_data = this;
  options.on_response_headers = headers_callback;
  options.on_response_header_block_done = head_done_callback;
  options.on_response_body = body_callback;
  options.on_complete = complete_callback;
  options.http2_use_manual_data_writes = true;
  aws_http2_stream_manager_acquire_stream_options wanted{};
  wanted.options = &options;
  wanted.user_data = new std::shared_ptr<BidiCall>(shared_from_this());
  wanted.callback = [](aws_http_stream* stream, int error, void* user_data) {
    const std::unique_ptr<std::shared_ptr<BidiCall>> mine(static_cast<std::shared_ptr<BidiCall>*>(user_data));
    (*mine)->on_loop([stream, error](BidiCall& call) { call.acquired(stream, error); });
  };
  aws_http2_stream_manager_acquire_stream(manager_, &wanted);
}

void BidiCall::acquired(aws_http_stream* stream, int error) {
  if (stream == nullptr) return finish(error);
  if (completed_) return aws_http_stream_release(stream);
  stream_ = stream;
  if (done_) self_ = shared_from_this();  // ended meanwhile; the stream's last callback still needs us
  if (done_ || timed_out_ || cancelled_)
    return aws_http_stream_cancel(stream_, AWS_ERROR_HTTP_STREAM_CANCELLED);
  if (events_.on_connected) events_.on_connected(now());
  sign_event(runtime_.allocator, request_.scope, text_event(request_.body), prior_,
             std::chrono::system_clock::now(), [self = shared_from_this()](SignedEvent event) {
               self->on_loop([event](BidiCall& call) { call.send(event, false); });
             });
}

void BidiCall::send(SignedEvent event, bool last) {
  if (done_ || stream_ == nullptr) return;
  if (event.error != 0) {
    facts_.connection_error = crt_error_text(event.error);
    return aws_http_stream_cancel(stream_, AWS_ERROR_HTTP_STREAM_CANCELLED);
  }
  prior_ = event.signature;
  auto* write = new Write{std::move(event.frame)};
  const aws_byte_cursor bytes = cursor(write->bytes);
  write->stream = aws_input_stream_new_from_cursor(runtime_.allocator, &bytes);
  aws_http2_stream_write_data_options options{};
  options.data = write->stream;
  options.end_stream = last;
  options.user_data = write;
  options.on_complete = [](aws_http_stream*, int, void* user_data) { delete static_cast<Write*>(user_data); };
  if (aws_http2_stream_write_data(stream_, &options) != AWS_OP_SUCCESS) delete write;  // it has ended
}

void BidiCall::end_input() {
  if (input_ended_) return;
  input_ended_ = true;
  const auto last = [](BidiCall& call) {
    sign_event(call.runtime_.allocator, call.request_.scope, "", call.prior_,
               std::chrono::system_clock::now(), [self = call.shared_from_this()](SignedEvent event) {
                 self->on_loop([event](BidiCall& c) { c.send(event, true); });
               });
  };
  if (!complete_) return last(*this);
  sign_event(runtime_.allocator, request_.scope, text_event(kCloseMessage), prior_,
             std::chrono::system_clock::now(), [self = shared_from_this(), last](SignedEvent event) {
               self->on_loop([event, last](BidiCall& call) {
                 call.send(event, false);
                 last(call);
               });
             });
}

int BidiCall::body(std::string_view bytes) {
  arrived_ = now();
  if (facts_.decoded) {
    const int error = decoder_.feed(bytes);
    if (decoder_.failure()) end_input();
    return error;
  }
  if (facts_.body.size() < kLargestErrorBody)
    facts_.body += bytes.substr(0, kLargestErrorBody - facts_.body.size());
  return 0;
}

void BidiCall::session_message() {
  if (text_.empty()) return;
  const auto said = read_session_text(text_);
  text_.clear();
  if (said.kind == SessionText::Kind::kOther) return;
  if (said.kind == SessionText::Kind::kError) said_ = session_error(said);
  complete_ = true;
  end_input();
}

void BidiCall::stop(bool timed_out) {
  if (done_) return;
  (timed_out ? timed_out_ : cancelled_) = true;
  if (stream_ != nullptr) return aws_http_stream_cancel(stream_, AWS_ERROR_HTTP_STREAM_CANCELLED);
  finish(0);
}

void BidiCall::completed(int error) {
  completed_ = true;
  const auto keep = shared_from_this();
  finish(error);
  if (aws_http_stream* const stream = std::exchange(stream_, nullptr)) aws_http_stream_release(stream);
  self_.reset();
}

void BidiCall::finish(int error) {
  if (done_) return;
  done_ = true;
  facts_.event_stream = true;
  facts_.truncated = facts_.decoded && decoder_.inside_frame();
  if (const auto& failure = decoder_.failure()) {
    facts_.failure_type = failure->type;
    facts_.failure_payload = failure->payload;
  }
  if (error != 0 && facts_.connection_error.empty()) facts_.connection_error = crt_error_text(error);
  InvokeResult result = judge_answer(facts_, timed_out_, cancelled_);
  if (result.outcome == Outcome::kOk && !complete_) {
    result.outcome = Outcome::kFailed;
    result.error = "the stream ended before synthesis_complete";
  }
  if (said_ && !timed_out_ && !cancelled_) {
    said_->server_request_id = result.server_request_id;
    result = *said_;
  }
  const auto self = std::move(self_);
  if (events_.on_done) events_.on_done(now(), result);
  on_ended_();
}

int BidiCall::headers_callback(aws_http_stream*, aws_http_header_block block, const aws_http_header* headers,
                               std::size_t count, void* user_data) {
  BidiCall& call = *static_cast<BidiCall*>(user_data);
  if (block != AWS_HTTP_HEADER_BLOCK_MAIN) return AWS_OP_SUCCESS;
  for (std::size_t i = 0; i < count; ++i) {
    std::string name(view(headers[i].name));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    call.facts_.headers.emplace_back(std::move(name), view(headers[i].value));
  }
  return AWS_OP_SUCCESS;
}

int BidiCall::head_done_callback(aws_http_stream* stream, aws_http_header_block block, void* user_data) {
  BidiCall& call = *static_cast<BidiCall*>(user_data);
  if (block != AWS_HTTP_HEADER_BLOCK_MAIN) return AWS_OP_SUCCESS;
  aws_http_stream_get_incoming_response_status(stream, &call.facts_.status);
  call.facts_.decoded = call.facts_.status == 200 &&
                        call.facts_.header("content-type").starts_with("application/vnd.amazon.eventstream");
  // The stream is over only when both sides have ended it.
  if (!call.facts_.decoded) call.end_input();
  return AWS_OP_SUCCESS;
}

int BidiCall::body_callback(aws_http_stream*, const aws_byte_cursor* data, void* user_data) {
  const int error = static_cast<BidiCall*>(user_data)->body(view(*data));
  return error == 0 ? AWS_OP_SUCCESS : aws_raise_error(error);
}

void BidiCall::complete_callback(aws_http_stream*, int error, void* user_data) {
  static_cast<BidiCall*>(user_data)->completed(error);
}

}  // namespace headroom::aws
