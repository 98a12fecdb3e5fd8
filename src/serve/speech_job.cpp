// The steps of one request.
#include "serve/speech_job.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "audio/join.hpp"

namespace headroom::serve {
namespace {

constexpr std::size_t kBufferedLimit = 64U << 10U;  // about 1.4 s of 24 kHz PCM waiting in the socket's queue

ApiFailure to_failure(const base::Error& error) {
  if (error.context == "unspeakable_text") return {ApiError::kUnspeakableText, error.message};
  if (error.context == "unsupported_language") return {ApiError::kUnsupportedLanguage, error.message};
  if (error.context == "unsupported_sample_rate") return {ApiError::kUnsupportedSampleRate, error.message};
  if (error.context == "unsupported_format") return {ApiError::kUnsupportedFormat, error.message};
  return {ApiError::kInternal, error.message};
}

}  // namespace

SpeechJob::SpeechJob(JobContext& context, std::shared_ptr<net::Exchange> exchange,
                     std::unique_ptr<Admission::Ticket> ticket, std::string route, std::uint64_t number)
    : context_(context),
      exchange_(std::move(exchange)),
      ticket_(std::move(ticket)),
      route_(std::move(route)),
      number_(number),
      arrival_(context.clock.steady()) {}

void SpeechJob::watch_client() {
  exchange_->on_gone([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->gone_ = true;
    // A worker may be writing the figures of this job at this moment; only what never changes is read here.
    if (self->close("aborted"))
      spdlog::debug("request id={} route={} outcome=aborted", self->exchange_->request().id, self->route_);
  });
}

void SpeechJob::prepare() {
  auto parsed =
      parse_speech_request(exchange_->request().body, exchange_->request().headers.get("content-type"),
                           context_.limits, context_.voices);
  if (!parsed) return fail(parsed.error());
  request_ = std::move(*parsed);
  auto encoder = audio::Encoder::create(request_.format, request_.sample_rate, request_.stream);
  if (!encoder) return fail(encoder.error());
  encoder_ = std::move(*encoder);
  if (request_.sample_rate != context_.engine.sample_rate()) {
    auto resampler = audio::Resampler::create(context_.engine.sample_rate(), request_.sample_rate);
    if (!resampler) return fail(resampler.error());
    resampler_.emplace(std::move(*resampler));
  }
  auto plan = context_.planner(request_);
  if (!plan) return fail(plan.error());
  plan_ = std::move(*plan);
  if (plan_.dropped_symbols > 0) context_.metrics.dropped_symbols(plan_.dropped_symbols);
  ready_ = context_.clock.steady();
  plan_.segments.front().segment.ready = ready_;
  queue_next();
}

// First segment: the promise. Later ones: the moment playback would run dry. A client that waits for the
// whole answer plays nothing, so all its segments keep the deadline of the request.
base::SteadyTime SpeechJob::deadline() const {
  if (!first_audio_ || !request_.stream) return arrival_ + context_.slo;
  return *first_audio_ + base::from_s(static_cast<double>(samples_out_) / request_.sample_rate);
}

void SpeechJob::queue_next() {
  context_.scheduler.submit(deadline(), number_, [self = shared_from_this()] { self->run_segment(); });
}

void SpeechJob::run_segment() {
  if (gone_ || ended_) return;
  const auto started = context_.clock.steady();
  if (next_ == 0) {
    queue_time_ = started - arrival_;
    if (queue_time_ > context_.max_age) {
      return fail(ApiFailure{
          ApiError::kRequestStale,
          fmt::format(
              "the request waited {:.1f} s, longer than the limit of {:.1f} s; add capacity or retry later",
              base::to_s(queue_time_), base::to_s(context_.max_age))});
    }
  }
  auto samples = context_.engine.synthesize(plan_.segments[next_].segment);
  const auto done = context_.clock.steady();
  if (!samples) return fail(samples.error());
  synthesis_time_ += done - started;
  context_.metrics.synthesis(base::to_s(done - started),
                             static_cast<double>(samples->size()) / context_.engine.sample_rate());
  if (first_audio_ && request_.stream && done > deadline()) context_.metrics.late_segment();
  auto shaped = shape(std::move(*samples));
  if (!shaped) return fail(shaped.error());
  if (next_ > 0 || context_.engine.overhead().count() == 0) return deliver(std::move(*shaped));
  // The paced engine's overhead is all the time outside the serial section and the queue: preparing and
  // shaping are part of it.
  const auto spent = ready_ - arrival_ + (context_.clock.steady() - done);
  const auto rest = std::max(base::Duration{}, context_.engine.overhead() - spent);
  context_.loop.after(rest, [self = shared_from_this(), moved = std::move(*shaped)]() mutable {
    self->deliver(std::move(moved));
  });
}

// The segment as it is played: silence trimmed at joins, at the rate that was asked for.
base::Result<std::vector<float>> SpeechJob::shape(std::vector<float> samples) {
  const PlannedSegment& planned = plan_.segments[next_];
  const bool last = next_ + 1 == plan_.segments.size();
  audio::JoinOptions options;
  options.sample_rate = context_.engine.sample_rate();
  samples = audio::shape_segment(samples, {next_ == 0, last, planned.pause_before_s, planned.pause_after_s},
                                 options);
  if (!resampler_) return samples;
  auto converted = resampler_->feed(samples);
  if (!converted || !last) return converted;
  auto rest = resampler_->flush();
  if (!rest) return rest;
  converted->insert(converted->end(), rest->begin(), rest->end());
  return converted;
}

void SpeechJob::deliver(std::vector<float> samples) {
  if (gone_ || ended_) return;
  const bool last = next_ + 1 == plan_.segments.size();
  samples_out_ += samples.size();
  ++next_;
  if (!request_.stream) {
    collected_.insert(collected_.end(), samples.begin(), samples.end());
    return last ? finish_whole() : queue_next();
  }
  std::string bytes = first_audio_ ? std::string{} : encoder_->head(std::nullopt);
  auto coded = encoder_->encode(samples);
  if (!coded) return fail(coded.error());
  bytes += *coded;
  if (last) {
    auto end_of_stream = encoder_->finish();
    if (!end_of_stream) return fail(end_of_stream.error());
    bytes += *end_of_stream;
  }
  if (last) ticket_->release();  // before the last bytes go out, see admission.hpp
  if (!first_audio_) {
    first_audio_ = context_.clock.steady();
    context_.metrics.first_audio(base::to_s(*first_audio_ - arrival_));
    exchange_->begin(200, {{"content-type", std::string(encoder_->content_type())},
                           {"x-sample-rate", std::to_string(request_.sample_rate)}});
  }
  exchange_->write(std::move(bytes));
  if (last) {
    end("ok");
    exchange_->finish();
    return;
  }
  exchange_->on_drained(kBufferedLimit, [self = shared_from_this()] { self->queue_next(); });
}

void SpeechJob::finish_whole() {
  auto coded = encoder_->encode(collected_);
  if (!coded) return fail(coded.error());
  auto rest = encoder_->finish();
  if (!rest) return fail(rest.error());
  net::Response response;
  response.headers.add("content-type", std::string(encoder_->content_type()));
  response.headers.add("x-sample-rate", std::to_string(request_.sample_rate));
  response.headers.add("x-audio-duration",
                       fmt::format("{:.3f}", static_cast<double>(samples_out_) / request_.sample_rate));
  response.headers.add("server-timing", fmt::format("queue;dur={:.1f}, synthesis;dur={:.1f}",
                                                    base::to_ms(queue_time_), base::to_ms(synthesis_time_)));
  response.body = encoder_->head(samples_out_);
  response.body += *coded;
  response.body += *rest;
  collected_.clear();
  first_audio_ = context_.clock.steady();
  context_.metrics.first_audio(base::to_s(*first_audio_ - arrival_));
  end("ok");
  exchange_->respond(std::move(response));
}

bool SpeechJob::close(std::string_view outcome) {
  if (ended_.exchange(true)) return false;
  ticket_->release();
  context_.metrics.outcome(route_, outcome);
  return true;
}

void SpeechJob::end(std::string_view outcome) {
  if (!close(outcome)) return;
  spdlog::debug(
      "request id={} route={} outcome={} voice={} characters={} audio_s={:.2f} queue_ms={:.1f} "
      "synthesis_ms={:.1f}",
      exchange_->request().id, route_, outcome, request_.voice_name, request_.characters,
      static_cast<double>(samples_out_) / request_.sample_rate, base::to_ms(queue_time_),
      base::to_ms(synthesis_time_));
}

void SpeechJob::fail(const ApiFailure& failure) {
  const ApiErrorRow& row = api_error_row(failure.error);
  if (row.status >= 500) {
    spdlog::error("request id={} route={} error={}: {}", exchange_->request().id, route_, row.code,
                  failure.message);
  }
  const bool streaming = request_.stream && first_audio_.has_value();
  if (row.status < 500) context_.metrics.rejected(row.code);
  end(row.status < 500 ? "rejected" : "failed");
  // After the first audio only a broken transfer tells the truth.
  if (streaming)
    exchange_->abort();
  else
    exchange_->respond(error_response(failure, exchange_->request().id));
}

void SpeechJob::fail(const base::Error& error) { fail(to_failure(error)); }

}  // namespace headroom::serve
