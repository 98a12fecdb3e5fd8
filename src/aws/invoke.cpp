// The Invoker on the Common Runtime: one Exchange a request, event frames decoded on the way.
#include "aws/invoke.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <unordered_map>

#include "aws/bidi_invoker.hpp"
#include "aws/event_decoder.hpp"
#include "aws/exchange.hpp"
#include "aws/invoke_outcome.hpp"

namespace headroom::aws {
namespace {

using base::ErrorCode;
using base::fail;
using base::SteadyTime;

constexpr std::size_t kLargestErrorBody = 64 * 1024;
constexpr std::size_t kOwnDescriptors = 64;    // loops, logs, control plane, files
constexpr std::size_t kSpareConnections = 16;  // so that a connection still closing keeps nobody waiting
constexpr std::size_t kWarmBatch = 32;         // connects at once: a listener's backlog is short

SteadyTime now() { return std::chrono::steady_clock::now(); }

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// What one request gathers while its answer comes in. Only its loop thread touches it after start().
struct Call {
  explicit Call(InvokeEvents given)
      : events(std::move(given)), decoder([this](std::string_view bytes) { data(bytes); }) {}

  void data(std::string_view bytes) {
    got_bytes = true;
    if (events.on_data) events.on_data(arrived, bytes);
  }

  InvokeEvents events;
  EventDecoder decoder;
  AnswerFacts facts;
  SteadyTime arrived{};  // of the body piece being read
  bool decode = false;
  bool got_bytes = false;
};

class CrtInvoker {
 public:
  CrtInvoker(Runtime& runtime, const Settings& settings, std::shared_ptr<Credentials> credentials,
             InvokerOptions options, std::unique_ptr<Pool> pool)
      : runtime_(runtime),
        region_(settings.region),
        credentials_(std::move(credentials)),
        options_(std::move(options)),
        pool_(std::move(pool)) {}

  bool wait_until_idle() {
    std::unique_lock lock(mutex_);
    return none_left_.wait_for(lock, options_.close_patience, [this] { return running_.empty(); });
  }
  Runtime::Impl& runtime() { return runtime_.impl(); }

  std::uint64_t start(InvokeRequest request, InvokeEvents events) {
    auto call = std::make_shared<Call>(std::move(events));
    ExchangeRequest out = make_request(request);
    std::uint64_t id = 0;
    {
      std::lock_guard lock(mutex_);
      id = next_++;
    }
    auto exchange = Exchange::make(runtime_, *pool_, std::move(out), make_events(call, id));
    {
      std::lock_guard lock(mutex_);
      running_.emplace(id, exchange);
    }
    exchange->start();
    return id;
  }

  void cancel(std::uint64_t id) {
    std::shared_ptr<Exchange> exchange;
    {
      std::lock_guard lock(mutex_);
      const auto found = running_.find(id);
      if (found == running_.end()) return;
      exchange = found->second;
    }
    exchange->cancel();
  }

  base::Result<void> warm(std::size_t count, base::Deadline deadline);

 private:
  ExchangeRequest make_request(const InvokeRequest& request) const {
    ExchangeRequest out;
    out.body = request.body;
    out.headers.emplace_back("Content-Type", request.content_type);
    out.headers.emplace_back("User-Agent", "headroom/" HEADROOM_VERSION);
    out.give_up = now() + request.timeout;
    if (options_.transport == InvokeTransport::kHttp) {
      out.path = pool_->endpoint().path.empty() ? "/" : "";
      if (!request.accept.empty()) out.headers.emplace_back("Accept", request.accept);
      return out;
    }
    const bool stream = options_.transport == InvokeTransport::kResponseStream;
    out.path = "/endpoints/" + options_.endpoint + (stream ? "/invocations-response-stream" : "/invocations");
    if (!request.accept.empty())
      out.headers.emplace_back(stream ? "X-Amzn-SageMaker-Accept" : "Accept", request.accept);
    if (!options_.target_variant.empty()) {
      out.headers.emplace_back("X-Amzn-SageMaker-Target-Variant", options_.target_variant);
    }
    out.signing_service = "sagemaker";
    out.signing_region = region_;
    out.provider = credentials_->handle().provider;
    return out;
  }

  ExchangeEvents make_events(const std::shared_ptr<Call>& call, std::uint64_t id) {
    ExchangeEvents events;
    events.on_connected = [call] {
      if (call->events.on_connected) call->events.on_connected(now());
    };
    events.on_header = [call](std::string_view name, std::string_view value) {
      call->facts.headers.emplace_back(lower(name), value);
    };
    const bool stream = options_.transport == InvokeTransport::kResponseStream;
    events.on_head = [call, stream](int status) {
      call->facts.status = status;
      call->decode = stream && status == 200 &&
                     call->facts.header("content-type").starts_with("application/vnd.amazon.eventstream");
    };
    events.on_body = [call, stream](std::string_view bytes) -> int {
      call->arrived = now();
      if (call->decode) return call->decoder.feed(bytes);
      if (call->facts.status >= 200 && call->facts.status < 300 && !stream) {
        call->data(bytes);
        return 0;
      }
      if (call->facts.body.size() < kLargestErrorBody) {
        call->facts.body += bytes.substr(0, kLargestErrorBody - call->facts.body.size());
      }
      return 0;
    };
    events.on_end = [this, call, id, stream](ExchangeEnd end, int error) {
      const SteadyTime at = now();
      call->facts.event_stream = stream;
      call->facts.decoded = call->decode;
      call->facts.truncated = call->decode && call->decoder.inside_frame();
      call->facts.got_bytes = call->got_bytes;
      if (const auto& failure = call->decoder.failure()) {
        call->facts.failure_type = failure->type;
        call->facts.failure_payload = failure->payload;
      }
      if (end == ExchangeEnd::kFailed) call->facts.connection_error = crt_error_text(error);
      const InvokeResult result =
          judge_answer(call->facts, end == ExchangeEnd::kTimedOut, end == ExchangeEnd::kCancelled);
      if (call->events.on_done) call->events.on_done(at, result);
      std::shared_ptr<Exchange> last;  // destroyed after the lock is gone
      std::lock_guard lock(mutex_);
      const auto found = running_.find(id);
      last = std::move(found->second);
      running_.erase(found);
      if (running_.empty()) none_left_.notify_all();
    };
    return events;
  }

  Runtime& runtime_;
  const std::string region_;
  std::shared_ptr<Credentials> credentials_;
  const InvokerOptions options_;
  std::unique_ptr<Pool> pool_;
  std::mutex mutex_;
  std::condition_variable none_left_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Exchange>> running_;
  std::uint64_t next_ = 1;
};

// Its callbacks point to the CrtInvoker, so that is destroyed only when none can come any more.
class PatientInvoker final : public Invoker {
 public:
  explicit PatientInvoker(std::shared_ptr<CrtInvoker> invoker) : invoker_(std::move(invoker)) {}
  ~PatientInvoker() override {
    if (!invoker_->wait_until_idle()) {
      Runtime::Impl& runtime = invoker_->runtime();
      runtime.abandon(std::move(invoker_), "requests did not end although they were cancelled");
    }
  }
  std::uint64_t start(InvokeRequest request, InvokeEvents events) override {
    return invoker_->start(std::move(request), std::move(events));
  }
  void cancel(std::uint64_t id) override { invoker_->cancel(id); }
  void post(std::function<void()> work) override {
    schedule_on_loop(invoker_->runtime(), std::nullopt, std::move(work));
  }
  void at(SteadyTime when, std::function<void()> work) override {
    schedule_on_loop(invoker_->runtime(), when, std::move(work));
  }
  bool here() const override {
    return aws_event_loop_thread_is_callers_thread(
        aws_event_loop_group_get_loop_at(invoker_->runtime().loops, 0));
  }
  base::Result<void> warm(std::size_t count, base::Deadline deadline) override {
    return invoker_->warm(count, deadline);
  }

 private:
  std::shared_ptr<CrtInvoker> invoker_;
};

struct Warming {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<aws_http_connection*> connections;
  std::size_t answered = 0;
  int error = 0;
  bool abandoned = false;
  aws_http_connection_manager* manager = nullptr;
};

void on_warm_connection(aws_http_connection* connection, int error, void* user_data) {
  std::unique_ptr<std::shared_ptr<Warming>> mine(static_cast<std::shared_ptr<Warming>*>(user_data));
  Warming& warming = **mine;
  std::unique_lock lock(warming.mutex);
  ++warming.answered;
  if (connection == nullptr) {
    if (warming.error == 0) warming.error = error;
  } else if (warming.abandoned) {
    lock.unlock();
    aws_http_connection_manager_release_connection(warming.manager, connection);
    return;
  } else {
    warming.connections.push_back(connection);
  }
  warming.changed.notify_all();
}

base::Result<void> CrtInvoker::warm(std::size_t count, base::Deadline deadline) {
  count = std::min(count, options_.connections);
  auto warming = std::make_shared<Warming>();
  warming->manager = pool_->manager();
  bool in_time = true;
  for (std::size_t asked = 0; asked < count && in_time;) {
    const std::size_t until = std::min(asked + kWarmBatch, count);
    for (; asked < until; ++asked) {
      aws_http_connection_manager_acquire_connection(pool_->manager(), on_warm_connection,
                                                     new std::shared_ptr<Warming>(warming));
    }
    std::unique_lock lock(warming->mutex);
    in_time = warming->changed.wait_until(lock, deadline.at, [&] { return warming->answered >= asked; });
    if (warming->error != 0) break;
  }
  std::vector<aws_http_connection*> held;
  int error = 0;
  {
    std::lock_guard lock(warming->mutex);
    warming->abandoned = true;
    held.swap(warming->connections);
    error = warming->error;
  }
  for (aws_http_connection* connection : held) {
    aws_http_connection_manager_release_connection(pool_->manager(), connection);
  }
  const std::string url = pool_->endpoint().url();
  if (error != 0) {
    return fail(ErrorCode::kUnavailable,
                "cannot connect to " + url + "; is it running, and is the URL right?", crt_error_text(error));
  }
  if (!in_time) {
    return fail(ErrorCode::kTimeout, "only " + std::to_string(held.size()) + " of " + std::to_string(count) +
                                         " connections to " + url + " stood in time; lower the load or wait");
  }
  return {};
}

}  // namespace

std::string_view name_of(InvokeTransport transport) {
  switch (transport) {
    case InvokeTransport::kResponseStream:
      return "response-stream";
    case InvokeTransport::kBidirectional:
      return "bidirectional";
    case InvokeTransport::kBuffered:
      return "buffered";
    case InvokeTransport::kHttp:
      return "http";
  }
  return "response-stream";
}

base::Result<InvokeTransport> parse_invoke_transport(std::string_view name) {
  for (InvokeTransport t : {InvokeTransport::kResponseStream, InvokeTransport::kBidirectional,
                            InvokeTransport::kBuffered, InvokeTransport::kHttp}) {
    if (name_of(t) == name) return t;
  }
  return fail(ErrorCode::kInvalidArgument, "unknown transport '" + std::string(name) +
                                               "'; choose response-stream, bidirectional, buffered or http");
}

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
      return "ok";
    case Outcome::kRejected:
      return "rejected";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kTimedOut:
      return "timed_out";
    case Outcome::kAborted:
      return "aborted";
  }
  return "failed";
}

base::Result<std::unique_ptr<Invoker>> Invoker::make(Runtime& runtime, const Settings& settings,
                                                     std::shared_ptr<Credentials> credentials,
                                                     InvokerOptions options) {
  if (options.transport == InvokeTransport::kBidirectional && credentials)
    return make_bidi_invoker(runtime, settings, std::move(credentials), std::move(options));
  EndpointUrl endpoint = settings.endpoint(Service::kSageMakerRuntime);
  if (options.transport == InvokeTransport::kHttp) {
    auto parsed = parse_endpoint_url(options.url);
    if (!parsed) return tl::unexpected(parsed.error());
    endpoint = *parsed;
  } else {
    if (!credentials)
      return fail(ErrorCode::kInvalidArgument, "an endpoint is invoked with credentials; none were given");
    const auto patience = base::Deadline::after(base::SystemClock::instance(), std::chrono::seconds{30});
    // Also fetches the keys now, so that signing later runs at once on the caller's thread.
    if (auto key = credentials->access_key_id(patience); !key) return tl::unexpected(key.error());
    if (auto allowed = credentials->allowed_to(endpoint, patience); !allowed)
      return tl::unexpected(allowed.error());
  }
  options.connections = std::max<std::size_t>(options.connections, 1);
  if (auto fits = base::check_limits(options.limits.value_or(base::read_limits()), options.connections,
                                     kSpareConnections + kOwnDescriptors);
      !fits)
    return tl::unexpected(fits.error());
  PoolOptions pool_options;
  pool_options.connections = options.connections + kSpareConnections;
  pool_options.connect_timeout = options.connect_timeout;
  auto pool = Pool::make(runtime, endpoint, pool_options);
  if (!pool) return tl::unexpected(pool.error());
  return std::make_unique<PatientInvoker>(std::make_shared<CrtInvoker>(
      runtime, settings, std::move(credentials), std::move(options), std::move(*pool)));
}

}  // namespace headroom::aws
