// Streams of one endpoint on shared HTTP/2 connections.
#include "aws/bidi_invoker.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <unordered_map>

#include <aws/http/http2_stream_manager.h>
#include <aws/http/request_response.h>
#include <aws/io/socket.h>

#include "aws/bidi_call.hpp"

namespace headroom::aws {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kStreamsPerConnection = 64;

// Requests that only open connections: what is left of them lives until the last has ended. Who waits in
// slices waits for the same ones again.
struct Warming {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t sent = 0, ended = 0;
  int error = 0;  // of the first that got no connection

  void one_ended(int why) {
    std::lock_guard lock(mutex);
    ++ended;
    if (error == 0) error = why;
    changed.notify_all();
  }
};
using WarmRequest = std::unique_ptr<std::shared_ptr<Warming>>;  // what each of its callbacks gets

void on_warm_stream(aws_http_stream* stream, int error, void* request) {
  if (stream != nullptr) return aws_http_stream_release(stream);  // on_warm_end follows
  (*WarmRequest(static_cast<std::shared_ptr<Warming>*>(request)))->one_ended(error);
}

void on_warm_end(aws_http_stream*, int, void* request) {  // answered or refused: the connection stood
  (*WarmRequest(static_cast<std::shared_ptr<Warming>*>(request)))->one_ended(0);
}

class BidiInvoker final : public Invoker, public std::enable_shared_from_this<BidiInvoker> {
 public:
  BidiInvoker(Runtime::Impl& runtime, EndpointUrl url, std::string region,
              std::shared_ptr<Credentials> credentials, InvokerOptions options)
      : runtime_(runtime),
        url_(std::move(url)),
        region_(std::move(region)),
        credentials_(std::move(credentials)),
        options_(std::move(options)) {}

  base::Result<void> open() {
    aws_tls_ctx* const context = runtime_.tls();
    if (context == nullptr) {
      return fail(ErrorCode::kInvalidArgument,
                  "the TLS trust store cannot be read; check AWS_CA_BUNDLE and SSL_CERT_FILE",
                  crt_error_text(aws_last_error()));
    }
    aws_socket_options socket{};
    socket.type = AWS_SOCKET_STREAM;
    socket.domain = url_.host.find(':') == std::string::npos ? AWS_SOCKET_IPV4 : AWS_SOCKET_IPV6;
    socket.connect_timeout_ms = static_cast<std::uint32_t>(base::to_ms(options_.connect_timeout));
    socket.tcp_nodelay = AWS_SOCKET_TCP_NODELAY_ON;
    aws_tls_connection_options tls{};
    aws_tls_connection_options_init_from_ctx(&tls, context);
    const aws_byte_cursor name = cursor(url_.host);
    aws_tls_connection_options_set_server_name(&tls, runtime_.allocator, &name);
    aws_tls_connection_options_set_alpn_list(&tls, runtime_.allocator, "h2");
    aws_http2_stream_manager_options options{};
    options.bootstrap = runtime_.bootstrap;
    options.socket_options = &socket;
    options.tls_connection_options = &tls;
    options.host = cursor(url_.host);
    options.port = url_.port;
    options.ideal_concurrent_streams_per_connection = kStreamsPerConnection;
    options.max_connections = options_.connections / kStreamsPerConnection + 2;
    options.shutdown_complete_user_data = closed_.get();
    options.shutdown_complete_callback = [](void* closed) {
      static_cast<std::promise<void>*>(closed)->set_value();
    };
    manager_ = aws_http2_stream_manager_new(runtime_.allocator, &options);
    aws_tls_connection_options_clean_up(&tls);
    if (manager_ != nullptr) return {};
    return fail(ErrorCode::kInternal, "no connections to " + url_.url() + " can be prepared",
                crt_error_text(aws_last_error()));
  }

  // Waits a bounded time for streams and connections to end.
  void close() {
    {
      std::unique_lock lock(mutex_);
      none_left_.wait_for(lock, options_.close_patience, [this] { return running_.empty(); });
    }
    if (manager_ == nullptr) return;
    auto closed = closed_->get_future();
    aws_http2_stream_manager_release(manager_);
    manager_ = nullptr;
    if (closed.wait_for(options_.close_patience) == std::future_status::timeout)
      runtime_.abandon(shared_from_this(), "the connections to " + url_.url() + " did not close in time");
  }

  std::uint64_t start(InvokeRequest request, InvokeEvents events) override {
    BidiRequest out;
    out.path = url_.path + "/endpoints/" + options_.endpoint + "/invocations-bidirectional-stream";
    out.authority = url_.host_header();
    out.target_variant = options_.target_variant;
    out.body = std::move(request.body);
    out.scope.region = region_;
    out.provider = credentials_->handle().provider;
    const std::uint64_t id = next_++;
    auto call = std::make_shared<BidiCall>(runtime_, manager_, std::move(out), std::move(events),
                                           [weak = weak_from_this(), id] {
                                             if (const auto self = weak.lock()) self->ended(id);
                                           });
    {
      std::lock_guard lock(mutex_);
      running_.emplace(id, call);
    }
    schedule_on_loop(runtime_, std::chrono::steady_clock::now() + request.timeout,
                     [weak = std::weak_ptr<BidiCall>(call)] {
                       if (const auto still = weak.lock()) still->stop(true);
                     });
    call->start();
    return id;
  }

  void cancel(std::uint64_t id) override {
    std::shared_ptr<BidiCall> call;
    {
      std::lock_guard lock(mutex_);
      const auto found = running_.find(id);
      if (found == running_.end()) return;
      call = found->second;
    }
    schedule_on_loop(runtime_, std::nullopt, [call] { call->stop(false); });
  }

  // The manager opens connections only for streams. So as many streams as will be wanted are asked for at
  // once, each with a request that the service refuses and that invokes nothing: no endpoint, no signature.
  base::Result<void> warm(std::size_t count, base::Deadline deadline) override {
    count = std::min(count, options_.connections);
    const std::shared_ptr<Warming> warming = pending_warming();
    send_warm_requests(warming, count);
    std::unique_lock lock(warming->mutex);
    const bool in_time =
        warming->changed.wait_until(lock, deadline.at, [&] { return warming->ended >= count; });
    const int error = warming->error;
    lock.unlock();
    if (in_time || error != 0) forget(warming);
    if (error != 0) {
      return fail(ErrorCode::kUnavailable,
                  "cannot connect to " + url_.url() + "; is it running, and is the URL right?",
                  crt_error_text(error));
    }
    if (!in_time) {
      return fail(ErrorCode::kTimeout,
                  "not all connections to " + url_.url() + " stood in time; lower the load or wait");
    }
    return {};
  }
  void post(std::function<void()> work) override {
    schedule_on_loop(runtime_, std::nullopt, std::move(work));
  }
  void at(base::SteadyTime when, std::function<void()> work) override {
    schedule_on_loop(runtime_, when, std::move(work));
  }
  bool here() const override {
    return aws_event_loop_thread_is_callers_thread(aws_event_loop_group_get_loop_at(runtime_.loops, 0));
  }

 private:
  std::shared_ptr<Warming> pending_warming() {
    std::lock_guard lock(mutex_);
    if (!warming_) warming_ = std::make_shared<Warming>();
    return warming_;
  }

  void forget(const std::shared_ptr<Warming>& warming) {
    std::lock_guard lock(mutex_);
    if (warming_ == warming) warming_.reset();
  }

  // Those that are not under way yet, up to `count`.
  void send_warm_requests(const std::shared_ptr<Warming>& warming, std::size_t count) {
    std::size_t missing = 0;
    {
      std::lock_guard lock(warming->mutex);
      missing = count - std::min(warming->sent, count);
      warming->sent += missing;
    }
    if (missing == 0) return;
    const std::string host = url_.host_header();
    aws_http_message* const message = aws_http_message_new_request(runtime_.allocator);
    aws_http_message_set_request_method(message, cursor("GET"));
    aws_http_message_set_request_path(message, cursor("/ping"));
    aws_http_header header{};
    header.name = cursor("Host");
    header.value = cursor(host);
    aws_http_message_add_header(message, header);
    for (std::size_t i = 0; i < missing; ++i) {
      auto* const mine = new std::shared_ptr<Warming>(warming);
      aws_http_make_request_options options{};
      options.self_size = sizeof options;
      options.request = message;
      options.user_data = mine;
      options.on_complete = on_warm_end;
      const aws_http2_stream_manager_acquire_stream_options wanted{
          .callback = on_warm_stream, .user_data = mine, .options = &options};
      aws_http2_stream_manager_acquire_stream(manager_, &wanted);
    }
    aws_http_message_release(message);
  }

  void ended(std::uint64_t id) {
    std::shared_ptr<BidiCall> last;  // destroyed after the lock is gone
    std::lock_guard lock(mutex_);
    const auto found = running_.find(id);
    if (found == running_.end()) return;
    last = std::move(found->second);
    running_.erase(found);
    if (running_.empty()) none_left_.notify_all();
  }

  Runtime::Impl& runtime_;
  const EndpointUrl url_;
  const std::string region_;
  std::shared_ptr<Credentials> credentials_;
  const InvokerOptions options_;
  aws_http2_stream_manager* manager_ = nullptr;
  std::shared_ptr<std::promise<void>> closed_ = std::make_shared<std::promise<void>>();
  std::atomic<std::uint64_t> next_{1};
  std::mutex mutex_;
  std::condition_variable none_left_;
  std::unordered_map<std::uint64_t, std::shared_ptr<BidiCall>> running_;
  std::shared_ptr<Warming> warming_;  // not all of it has ended
};

// The callers' handle: the invoker itself may have to outlive it.
class BidiHandle final : public Invoker {
 public:
  explicit BidiHandle(std::shared_ptr<BidiInvoker> invoker) : invoker_(std::move(invoker)) {}
  ~BidiHandle() override { invoker_->close(); }
  std::uint64_t start(InvokeRequest request, InvokeEvents events) override {
    return invoker_->start(std::move(request), std::move(events));
  }
  void cancel(std::uint64_t id) override { invoker_->cancel(id); }
  base::Result<void> warm(std::size_t count, base::Deadline deadline) override {
    return invoker_->warm(count, deadline);
  }
  void post(std::function<void()> work) override { invoker_->post(std::move(work)); }
  void at(base::SteadyTime when, std::function<void()> work) override { invoker_->at(when, std::move(work)); }
  bool here() const override { return invoker_->here(); }

 private:
  std::shared_ptr<BidiInvoker> invoker_;
};

}  // namespace

// A general redirect over plain http (--endpoint-url, too) cannot carry HTTP/2 over TLS: then the service's
// own variable counts, else the port beside it, where tts-local has this service. The host stays: another
// address of this machine may belong to another tts-local.
EndpointUrl bidi_endpoint(const Settings& settings, const Environment& environment) {
  EndpointUrl url = settings.endpoint(Service::kSageMakerRuntimeHttp2);
  if (url.redirected && !url.tls && url.loopback()) {
    if (const auto own = environment("AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME_HTTP2")) {
      if (auto parsed = parse_endpoint_url(*own)) return *parsed;
    }
    url.tls = true;
    ++url.port;
  }
  return url;
}

base::Result<std::unique_ptr<Invoker>> make_bidi_invoker(Runtime& runtime, const Settings& settings,
                                                         std::shared_ptr<Credentials> credentials,
                                                         InvokerOptions options) {
  const EndpointUrl url = bidi_endpoint(settings, process_environment());
  if (!url.tls) {
    return fail(ErrorCode::kInvalidArgument, "the bidirectional stream needs https, and it would go to " +
                                                 url.url() +
                                                 "; set AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME_HTTP2");
  }
  const auto patience = base::Deadline::after(base::SystemClock::instance(), std::chrono::seconds{30});
  if (auto key = credentials->access_key_id(patience); !key) return tl::unexpected(key.error());
  const std::size_t connections = options.connections / kStreamsPerConnection + 2;
  if (auto fits = base::check_limits(options.limits.value_or(base::read_limits()), connections); !fits)
    return tl::unexpected(fits.error());
  auto made = std::make_shared<BidiInvoker>(runtime.impl(), url, settings.region, std::move(credentials),
                                            std::move(options));
  if (auto opened = made->open(); !opened) return tl::unexpected(opened.error());
  return std::make_unique<BidiHandle>(std::move(made));
}

}  // namespace headroom::aws
