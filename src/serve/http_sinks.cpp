// Answers over one exchange.
#include "serve/http_sinks.hpp"

#include <fmt/format.h>

#include "serve/speech_json.hpp"

namespace headroom::serve {
namespace {

class HttpSinkImpl final : public HttpSink {
 public:
  explicit HttpSinkImpl(std::shared_ptr<net::Exchange> exchange) : exchange_(std::move(exchange)) {}

  void set_form(HttpForm form) override { form_ = form; }
  const std::string& request_id() const override { return exchange_->request().id; }

  void begin(const SpeechStart& start) override {
    begun_ = true;
    net::Headers headers{{"x-sample-rate", std::to_string(start.sample_rate)}};
    if (form_ == HttpForm::kBytes) {
      headers.add("content-type", std::string(start.content_type));
    } else {
      headers.add("content-type", "text/event-stream");
      headers.add("cache-control", "no-cache");
    }
    exchange_->begin(200, std::move(headers));
    if (form_ == HttpForm::kEvents) event("synthesis_start", start_json(start, request_id()));
  }

  void audio(std::string bytes) override {
    if (form_ == HttpForm::kBytes) return exchange_->write(std::move(bytes));
    if (bytes.empty()) return;
    if (form_ == HttpForm::kEvents) return event("audio", fmt::format(R"({{"audio":"{}"}})", base64(bytes)));
    exchange_->write(
        fmt::format("data: {{\"type\":\"speech.audio.delta\",\"audio\":\"{}\"}}\n\n", base64(bytes)));
  }

  void complete(const SpeechSummary& summary) override {
    if (form_ == HttpForm::kEvents) event("synthesis_complete", complete_json(summary, request_id()));
    if (form_ == HttpForm::kOpenAiEvents) {  // there are no tokens to bill: characters stand for them
      exchange_->write(
          fmt::format("data: {{\"type\":\"speech.audio.done\",\"usage\":{{\"input_tokens\":{0},"
                      "\"output_tokens\":0,\"total_tokens\":{0}}}}}\n\n",
                      summary.characters));
    }
    exchange_->finish();
  }

  void whole(const SpeechStart& start, std::string bytes, const SpeechSummary& summary) override {
    net::Response response;
    response.headers.add("content-type", std::string(start.content_type));
    response.headers.add("x-sample-rate", std::to_string(start.sample_rate));
    response.headers.add("x-audio-duration", fmt::format("{:.3f}", summary.audio_s));
    response.headers.add("server-timing",
                         fmt::format("queue;dur={:.1f}, synthesis;dur={:.1f}, total;dur={:.1f}",
                                     summary.queue_ms, summary.synthesis_ms, summary.total_ms));
    response.body = std::move(bytes);
    exchange_->respond(std::move(response));
  }

  void fail(const ApiFailure& failure) override {
    if (!begun_) return exchange_->respond(error_response(failure, request_id()));
    if (form_ == HttpForm::kEvents) event("error", error_json(failure, request_id()));
    exchange_->abort();
  }

  void on_gone(std::function<void()> callback) override { exchange_->on_gone(std::move(callback)); }
  void on_drained(std::size_t limit, std::function<void()> callback) override {
    exchange_->on_drained(limit, std::move(callback));
  }

 private:
  void event(std::string_view name, const std::string& data) {
    exchange_->write(fmt::format("event: {}\ndata: {}\n\n", name, data));
  }

  const std::shared_ptr<net::Exchange> exchange_;
  HttpForm form_ = HttpForm::kBytes;
  bool begun_ = false;
};

}  // namespace

std::shared_ptr<HttpSink> make_http_sink(std::shared_ptr<net::Exchange> exchange) {
  return std::make_shared<HttpSinkImpl>(std::move(exchange));
}

}  // namespace headroom::serve
