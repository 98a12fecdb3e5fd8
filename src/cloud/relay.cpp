// One Invocation object per request.
#include "cloud/relay.hpp"

#include <fmt/format.h>

#include "aws/event_frame.hpp"
#include "cloud/fleet.hpp"
#include "cloud/reply.hpp"
#include "cloud/target.hpp"

namespace headroom::cloud {
namespace {

constexpr std::size_t kMaxBuffered = 32U << 20U;   // of a buffered answer
constexpr std::size_t kMaxErrorBody = 64U << 10U;  // of an instance's error that is passed on
constexpr std::size_t kPauseAbove = 1U << 20U;     // waiting for a slow client
constexpr std::size_t kResumeBelow = 256U << 10U;
constexpr auto kInstanceTimeout =
    std::chrono::seconds{60};  // SageMaker's limit for an answer, and between chunks

double micros(base::Duration d) { return std::chrono::duration<double, std::micro>(d).count(); }

class Invocation : public std::enable_shared_from_this<Invocation> {
 public:
  Invocation(base::Guarded<World>& world, const base::Clock& clock, std::shared_ptr<net::Exchange> exchange,
             Target target, bool streaming)
      : world_(world),
        clock_(clock),
        exchange_(std::move(exchange)),
        target_(std::move(target)),
        streaming_(streaming),
        arrived_(clock.steady()) {}

  void start(net::Client& client) {
    net::ClientEvents events;
    events.on_headers = [self = shared_from_this()](int status, const net::Headers& headers) {
      self->headers(status, headers);
    };
    events.on_data = [self = shared_from_this()](std::string_view data) { self->data(data); };
    events.on_end = [self = shared_from_this()](std::optional<base::Error> error) { self->end(error); };
    sent_ = clock_.steady();
    call_ = client.start(make_request(), std::move(events));
    // Weak: the exchange keeps this callback, and the call's events keep this object while there is an answer
    // to come.
    exchange_->on_gone([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->client_gone();
    });
  }

 private:
  net::ClientRequest make_request() const {
    const net::Request& in = exchange_->request();
    net::ClientRequest out;
    out.port = static_cast<std::uint16_t>(target_.port);
    out.method = "POST";
    out.target = "/invocations";
    out.body = in.body;
    out.answer_timeout = kInstanceTimeout;
    const auto type = in.headers.find("content-type");
    out.headers.set("Content-Type", std::string(type.value_or("application/octet-stream")));
    const auto accept = in.headers.find(streaming_ ? "x-amzn-sagemaker-accept" : "accept");
    if (accept && !accept->empty()) out.headers.set("Accept", std::string(*accept));
    for (const char* name : {"X-Amzn-SageMaker-Custom-Attributes", "X-Amzn-SageMaker-Inference-Id",
                             "X-Amzn-SageMaker-Session-Id"}) {
      if (const auto value = in.headers.find(name)) out.headers.set(name, std::string(*value));
    }
    out.headers.set("x-request-id", in.id);
    return out;
  }

  net::Headers reply_headers(const char* content_type_name) const {
    net::Headers out;
    out.set(content_type_name, content_type_.empty() ? "application/octet-stream" : content_type_);
    out.set("x-Amzn-Invoked-Production-Variant", target_.variant);
    if (!custom_attributes_.empty()) out.set("X-Amzn-SageMaker-Custom-Attributes", custom_attributes_);
    out.set("x-amzn-RequestId", exchange_->request().id);
    return out;
  }

  void headers(int status, const net::Headers& headers) {
    status_ = status;
    content_type_ = headers.get("content-type");
    custom_attributes_ = headers.get("x-amzn-sagemaker-custom-attributes");
  }

  bool good() const { return status_ >= 200 && status_ < 300; }

  void data(std::string_view data) {
    if (done_) return;
    if (!streaming_ || !good()) {
      const std::size_t limit = good() ? kMaxBuffered : kMaxErrorBody;
      if (body_.size() + data.size() > limit && good()) {
        call_->cancel();
        return model_error(0, "the answer is larger than 32 MiB");
      }
      body_.append(data.substr(0, limit - std::min(limit, body_.size())));
      return;
    }
    begin_stream();
    aws::EventFrame frame{{{":event-type", "PayloadPart"},
                           {":content-type", "application/octet-stream"},
                           {":message-type", "event"}},
                          std::string(data)};
    exchange_->write(aws::encode_event_frame(frame));
    if (exchange_->buffered_bytes() > kPauseAbove && call_) {
      call_->pause();
      exchange_->on_drained(kResumeBelow, [call = call_] { call->resume(); });
    }
  }

  void begin_stream() {
    if (begun_) return;
    begun_ = true;
    const auto now = clock_.steady();
    record("FirstChunkLatency", micros(now - arrived_));
    record("FirstChunkModelLatency", micros(now - sent_));
    net::Headers headers = reply_headers("X-Amzn-SageMaker-Content-Type");
    headers.set("Content-Type", "application/vnd.amazon.eventstream");
    exchange_->begin(200, std::move(headers));
  }

  void end(const std::optional<base::Error>& error) {
    if (done_) return;
    const bool too_slow = error && error->code == base::ErrorCode::kTimeout;
    if (begun_) return error ? stream_error(too_slow) : stream_end();
    if (error)
      return model_error(
          0, too_slow ? "Your invocation timed out while waiting for a response from container primary"
                      : "the container closed the connection before it had answered");
    if (!good()) return model_error(status_, body_);
    if (streaming_) {
      begin_stream();  // a good answer without a byte is an empty stream
      return stream_end();
    }
    leave(false);
    net::Response response;
    response.headers = reply_headers("Content-Type");
    response.body = std::move(body_);
    exchange_->respond(std::move(response));
  }

  void stream_end() {
    leave(false);
    exchange_->finish();
  }

  void stream_error(bool too_slow) {
    leave(true);
    const Json payload{{"Message", too_slow ? "The model did not send a further part in time."
                                            : "The model broke off the stream before its end."},
                       {"ErrorCode", too_slow ? "ModelInvocationTimeExceeded" : "StreamBroken"}};
    exchange_->write(aws::encode_event_frame({{{":exception-type", "ModelStreamError"},
                                               {":content-type", "application/json"},
                                               {":message-type", "exception"}},
                                              dump(payload)}));
    exchange_->finish();
  }

  // Before the first byte of an answer: ModelError with what the container said.
  void model_error(int original_status, const std::string& original) {
    leave(true);
    const bool client_fault = original_status >= 400 && original_status < 500;
    const std::string message =
        fmt::format("Received {} error ({}) from primary with message \"{}\". See log stream {}.",
                    client_fault ? "client" : "server", original_status, original, target_.log_arn);
    exchange_->respond(runtime_error(424, "ModelError", message,
                                     {{"OriginalStatusCode", original_status},
                                      {"OriginalMessage", original},
                                      {"LogStreamArn", target_.log_arn}}));
  }

  void client_gone() {
    if (done_) return;
    leave(false, true);
    if (call_) call_->cancel();
  }

  // The request no longer counts; what CloudWatch shows of it is recorded.
  void leave(bool failed, bool abandoned = false) {
    done_ = true;
    const auto now = clock_.steady();
    world_.with([&](World& world) {
      end_request(world, target_.endpoint, target_.instance);
      if (abandoned) return;
      const auto put = [&](const char* name, double value) {
        world.metrics.record(variant_metric(name, target_.endpoint, target_.variant), value);
      };
      put("Invocation4XXErrors", status_ >= 400 && status_ < 500 ? 1 : 0);
      put("Invocation5XXErrors", status_ >= 500 || (failed && good()) || (failed && status_ == 0) ? 1 : 0);
      put("InvocationModelErrors", failed ? 1 : 0);
      put("ModelLatency", micros(now - sent_));
      put("OverheadLatency", micros(sent_ - arrived_));
    });
  }

  void record(const char* name, double value) {
    world_.with([&](World& world) {
      world.metrics.record(variant_metric(name, target_.endpoint, target_.variant), value);
    });
  }

  base::Guarded<World>& world_;
  const base::Clock& clock_;
  std::shared_ptr<net::Exchange> exchange_;
  const Target target_;
  const bool streaming_;
  const base::SteadyTime arrived_;
  base::SteadyTime sent_;
  std::shared_ptr<net::Call> call_;
  int status_ = 0;
  std::string content_type_, custom_attributes_, body_;
  bool begun_ = false, done_ = false;
};

}  // namespace

void Relay::invoke(const std::shared_ptr<net::Exchange>& exchange, const std::string& endpoint,
                   bool streaming) {
  const std::string variant(exchange->request().headers.get("x-amzn-sagemaker-target-variant"));
  if (!exchange->request().headers.get("x-amzn-sagemaker-target-model").empty())
    return exchange->respond(runtime_error(
        400, "ValidationError", "TargetModel: multi-model endpoints are not offered by this cloud."));
  const auto target = world_.with([&](World& world) { return choose_target(world, endpoint, variant); });
  if (!target) {
    const bool busy = target.error().code == base::ErrorCode::kUnavailable;
    return exchange->respond(runtime_error(busy ? 503 : 400, busy ? "ServiceUnavailable" : "ValidationError",
                                           target.error().message));
  }
  std::make_shared<Invocation>(world_, clock_, exchange, *target, streaming)->start(client_);
}

}  // namespace headroom::cloud
