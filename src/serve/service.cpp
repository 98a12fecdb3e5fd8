// Routing and the life of the instance.
#include "serve/service.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "serve/openai_names.hpp"

namespace headroom::serve {
namespace {

constexpr double kEmfPeriodS = 10;
constexpr const char* kMetricsType = "text/plain; version=0.0.4";

net::Response json_response(int status, const nlohmann::json& body) {
  return {status, {{"content-type", "application/json"}}, body.dump()};
}

// Not /ping's answer: between two looks the model may be there, and "ready" is none to a request for speech.
void not_loaded(net::Exchange& exchange) {
  exchange.respond(
      error_response({ApiError::kStarting, "the model is still loading"}, exchange.request().id));
}

}  // namespace

// What exists only once the engine is there.
struct Service::Running {
  Running(Service& service, std::unique_ptr<engine::Engine> given, Planner planner)
      : engine(std::move(given)),
        metrics({std::string(engine->name()), engine->workers(), engine->name() == "paced"}),
        scheduler(engine->workers(), service.options_.order),
        context{*engine,
                std::move(planner),
                scheduler,
                service.loop_,
                metrics,
                service.clock_,
                engine->voices(),
                {service.options_.max_characters, service.options_.max_answer_bytes},
                service.options_.slo,
                service.options_.max_age,
                service.options_.log_text},
        session_context{context, service.admission_, text_loop, [&service] { return service.next_number_++; },
                        [&service] { return service.barred(); }} {}
  // The steps of jobs run on these threads (a worker may still be speaking what nobody waits for any more),
  // use all that stands here and hand each other work: both end before any of it goes.
  ~Running() {
    text_loop.stop();
    scheduler.stop();
  }
  std::unique_ptr<engine::Engine> engine;
  Metrics metrics;
  Scheduler scheduler;
  JobContext context;
  net::Loop text_loop{1};  // parsing and phonemes, off the I/O thread
  SessionContext session_context;
};

Service::Service(net::Loop& loop, const base::Clock& clock, const ServiceOptions& options)
    : loop_(loop), clock_(clock), options_(options), admission_(options.max_queue_depth, clock) {}

Service::~Service() = default;

void Service::become_ready(std::unique_ptr<engine::Engine> engine, Planner planner,
                           const std::map<std::string, double>& stages) {
  running_ = std::make_unique<Running>(*this, std::move(engine), std::move(planner));
  for (const auto& [name, elapsed] : stages) running_->metrics.stage(name, elapsed);
  auto expected = State::kStarting;
  state_.compare_exchange_strong(expected, State::kReady);
}

bool Service::drain(base::Duration limit) {
  state_ = State::kDraining;
  std::vector<std::weak_ptr<SpeechSession>> sessions;
  sessions_.lock()->swap(sessions);
  for (const auto& weak : sessions) {
    if (const auto session = weak.lock()) session->leave_when_idle();
  }
  return admission_.wait_idle(clock_.steady() + limit);
}

std::optional<ApiFailure> Service::barred() const {
  switch (state_.load()) {
    case State::kReady:
      return std::nullopt;
    case State::kStarting:
      return ApiFailure{ApiError::kStarting, "the model is still loading"};
    case State::kDraining:
      break;
  }
  return ApiFailure{ApiError::kDraining, "the instance is shutting down"};
}

void Service::ping(net::Exchange& exchange) const {
  if (const auto why = barred()) return exchange.respond(error_response(*why, exchange.request().id));
  exchange.respond(json_response(200, {{"status", "ready"}}));
}

void Service::voices(net::Exchange& exchange) const {
  if (state_ == State::kStarting || !running_)
    return not_loaded(exchange);  // or stopped before it was loaded
  exchange.respond({200, {{"content-type", "application/json"}}, voices_json(running_->context.voices)});
}

// The list, or one of them by its name behind it.
void Service::models(net::Exchange& exchange) const {
  constexpr std::string_view kBase = "/v1/models";
  const std::string& path = exchange.request().path;
  const auto body = path.size() <= kBase.size() + 1
                        ? std::optional(models_json())
                        : model_json(net::percent_decode(path.substr(kBase.size() + 1)));
  if (body) return exchange.respond({200, {{"content-type", "application/json"}}, *body});
  exchange.respond(error_response({ApiError::kNotFound, "no such model; GET /v1/models lists them"},
                                  exchange.request().id));
}

void Service::start_emf(const EmfDimensions& dimensions, double fast) {
  admission_.take_interval();
  const auto period = base::from_s(kEmfPeriodS / fast);
  const auto first = clock_.steady() + period;
  loop_.after(period, [this, dimensions, fast, first] { print_emf(dimensions, fast, first); });
}

// By a fixed beat: lines that came ever later would leave a minute with one too few.
void Service::print_emf(const EmfDimensions& dimensions, double fast, base::SteadyTime due) {
  fmt::print("{}\n", emf_line(admission_.take_interval(), dimensions, clock_.wall(), fast));
  std::fflush(stdout);
  const auto now = clock_.steady();
  due = std::max(due + base::from_s(kEmfPeriodS / fast), now);  // who stood still does not catch up
  loop_.after(due - now, [this, dimensions, fast, due] { print_emf(dimensions, fast, due); });
}

void Service::metrics(net::Exchange& exchange) {
  if (state_ == State::kStarting) return not_loaded(exchange);
  if (!running_) return exchange.respond({200, {{"content-type", kMetricsType}}, {}});  // stopped before
  Metrics::Readings readings{admission_.outstanding(), running_->scheduler.queued(),
                             running_->scheduler.running()};
  if (options_.unsent_answers) {
    readings.unsent_answer_bytes = options_.unsent_answers->bytes();
    readings.cut_answers = options_.unsent_answers->cut();
  }
  exchange.respond({200, {{"content-type", kMetricsType}}, running_->metrics.text(readings)});
}

void Service::invoke(std::shared_ptr<net::Exchange> exchange, std::string route, Parse parse,
                     HttpForm events) {
  if (state_ == State::kStarting || !running_) return not_loaded(*exchange);  // nothing counts yet
  Running& running = *running_;
  running.metrics.offered(route);
  auto barred_by = barred();
  auto ticket = barred_by ? nullptr : admission_.enter();
  if (barred_by) admission_.count_refused();
  if (!barred_by && !ticket) {
    barred_by = {ApiError::kQueueSaturated,
                 fmt::format("{} requests are outstanding, the limit of this instance; retry later",
                             admission_.limit())};
  }
  if (barred_by) {
    running.metrics.rejected(api_error_row(barred_by->error).code);
    running.metrics.outcome(route, "rejected");
    return exchange->respond(error_response(*barred_by, exchange->request().id));
  }
  running.metrics.accepted(route);
  auto sink = make_http_sink(exchange);
  auto job =
      std::make_shared<SpeechJob>(running.context, sink, std::move(ticket), std::move(route), next_number_++);
  job->watch_client();
  running.text_loop.post([job, sink, exchange = std::move(exchange), parse, events,
                          &context = running.context] {
    if (job->ended()) return;  // the client left while its text waited
    job->attempt([&] {
      const net::Request& request = exchange->request();
      auto parsed = parse(request.body, request.headers.get("content-type"), context.limits, context.voices);
      if (parsed && parsed->sse) sink->set_form(events);
      job->prepare(std::move(parsed));
    });
  });
}

void Service::open_session(std::shared_ptr<net::Exchange> exchange) {
  const net::Request& request = exchange->request();
  if (const auto why = barred()) return exchange->respond(error_response(*why, request.id));
  if (!net::wants_websocket(request)) {
    auto answer = error_response({ApiError::kUpgradeRequired,
                                  "this route speaks WebSocket (version 13); connect with ws:// or wss://"},
                                 request.id);
    answer.headers.add("upgrade", "websocket");
    answer.headers.add("connection", "upgrade");
    answer.headers.add("sec-websocket-version", "13");
    return exchange->respond(std::move(answer));
  }
  if (!options_.cors.allows_websocket(request)) {
    return exchange->respond(error_response(
        {ApiError::kForbidden, "pages of this origin may not connect; allow it with --cors-origin"},
        request.id));
  }
  net::WsLimits limits;
  limits.idle_limit = options_.session_idle_limit;
  exchange->accept_websocket(limits, [this, id = request.id](std::shared_ptr<net::WebSocket> socket) {
    net::WsEvents events;
    const auto session = make_session(running_->session_context, std::move(socket), id, events);
    running_->metrics.session(+1);
    events.on_close = [this, close = std::move(events.on_close)](const net::WsEnd& end) {
      running_->metrics.session(-1);
      close(end);
    };
    auto sessions = sessions_.lock();
    std::erase_if(*sessions, [](const auto& weak) { return weak.expired(); });
    sessions->push_back(session);
    if (state_ != State::kReady) session->leave_when_idle();  // drain() has looked already
    return events;
  });
}

void Service::handle(std::shared_ptr<net::Exchange> exchange) {
  using Handle = std::shared_ptr<net::Exchange>;
  struct Route {
    std::string_view path;
    std::string_view method;
    bool open;  // without a key
    void (*run)(Service&, Handle);
  };
  static constexpr std::array kRoutes{
      Route{"/ping", "GET", true, [](Service& s, Handle e) { s.ping(*e); }},
      Route{"/health", "GET", true, [](Service& s, Handle e) { s.ping(*e); }},
      Route{"/metrics", "GET", false, [](Service& s, Handle e) { s.metrics(*e); }},
      Route{"/invocations", "POST", false,
            [](Service& s, Handle e) {
              s.invoke(std::move(e), "/invocations", parse_speech_request, HttpForm::kEvents);
            }},
      Route{"/invocations-bidirectional-stream", "GET", false,
            [](Service& s, Handle e) { s.open_session(std::move(e)); }},
      Route{"/v1/audio/speech", "POST", false,
            [](Service& s, Handle e) {
              s.invoke(std::move(e), "/v1/audio/speech", parse_openai_request, HttpForm::kOpenAiEvents);
            }},
      Route{"/v1/audio/voices", "GET", false, [](Service& s, Handle e) { s.voices(*e); }},
      Route{"/v1/models", "GET", false, [](Service& s, Handle e) { s.models(*e); }},
  };
  const net::Request& request = exchange->request();
  const bool one_model = request.path.starts_with("/v1/models/");
  for (const Route& route : kRoutes) {
    if (request.path != route.path && !(one_model && route.path == "/v1/models")) continue;
    if (options_.cors.on() && request.method == "OPTIONS")
      return exchange->respond(options_.cors.preflight(request));
    const bool head = request.method == "HEAD" && route.method == "GET";  // the server leaves its body out
    if (request.method != route.method && !head) {
      auto answer = error_response(
          {ApiError::kMethodNotAllowed, fmt::format("{} takes {} only", route.path, route.method)},
          request.id);
      answer.headers.add("allow", route.method == "GET" ? "GET, HEAD" : std::string(route.method));
      return exchange->respond(std::move(answer));
    }
    if (!route.open && !options_.keys.allow(request)) {
      auto answer = error_response(
          {ApiError::kUnauthorized, "no valid API key; send it as 'Authorization: Bearer KEY'"}, request.id);
      answer.headers.add("www-authenticate", "Bearer");
      return exchange->respond(std::move(answer));
    }
    return route.run(*this, std::move(exchange));
  }
  exchange->respond(error_response(
      {ApiError::kNotFound, "no such route; speech is made by POST /invocations"}, request.id));
}

}  // namespace headroom::serve
