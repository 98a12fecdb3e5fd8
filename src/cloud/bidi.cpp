// One Session per stream; everything of it runs on the loop.
#include "cloud/bidi.hpp"

#include <fmt/format.h>

#include "aws/event_frame.hpp"
#include "cloud/bidi_answers.hpp"
#include "cloud/bidi_flow.hpp"
#include "cloud/control.hpp"
#include "cloud/event_stream.hpp"
#include "cloud/fleet.hpp"
#include "cloud/front.hpp"
#include "cloud/reply.hpp"
#include "cloud/target.hpp"
#include "net/ws_client.hpp"

namespace headroom::cloud {
namespace {

constexpr std::size_t kPauseAbove = Inflow::kPauseAbove;
constexpr std::size_t kResumeBelow = Inflow::kResumeBelow;
constexpr std::size_t kMaxMessage = 1U << 20U;
constexpr auto kSilenceAfterEnd = std::chrono::seconds{5};
constexpr auto kAnswerPatience = std::chrono::seconds{60};  // an invocation's limit
constexpr auto kLook = std::chrono::milliseconds{250};
constexpr std::string_view kRoute = "/invocations-bidirectional-stream";

double micros(base::Duration d) { return std::chrono::duration<double, std::micro>(d).count(); }

bool is_utf8(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::ignore).size() ==
         Json(text).dump(-1, ' ', false, Json::error_handler_t::replace).size();
}

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(base::Guarded<World>& world, net::Loop& loop, const base::Clock& clock,
          std::shared_ptr<H2Stream> stream, Target target, std::optional<SignedScope> scope,
          std::shared_ptr<const std::atomic<bool>> ending)
      : world_(world),
        loop_(loop),
        clock_(clock),
        stream_(std::move(stream)),
        inflow_(std::make_shared<Inflow>(stream_)),
        target_(std::move(target)),
        verifier_(std::move(scope)),
        ending_(std::move(ending)),
        arrived_(clock.steady()),
        last_said_(arrived_) {}

  // On the loop. `route` is the container's path with query.
  void start(const std::string& route) {
    net::WsRequest request;
    request.port = static_cast<std::uint16_t>(target_.port);
    request.target = route;
    request.limits.max_message_bytes = kMaxMessage;
    request.headers.set("x-request-id", stream_->request().id);
    net::WsEvents events;
    events.on_open = [self = shared_from_this()] { self->opened(); };
    events.on_message = [self = shared_from_this()](std::string message, bool text) {
      self->message(std::move(message), text);
    };
    events.on_close = [self = shared_from_this()](const net::WsEnd& end) { self->closed(end); };
    socket_ = net::ws_connect(loop_, std::move(request), std::move(events));
    watch_silence();
  }

  const std::shared_ptr<Inflow>& inflow() const { return inflow_; }

  void data(const std::string& bytes) {
    inflow_->take(bytes.size());
    if (done_ || input_ended_) return;
    reader_.feed(bytes);
    while (!done_ && !input_ended_) {
      auto event = reader_.next();
      if (!event) return input_fault(event.error());
      if (!*event) break;
      take(**event);
    }
    if (!done_ && socket_->buffered_bytes() > kPauseAbove) {
      inflow_->block(true);
      socket_->on_drained(kResumeBelow, [inflow = inflow_] { inflow->block(false); });
    }
  }

  void input_end() {
    if (done_ || input_ended_) return;
    if (reader_.inside_frame())
      return input_fault({base::ErrorCode::kInvalidData, "the input ended inside an event", ""});
    input_ended_ = true;
    last_said_ = clock_.steady();
  }

  void client_gone() {
    if (done_) return;
    leave(false, true);
    socket_->close(1001, "the client is gone");
  }

 private:
  void take(const Event& outer) {
    const auto skew = world_.with([](const World& world) { return world.faults.skew; });
    if (const auto checked = verifier_.check(outer, clock_.wall() + skew); !checked)
      return input_fault(checked.error());
    if (outer.payload.empty()) return input_end();
    const auto inner = decode_event(outer.payload);
    if (!inner) return input_fault(inner.error());
    if (inner->text(":event-type") != "PayloadPart")
      return input_fault({base::ErrorCode::kInvalidData, "only PayloadPart events are understood", ""});
    if (partial_.size() + inner->payload.size() > kMaxMessage)
      return input_fault({base::ErrorCode::kInvalidData, "a message is larger than 1 MiB", ""});
    partial_ += inner->payload;
    if (partial_type_.empty()) partial_type_ = inner->text("DataType");
    if (inner->text("CompletionState") == "PARTIAL") return;
    const bool text = partial_type_ == "UTF8" || (partial_type_.empty() && is_utf8(partial_));
    partial_type_.clear();
    answers_.asked(partial_);
    if (text)
      socket_->send_text(std::exchange(partial_, {}));
    else
      socket_->send_binary(std::exchange(partial_, {}));
  }

  void opened() {
    if (done_) return;
    begun_ = true;
    stream_->begin(200, {{"content-type", "application/vnd.amazon.eventstream"},
                         {"x-amzn-invoked-production-variant", target_.variant},
                         {"x-amzn-requestid", stream_->request().id}});
  }

  void message(std::string message, bool text) {
    if (done_) return;
    last_said_ = clock_.steady();
    answers_.said(message, text);
    if (!std::exchange(first_seen_, true)) record("FirstChunkLatency", micros(last_said_ - arrived_));
    stream_->write(aws::encode_event_frame({{{":message-type", "event"},
                                             {":event-type", "PayloadPart"},
                                             {"DataType", text ? "UTF8" : "BINARY"},
                                             {"CompletionState", "COMPLETE"},
                                             {":content-type", "application/octet-stream"}},
                                            std::move(message)}));
    if (stream_->buffered_bytes() <= kPauseAbove) return;
    socket_->pause();
    stream_->on_drained(kResumeBelow, [socket = socket_] { socket->resume(); });
  }

  void closed(const net::WsEnd& end) {
    if (done_) return;
    if (!begun_) return refused(end);
    if (!end.error && (end.code == 1000 || end.code == 1001)) {
      leave(false);
      return stream_->finish();
    }
    leave(true);
    const std::string why = end.error ? "the container broke the connection off"
                                      : fmt::format("the container closed with {} {}", end.code, end.reason);
    exception("ModelStreamError", why, {{"ErrorCode", "StreamBroken"}});
  }

  // The container took no WebSocket.
  void refused(const net::WsEnd& end) {
    leave(true);
    const std::string said = end.error ? end.error->message : end.reason;
    int status = 0;
    if (end.error && end.error->code == base::ErrorCode::kRemote)
      status = std::atoi(end.error->context.c_str());
    stream_->respond(
        runtime_error(424, "ModelError",
                      fmt::format("Received error ({}) from primary with message \"{}\". See log "
                                  "stream {}.",
                                  status, said, target_.log_arn),
                      {{"OriginalStatusCode", status},
                       {"OriginalMessage", said},
                       {"LogStreamArn", target_.log_arn},
                       {"ErrorCode", "ModelConnectionFailed"}}));
  }

  void input_fault(const base::Error& error) {
    leave(false);
    socket_->close(1002, "the client's stream is broken");
    const bool signature = error.code == base::ErrorCode::kUnauthenticated;
    if (!begun_)
      return stream_->respond(signature ? runtime_error(403, error.context, error.message)
                                        : runtime_error(400, "InputValidationError", error.message,
                                                        {{"ErrorCode", "InvalidEvent"}}));
    if (!signature) return exception("InputValidationError", error.message, {{"ErrorCode", "InvalidEvent"}});
    stream_->write(aws::encode_event_frame(
        {{{":message-type", "error"}, {":error-code", error.context}, {":error-message", error.message}},
         ""}));
    stream_->finish();
  }

  void exception(const char* type, const std::string& message, Json more) {
    more["Message"] = message;
    stream_->write(aws::encode_event_frame(
        {{{":message-type", "exception"}, {":exception-type", type}, {":content-type", "application/json"}},
         dump(more)}));
    stream_->finish();
  }

  // A session whose input is at its end goes once the container is silent: later where it owes an answer,
  // which may have to wait in a queue.
  void watch_silence() {
    if (done_) return;
    const bool owes = answers_.outstanding();
    const auto patience = owes && !*ending_ ? kAnswerPatience : kSilenceAfterEnd;
    if ((input_ended_ || *ending_) && clock_.steady() - last_said_ > patience) return give_up(owes, patience);
    loop_.after(kLook, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->watch_silence();
    });
  }

  void give_up(bool owes, std::chrono::seconds patience) {
    if (!begun_ || !owes) return socket_->close(1000, "there is no more input");
    leave(true);
    exception("ModelStreamError",
              fmt::format("the container was silent for {} s and still owes an answer", patience.count()),
              {{"ErrorCode", "ModelInvocationTimeExceeded"}});
    socket_->close(1000, "there is no more input");
  }

  void leave(bool failed, bool abandoned = false) {
    done_ = true;
    world_.with([&](World& world) {
      end_request(world, target_.endpoint, target_.instance);
      if (abandoned) return;
      const auto put = [&](const char* name, double value) {
        world.metrics.record(variant_metric(name, target_.endpoint, target_.variant), value);
      };
      put("Invocation5XXErrors", failed ? 1 : 0);
      put("InvocationModelErrors", failed ? 1 : 0);
    });
  }

  void record(const char* name, double value) {
    world_.with([&](World& world) {
      world.metrics.record(variant_metric(name, target_.endpoint, target_.variant), value);
    });
  }

  base::Guarded<World>& world_;
  net::Loop& loop_;
  const base::Clock& clock_;
  const std::shared_ptr<H2Stream> stream_;
  const std::shared_ptr<Inflow> inflow_;
  const Target target_;
  EventReader reader_;
  OpenAnswers answers_;
  EventVerifier verifier_;
  const std::shared_ptr<const std::atomic<bool>> ending_;
  const base::SteadyTime arrived_;
  base::SteadyTime last_said_;
  std::shared_ptr<net::WebSocket> socket_;
  std::string partial_, partial_type_;
  bool begun_ = false, first_seen_ = false, input_ended_ = false, done_ = false;
};

// "/endpoints/NAME/invocations-bidirectional-stream"
std::optional<std::string> endpoint_of(const std::string& path) {
  constexpr std::string_view kBegin = "/endpoints/";
  if (path.rfind(kBegin, 0) != 0 || path.size() <= kBegin.size() + kRoute.size()) return std::nullopt;
  if (path.compare(path.size() - kRoute.size(), kRoute.size(), kRoute) != 0) return std::nullopt;
  return net::percent_decode(
      std::string_view(path).substr(kBegin.size(), path.size() - kBegin.size() - kRoute.size()));
}

bool of_characters(std::string_view text, std::string_view more) {
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && more.find(c) == std::string_view::npos)
      return false;
  }
  return true;
}

// The container's path: its own route, or what the client asked for.
base::Result<std::string> container_route(const net::Headers& headers) {
  std::string path(headers.get("x-amzn-sagemaker-model-invocation-path"));
  const std::string query(headers.get("x-amzn-sagemaker-model-query-string"));
  if (path.empty()) path = kRoute;
  if (path.front() != '/') path.insert(0, 1, '/');
  if (path.size() > 100 || !of_characters(path, "/-._~") || path.find("..") != std::string::npos)
    return base::fail(base::ErrorCode::kInvalidArgument, "ModelInvocationPath is no plain path");
  if (query.size() > 2048 || !of_characters(query, "-._~=&%+"))
    return base::fail(base::ErrorCode::kInvalidArgument, "ModelQueryString is no plain query string");
  return query.empty() ? path : path + "?" + query;
}

}  // namespace

H2Events Bidi::open(const std::shared_ptr<H2Stream>& stream) {
  const net::Request& request = stream->request();
  const auto refuse = [&](int status, std::string_view type, const std::string& why) {
    stream->respond(runtime_error(status, type, why));
    return H2Events{};
  };
  if (settings_.hosts.count(host_of(request.headers.get("host"))) == 0)
    return refuse(403, "AccessDeniedException", "this host is not answered here; use 127.0.0.1 or localhost");
  std::optional<SignedScope> scope;
  if (settings_.credentials) {
    const auto skew = world_.with([](const World& world) { return world.faults.skew; });
    auto verified = verify_signature(request, *settings_.credentials, clock_.wall() + skew,
                                     {settings_.region, "sagemaker", true});
    if (!verified) return refuse(403, verified.error().context, verified.error().message);
    scope = std::move(*verified);
  }
  const auto endpoint = endpoint_of(request.path);
  if (!endpoint || request.method != "POST")
    return refuse(404, "UnknownOperationException",
                  "this port answers POST /endpoints/NAME/invocations-bidirectional-stream alone");
  if (world_.with([](World& world) { return take_throttle(world, "InvokeEndpointWithBidirectionalStream"); }))
    return refuse(400, "ThrottlingException", "Rate exceeded");
  const auto route = container_route(request.headers);
  if (!route) return refuse(400, "InputValidationError", route.error().message);
  const std::string variant(request.headers.get("x-amzn-sagemaker-target-variant"));
  const auto target = world_.with([&](World& world) { return choose_target(world, *endpoint, variant); });
  if (!target) {
    const bool busy = target.error().code == base::ErrorCode::kUnavailable;
    return refuse(busy ? 503 : 400, busy ? "ServiceUnavailableError" : "InputValidationError",
                  target.error().message);
  }
  const auto session =
      std::make_shared<Session>(world_, loop_, clock_, stream, *target, std::move(scope), ending_);
  loop_.post([session, route = *route] { session->start(route); });
  H2Events events;
  events.on_data = [session, inflow = session->inflow(), &loop = loop_](std::string_view bytes) {
    inflow->add(bytes.size());
    loop.post([session, copy = std::string(bytes)] { session->data(copy); });
  };
  events.on_end = [session, &loop = loop_] { loop.post([session] { session->input_end(); }); };
  events.on_gone = [session, &loop = loop_] { loop.post([session] { session->client_gone(); }); };
  return events;
}

}  // namespace headroom::cloud
