// Routing and the life of the instance.
#include "serve/service.hpp"

#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace headroom::serve {
namespace {

net::Response json_response(int status, const nlohmann::json& body) {
  return {status, {{"content-type", "application/json"}}, body.dump()};
}

}  // namespace

// What exists only once the engine is there. Destroyed in reverse order: workers stop before the engine goes.
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
                {service.options_.max_characters},
                service.options_.slo,
                service.options_.max_age} {}
  std::unique_ptr<engine::Engine> engine;
  Metrics metrics;
  Scheduler scheduler;
  JobContext context;
  net::Loop text_loop{1};  // parsing and phonemes, off the I/O thread
};

Service::Service(net::Loop& loop, const base::Clock& clock, const ServiceOptions& options)
    : loop_(loop), clock_(clock), options_(options), admission_(options.max_queue_depth) {}

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
  return admission_.wait_idle(clock_.steady() + limit);
}

void Service::ping(net::Exchange& exchange) const {
  switch (state_.load()) {
    case State::kReady:
      return exchange.respond(json_response(200, {{"status", "ready"}}));
    case State::kStarting:
      return exchange.respond(
          error_response({ApiError::kStarting, "the model is still loading"}, exchange.request().id));
    case State::kDraining:
      return exchange.respond(
          error_response({ApiError::kDraining, "the instance is shutting down"}, exchange.request().id));
  }
}

void Service::metrics(net::Exchange& exchange) {
  if (state_ == State::kStarting) return ping(exchange);
  const std::string text =
      running_ ? running_->metrics.text(admission_.outstanding(), running_->scheduler.queued(),
                                        running_->scheduler.running())
               : std::string{};
  exchange.respond({200, {{"content-type", "text/plain; version=0.0.4"}}, text});
}

void Service::invoke(std::shared_ptr<net::Exchange> exchange, std::string route) {
  if (state_ != State::kReady) return ping(*exchange);
  Running& running = *running_;
  running.metrics.offered(route);
  auto ticket = admission_.enter();
  if (!ticket) {
    running.metrics.rejected(api_error_row(ApiError::kQueueSaturated).code);
    running.metrics.outcome(route, "rejected");
    return exchange->respond(
        error_response({ApiError::kQueueSaturated,
                        fmt::format("{} requests are outstanding, the limit of this instance; retry later",
                                    admission_.limit())},
                       exchange->request().id));
  }
  auto job = std::make_shared<SpeechJob>(running.context, std::move(exchange), std::move(ticket),
                                         std::move(route), next_number_++);
  job->watch_client();
  running.text_loop.post([job] { job->prepare(); });
}

void Service::handle(std::shared_ptr<net::Exchange> exchange) {
  struct Route {
    std::string_view path;
    std::string_view method;
    void (*run)(Service&, std::shared_ptr<net::Exchange>);
  };
  static constexpr std::array kRoutes{
      Route{"/ping", "GET", [](Service& s, std::shared_ptr<net::Exchange> e) { s.ping(*e); }},
      Route{"/health", "GET", [](Service& s, std::shared_ptr<net::Exchange> e) { s.ping(*e); }},
      Route{"/metrics", "GET", [](Service& s, std::shared_ptr<net::Exchange> e) { s.metrics(*e); }},
      Route{"/invocations", "POST",
            [](Service& s, std::shared_ptr<net::Exchange> e) { s.invoke(std::move(e), "/invocations"); }},
  };
  const net::Request& request = exchange->request();
  for (const Route& route : kRoutes) {
    if (request.path != route.path) continue;
    if (request.method == route.method) return route.run(*this, std::move(exchange));
    auto answer = error_response(
        {ApiError::kMethodNotAllowed, fmt::format("{} takes {} only", route.path, route.method)}, request.id);
    answer.headers.add("allow", std::string(route.method));
    return exchange->respond(std::move(answer));
  }
  exchange->respond(error_response(
      {ApiError::kNotFound, "no such route; speech is made by POST /invocations"}, request.id));
}

}  // namespace headroom::serve
