// Service: the routes of one speech instance and its life: starting, ready, draining (SPEC 1.1, 1.3).
//
// It does not load models or listen: the program gives it an engine once there is one. Thread safe; it must
// be held by no shared pointer that outlives the loop.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "engine/engine.hpp"
#include "net/loop.hpp"
#include "net/server.hpp"
#include "serve/access.hpp"
#include "serve/admission.hpp"
#include "serve/emf.hpp"
#include "serve/http_sinks.hpp"
#include "serve/metrics.hpp"
#include "serve/scheduler.hpp"
#include "serve/speech_job.hpp"
#include "serve/speech_session.hpp"

namespace headroom::serve {

struct ServiceOptions {
  std::size_t max_queue_depth = 0;  // 0: no limit
  std::size_t max_characters = 10'000;
  std::size_t max_answer_bytes = std::size_t{64} << 20;  // not streamed
  base::Duration slo = std::chrono::seconds(3);
  base::Duration max_age = std::chrono::seconds(56);
  Order order = Order::kEarliestDeadline;
  bool log_text = false;
  ApiKeys keys;
  Cors cors;
  std::chrono::milliseconds session_idle_limit{300'000};
  std::shared_ptr<const net::UnsentAnswers> unsent_answers;  // the server's, for the metrics; null: not told
};

class Service {
 public:
  // `loop` runs the HTTP server and delays; both outlive the service.
  Service(net::Loop& loop, const base::Clock& clock, const ServiceOptions& options);
  ~Service();

  void handle(std::shared_ptr<net::Exchange> exchange);
  // The engine has spoken its warm-up sentence: /ping turns 200.
  void become_ready(std::unique_ptr<engine::Engine> engine, Planner planner,
                    const std::map<std::string, double>& stages);
  // /ping turns 503 and new work is refused; returns whether all work ended in time.
  bool drain(base::Duration limit);
  // Prints the load to stdout every 10 s (SPEC 1.3) from now on; `fast` times as often where the cloud's
  // time runs so much faster.
  void start_emf(const EmfDimensions& dimensions, double fast = 1);

 private:
  enum class State { kStarting, kReady, kDraining };
  struct Running;
  void ping(net::Exchange& exchange) const;
  void metrics(net::Exchange& exchange);
  using Parse = ParsedRequest (*)(std::string_view body, std::string_view content_type,
                                  const RequestLimits& limits, const std::vector<std::string>& voices);
  void invoke(std::shared_ptr<net::Exchange> exchange, std::string route, Parse parse, HttpForm events);
  void open_session(std::shared_ptr<net::Exchange> exchange);
  void voices(net::Exchange& exchange) const;
  void models(net::Exchange& exchange) const;
  std::optional<ApiFailure> barred() const;  // why no request is taken now
  void print_emf(const EmfDimensions& dimensions, double fast, base::SteadyTime due);

  net::Loop& loop_;
  const base::Clock& clock_;
  const ServiceOptions options_;
  Admission admission_;
  std::atomic<State> state_{State::kStarting};
  std::atomic<std::uint64_t> next_number_{0};
  std::unique_ptr<Running> running_;  // set once, before state_ becomes kReady
  base::Guarded<std::vector<std::weak_ptr<SpeechSession>>> sessions_;
};

}  // namespace headroom::serve
