// The Transport that talks to AWS: protocol headers, signing, retries.
#include "aws/transport.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include <aws/auth/auth.h>
#include <aws/http/http.h>
#include <aws/io/io.h>

#include "aws/api_error.hpp"
#include "aws/exchange.hpp"

namespace headroom::aws {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kLargestAnswer = 64 * 1024 * 1024;

struct WireRow {
  Service service;
  const char* signing_name;
  const char* target_prefix;  // of X-Amz-Target; nullptr = query protocol
  const char* content_type;
};

constexpr std::array<WireRow, kServiceCount> kWire{{
    {Service::kSageMaker, "sagemaker", "SageMaker.", "application/x-amz-json-1.1"},
    {Service::kSageMakerRuntime, "sagemaker", "", "application/json"},  // not through here: invoke.hpp
    {Service::kAutoScaling, "application-autoscaling", "AnyScaleFrontendService.",
     "application/x-amz-json-1.1"},
    {Service::kCloudWatch, "monitoring", "GraniteServiceVersion20100801.", "application/x-amz-json-1.0"},
    {Service::kLogs, "logs", "Logs_20140328.", "application/x-amz-json-1.1"},
    {Service::kQuotas, "servicequotas", "ServiceQuotasV20190624.", "application/x-amz-json-1.1"},
    {Service::kSts, "sts", nullptr, "application/x-www-form-urlencoded; charset=utf-8"},
    {Service::kSageMakerRuntimeHttp2, "sagemaker", "", "application/vnd.amazon.eventstream"},  // nor this
}};
static_assert([] {
  for (std::size_t i = 0; i < kWire.size(); ++i) {
    if (kWire[i].service != static_cast<Service>(i)) return false;
  }
  return true;
}());

struct Answer {
  int status = 0;
  std::map<std::string, std::string> headers;  // lower case
  std::string body;
  ExchangeEnd end = ExchangeEnd::kFailed;
  int error = 0;
  bool connected = false;
};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string trust_hint(const EndpointUrl& endpoint) {
  return endpoint.tls ? " (a certificate that is not trusted needs its authority's file in AWS_CA_BUNDLE)"
                      : "";
}

class AwsTransport final : public Transport {
 public:
  AwsTransport(Runtime& runtime, Settings settings, std::shared_ptr<Credentials> credentials,
               base::Clock& clock, TransportOptions options)
      : runtime_(runtime),
        settings_(std::move(settings)),
        credentials_(std::move(credentials)),
        clock_(clock),
        options_(options),
        random_(std::random_device{}()) {}

  base::Result<std::string> send(const ApiRequest& request) override {
    auto pool = pool_for(request.service, request.deadline);
    if (!pool) return tl::unexpected(pool.error());
    base::Error last{ErrorCode::kTimeout,
                     request.operation + " of '" + request.resource + "': no time was left", ""};
    for (int attempt = 0; attempt < options_.attempts; ++attempt) {
      if (attempt > 0 && !wait_before(attempt, request.deadline)) break;
      if (request.deadline.passed(clock_)) break;
      const Answer answer = exchange(**pool, request);
      if (answer.end == ExchangeEnd::kComplete && answer.status >= 200 && answer.status < 300)
        return answer.body;
      bool again = false;
      last = judge(answer, request, (*pool)->endpoint(), again);
      if (!again) break;
    }
    return tl::unexpected(last);
  }

 private:
  base::Result<Pool*> pool_for(Service service, base::Deadline deadline) {
    const auto index = static_cast<std::size_t>(service);
    {
      std::lock_guard lock(mutex_);
      if (pools_[index]) return pools_[index].get();
    }
    const EndpointUrl& endpoint = settings_.endpoint(service);
    if (auto allowed = credentials_->allowed_to(endpoint, deadline); !allowed)
      return tl::unexpected(allowed.error());
    auto made = Pool::make(runtime_, endpoint, {});
    if (!made) return tl::unexpected(made.error());
    std::lock_guard lock(mutex_);
    if (!pools_[index]) pools_[index] = std::move(*made);
    return pools_[index].get();
  }

  Answer exchange(Pool& pool, const ApiRequest& request) {
    const WireRow& wire = kWire[static_cast<std::size_t>(request.service)];
    ExchangeRequest out;
    out.headers = {{"Content-Type", wire.content_type}, {"User-Agent", "headroom/" HEADROOM_VERSION}};
    if (wire.target_prefix != nullptr)
      out.headers.emplace_back("X-Amz-Target", wire.target_prefix + request.operation);
    if (request.service == Service::kCloudWatch) out.headers.emplace_back("x-amzn-query-mode", "true");
    out.body = request.body;
    out.signing_service = wire.signing_name;
    out.signing_region = settings_.region;
    out.provider = credentials_->handle().provider;
    out.give_up = std::min(request.deadline.at, clock_.steady() + options_.attempt_timeout);

    struct Waiting {
      std::mutex mutex;
      std::condition_variable ended;
      bool done = false;
      Answer answer;
    };
    auto waiting = std::make_shared<Waiting>();
    ExchangeEvents events;
    events.on_connected = [waiting] { waiting->answer.connected = true; };
    events.on_header = [waiting](std::string_view name, std::string_view value) {
      waiting->answer.headers[lower(name)] = value;
    };
    events.on_head = [waiting](int status) { waiting->answer.status = status; };
    events.on_body = [waiting](std::string_view bytes) -> int {
      if (waiting->answer.body.size() + bytes.size() > kLargestAnswer) return AWS_ERROR_INVALID_BUFFER_SIZE;
      waiting->answer.body += bytes;
      return 0;
    };
    events.on_end = [waiting](ExchangeEnd end, int error) {
      std::lock_guard lock(waiting->mutex);
      waiting->answer.end = end;
      waiting->answer.error = error;
      waiting->done = true;
      waiting->ended.notify_all();
    };
    auto exchange = Exchange::make(runtime_, pool, std::move(out), std::move(events));
    exchange->start();
    std::unique_lock lock(waiting->mutex);
    waiting->ended.wait(lock, [&] { return waiting->done; });  // the exchange's own timer bounds it
    return std::move(waiting->answer);
  }

  base::Error judge(const Answer& answer, const ApiRequest& request, const EndpointUrl& endpoint,
                    bool& again) {
    const std::string what =
        request.operation + (request.resource.empty() ? "" : " of '" + request.resource + "'") + ": ";
    if (answer.end == ExchangeEnd::kTimedOut) {
      again = request.repeatable;
      if (answer.connected)
        return {ErrorCode::kTimeout, what + "no answer from " + endpoint.url() + " in time", ""};
      // A failed TLS handshake is reported 10 to 30 s late on purpose (s2n), so it often ends here.
      return {ErrorCode::kTimeout,
              what + "no connection to " + endpoint.url() + " in time" + trust_hint(endpoint), ""};
    }
    if (answer.end != ExchangeEnd::kComplete) {
      const int error = answer.error;
      if (error >= AWS_AUTH_SIGNING_UNSUPPORTED_ALGORITHM &&
          error <= static_cast<int>(AWS_AUTH_ERROR_END_RANGE)) {
        return {
            ErrorCode::kUnauthenticated,
            what +
                "no AWS credentials could be had; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or name a "
                "--profile",
            std::string(kNoCredentials) + ": " + crt_error_text(error)};
      }
      // A connection that was never made has done nothing: always safe to try again.
      const bool refused = error == AWS_IO_SOCKET_CONNECTION_REFUSED || error == AWS_IO_SOCKET_TIMEOUT;
      again = (request.repeatable || refused) && !aws_error_code_is_tls(error);
      return {ErrorCode::kUnavailable,
              what + "cannot reach " + endpoint.url() + "; is it running, and is the URL right?" +
                  (aws_error_code_is_tls(error) ? trust_hint(endpoint) : ""),
              crt_error_text(error)};
    }
    const ApiError error = parse_api_error(
        answer.status,
        [&](std::string_view name) -> std::optional<std::string> {
          const auto found = answer.headers.find(std::string(name));
          if (found == answer.headers.end()) return std::nullopt;
          return found->second;
        },
        answer.body);
    again = error.throttled || (error.transient && request.repeatable);
    return to_error(answer.status, error, request.operation, request.resource);
  }

  // Exponential, full jitter: a random part of the doubled pause. False: the deadline leaves no time for it.
  bool wait_before(int attempt, base::Deadline deadline) {
    const base::Duration most =
        std::min(options_.backoff * (1 << std::min(attempt - 1, 16)), options_.backoff_cap);
    double part = 0;
    {
      std::lock_guard lock(mutex_);
      part = std::uniform_real_distribution<>(0.0, 1.0)(random_);
    }
    const base::Duration pause = base::from_s(base::to_s(most) * part);
    if (clock_.steady() + pause >= deadline.at) return false;
    std::this_thread::sleep_for(pause);
    return true;
  }

  Runtime& runtime_;
  const Settings settings_;
  std::shared_ptr<Credentials> credentials_;
  base::Clock& clock_;
  const TransportOptions options_;
  std::mutex mutex_;
  std::mt19937_64 random_;
  std::array<std::unique_ptr<Pool>, kServiceCount> pools_;
};

}  // namespace

std::unique_ptr<Transport> make_transport(Runtime& runtime, Settings settings,
                                          std::shared_ptr<Credentials> credentials, base::Clock& clock,
                                          TransportOptions options) {
  return std::make_unique<AwsTransport>(runtime, std::move(settings), std::move(credentials), clock, options);
}

}  // namespace headroom::aws
