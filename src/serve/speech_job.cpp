// The steps of one request.
#include "serve/speech_job.hpp"

#include <algorithm>
#include <exception>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "audio/join.hpp"
#include "serve/log_words.hpp"

namespace headroom::serve {
namespace {

std::string_view outcome_of(const ApiFailure& failure) {
  return api_error_row(failure.error).status < 500 ? "rejected" : "failed";
}

}  // namespace

SpeechJob::SpeechJob(JobContext& context, std::shared_ptr<SpeechSink> sink,
                     std::unique_ptr<Admission::Ticket> ticket, std::string route, std::uint64_t number)
    : context_(context),
      sink_(std::move(sink)),
      ticket_(std::move(ticket)),
      route_(std::move(route)),
      number_(number),
      arrival_(context.clock.steady()),
      pieces_(context.planner, context.metrics),
      playback_(arrival_, context.slo) {}

void SpeechJob::watch_client() {
  sink_->on_gone([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->cancel("aborted");
  });
}

// A worker may be writing the figures of this job at this moment; only what never changes is read here.
bool SpeechJob::cancel(std::string_view outcome) {
  if (!close(outcome)) return false;
  spdlog::info("{}", request_end(sink_->request_id(), route_, outcome));
  return true;
}

bool SpeechJob::set_up(ParsedRequest parsed) {
  if (!parsed) return fail(parsed.error()), false;
  request_ = std::move(*parsed);
  auto encoder = audio::Encoder::create(request_.format, request_.sample_rate, request_.stream);
  if (!encoder) return fail(encoder.error()), false;
  encoder_ = std::move(*encoder);
  if (request_.sample_rate != context_.engine.sample_rate()) {
    auto resampler = audio::Resampler::create(context_.engine.sample_rate(), request_.sample_rate);
    if (!resampler) return fail(resampler.error()), false;
    resampler_.emplace(std::move(*resampler));
  }
  return true;
}

void SpeechJob::prepare(ParsedRequest parsed) {
  if (ended_) return;
  if (!set_up(std::move(parsed)) || ended_) return;
  auto planned = plan_text(request_, context_.planner, context_.metrics);
  if (!planned) return fail(planned.error());
  ready_ = context_.clock.steady();
  planned->front().segment.ready = ready_;
  {
    auto lane = lane_.lock();
    lane->characters = request_.characters;
    lane->waiting.assign(std::make_move_iterator(planned->begin()), std::make_move_iterator(planned->end()));
  }
  submit();
}

void SpeechJob::open(ParsedRequest parsed) {
  if (ended_) return;
  if (!set_up(std::move(parsed))) return;
  auto lane = lane_.lock();
  lane->open = lane->starved = true;
}

void SpeechJob::append(const std::string& text, bool final) {
  if (ended_) return;
  if (context_.log_text && !text.empty())
    spdlog::info("request id={} route={} text={}", log_id(sink_->request_id()), route_, log_quoted(text));
  SpeechRequest piece = request_;
  piece.text = text;
  piece.characters = count_characters(text);
  auto planned = pieces_.plan(piece, final);
  if (!planned) return refuse(to_failure(planned.error()));
  const auto now = context_.clock.steady();
  bool run = false;
  bool end = false;
  {
    auto lane = lane_.lock();
    for (auto& segment : *planned) {
      segment.segment.ready = now;
      lane->waiting.push_back(std::move(segment));
    }
    lane->characters += piece.characters;
    if (final) lane->open = false;
    if (lane->starved) {
      run = !lane->waiting.empty();
      end = !run && final;
      if (run || end) lane->starved = false;
    }
  }
  if (run) {  // no step runs, so its figures are ours
    if (delivered_ == 0) ready_ = now;
    playback_.resume(now);
    return submit();
  }
  if (!end) return;
  if (delivered_ > 0) return request_.stream ? finish_stream() : finish_whole();
  fail(ApiFailure{ApiError::kUnspeakableText, "the text has nothing that can be spoken; send words"});
}

void SpeechJob::attempt(const std::function<void()>& step) {
  try {
    step();
  } catch (const std::exception& error) {
    refuse({ApiError::kInternal, error.what()});
  } catch (...) {
    refuse({ApiError::kInternal, "unknown exception"});
  }
}

// A step may be running: the figures are its own.
void SpeechJob::refuse(const ApiFailure& failure) {
  if (!end_badly(failure)) return;
  spdlog::info(
      "{}", request_end(sink_->request_id(), route_, outcome_of(failure), api_error_row(failure.error).code));
  sink_->fail(failure);
}

double SpeechJob::audio_s() const { return static_cast<double>(samples_out_) / request_.sample_rate; }

void SpeechJob::submit() {
  context_.scheduler.submit(playback_.deadline(audio_s()), number_,
                            [self = shared_from_this()] { self->attempt([&] { self->run_segment(); }); });
}

// Pieces may come late through the client's own fault: only what they waited for us counts.
bool SpeechJob::stale(base::SteadyTime now) {
  queue_time_ = now - (request_.pieces ? ready_ : arrival_);
  if (queue_time_ <= context_.max_age) return false;
  fail(ApiFailure{
      ApiError::kRequestStale,
      fmt::format(
          "the request waited {:.1f} s, longer than the limit of {:.1f} s; add capacity or retry later",
          base::to_s(queue_time_), base::to_s(context_.max_age))});
  return true;
}

void SpeechJob::run_segment() {
  if (ended_) return;
  const auto started = context_.clock.steady();
  if (delivered_ == 0 && stale(started)) return;
  PlannedSegment planned;
  bool last = false;
  {
    auto lane = lane_.lock();
    planned = std::move(lane->waiting.front());
    lane->waiting.pop_front();
    last = lane->waiting.empty() && !lane->open;
  }
  auto samples = planned.silent ? base::Result<std::vector<float>>(std::vector<float>{})
                                : context_.engine.synthesize(planned.segment);
  const auto done = context_.clock.steady();
  if (!samples) return fail(samples.error());
  synthesis_time_ += done - started;
  if (!planned.silent) {
    context_.metrics.synthesis(base::to_s(done - started),
                               static_cast<double>(samples->size()) / context_.engine.sample_rate());
  }
  auto shaped = shape(planned, std::move(*samples), last);
  if (!shaped) return fail(shaped.error());
  if (!planned.phonemes.empty()) phonemes_ += (phonemes_.empty() ? "" : " ") + planned.phonemes;
  const double start_s = audio_s();
  const double end_s = start_s + static_cast<double>(shaped->size()) / request_.sample_rate;
  if (planned.silent)
    segments_.back().end_s = end_s;  // it comes only behind words
  else
    segments_.push_back({start_s, end_s, planned.segment.characters});
  if (delivered_ > 0 || context_.engine.overhead().count() == 0) return deliver(std::move(*shaped), last);
  // The paced engine's overhead is all the time outside the serial section and the queue: preparing and
  // shaping are part of it.
  const auto spent = ready_ - arrival_ + (context_.clock.steady() - done);
  const auto rest = std::max(base::Duration{}, context_.engine.overhead() - spent);
  context_.loop.after(rest, [self = shared_from_this(), moved = std::move(*shaped), last]() mutable {
    self->attempt([&] { self->deliver(std::move(moved), last); });
  });
}

base::Result<std::vector<float>> SpeechJob::shape(const PlannedSegment& planned, std::vector<float> samples,
                                                  bool last) {
  audio::JoinOptions options;
  options.sample_rate = context_.engine.sample_rate();
  samples = audio::shape_segment(
      samples, {delivered_ == 0, last, planned.pause_before_s, planned.pause_after_s}, options);
  if (!resampler_) return samples;
  auto converted = resampler_->feed(samples);
  if (!converted || !last) return converted;
  auto rest = resampler_->flush();
  if (!rest) return rest;
  flushed_ = true;
  converted->insert(converted->end(), rest->begin(), rest->end());
  return converted;
}

void SpeechJob::deliver(std::vector<float> samples, bool last) {
  if (ended_) return;
  const bool first = delivered_++ == 0;
  samples_out_ += samples.size();
  if (!request_.stream) {
    if (first) body_ = encoder_->head(0);  // the true lengths are known at the end
    auto coded = encoder_->encode(samples);
    if (!coded) return fail(coded.error());
    body_ += *coded;
    if (too_large()) return;
    return go_on();
  }
  std::string bytes = first ? encoder_->head(std::nullopt) : std::string{};
  auto coded = encoder_->encode(samples);
  if (!coded) return fail(coded.error());
  bytes += *coded;
  if (last) {
    auto rest = encoder_->finish();
    if (!rest) return fail(rest.error());
    bytes += *rest;
    encoder_.reset();
    ticket_->release();  // before the last bytes go out, see admission.hpp
  }
  if (first) sink_->begin(start_of_answer());
  const auto margin =
      playback_.add(context_.clock.steady(), static_cast<double>(samples.size()) / request_.sample_rate);
  if (margin) context_.metrics.playback_margin(base::to_s(*margin));
  sink_->audio(std::move(bytes));
  if (last) return go_on();
  sink_->on_drained(kBufferedLimit, [self = shared_from_this()] { self->attempt([&] { self->go_on(); }); });
}

void SpeechJob::go_on() {
  Next next = Next::kSegment;
  {
    auto lane = lane_.lock();
    if (lane->waiting.empty())
      next = lane->open ? Next::kStarved : Next::kEnd;
    else
      lane->waiting.front().segment.ready = context_.clock.steady();
    lane->starved = next == Next::kStarved;
  }
  if (next == Next::kSegment) {
    playback_.resume(context_.clock.steady());
    return submit();
  }
  if (next == Next::kEnd) return request_.stream ? finish_stream() : finish_whole();
}

// What the last segment has not finished yet: nobody knew that it was the last.
base::Result<std::string> SpeechJob::last_bytes() {
  std::string bytes;
  if (resampler_ && !flushed_) {
    auto rest = resampler_->flush();
    if (!rest) return tl::unexpected(rest.error());
    samples_out_ += rest->size();
    auto coded = encoder_->encode(*rest);
    if (!coded) return coded;
    bytes += *coded;
  }
  auto end = encoder_->finish();
  if (!end) return end;
  return bytes + *end;
}

void SpeechJob::finish_stream() {
  if (encoder_) {
    auto bytes = last_bytes();
    if (!bytes) return fail(bytes.error());
    ticket_->release();
    if (!bytes->empty()) sink_->audio(std::move(*bytes));
  }
  if (!succeed()) return;
  sink_->complete(summary());
}

// A few kilobytes of text can be hours of speech, and a whole answer is kept until its client has taken it.
bool SpeechJob::too_large() {
  const std::size_t limit = context_.limits.max_answer_bytes;
  if (body_.size() + encoder_->kept_bytes() <= limit) return false;
  body_ = {};
  fail(
      ApiFailure{ApiError::kAnswerTooLarge,
                 fmt::format("the answer is over {} bytes, the limit of one that is not streamed; ask for it "
                             "with \"stream\": true, or in parts",
                             limit)});
  return true;
}

void SpeechJob::finish_whole() {
  const auto bytes = last_bytes();
  if (!bytes) return fail(bytes.error());
  body_ += *bytes;
  if (too_large()) return;
  const std::string head = encoder_->head(samples_out_);
  body_.replace(0, head.size(), head);
  playback_.add(context_.clock.steady(), audio_s());
  if (!succeed()) return;
  sink_->whole(start_of_answer(), std::move(body_), summary());
}

SpeechStart SpeechJob::start_of_answer() const {
  return {audio::content_type(request_.format), audio::format_name(request_.format), request_.sample_rate,
          request_.voice_name};
}

SpeechSummary SpeechJob::summary() const {
  return {audio_s(),
          lane_.with([](const Lane& lane) { return lane.characters; }),
          phonemes_,
          base::to_ms(queue_time_),
          base::to_ms(*playback_.first_audio() - arrival_),
          base::to_ms(synthesis_time_),
          base::to_ms(context_.clock.steady() - arrival_),
          segments_};
}

bool SpeechJob::close(std::string_view outcome) {
  if (ended_.exchange(true)) return false;
  ticket_->release();
  context_.metrics.outcome(route_, outcome);
  return true;
}

// Only now is its latency that of a success.
bool SpeechJob::succeed() {
  if (!close("ok")) return false;
  context_.metrics.first_audio(base::to_s(*playback_.first_audio() - arrival_));
  log_end("ok", "");
  return true;
}

void SpeechJob::log_end(std::string_view outcome, std::string_view error) const {
  std::string line = fmt::format(
      "request id={} route={} outcome={} voice={} format={} characters={} audio_s={:.2f} queue_ms={:.1f} "
      "synthesis_ms={:.1f} first_audio_ms={} total_ms={:.1f}",
      log_id(sink_->request_id()), route_, outcome, request_.voice_name, audio::format_name(request_.format),
      lane_.with([](const Lane& lane) { return lane.characters; }), audio_s(), base::to_ms(queue_time_),
      base::to_ms(synthesis_time_),
      playback_.first_audio() ? fmt::format("{:.1f}", base::to_ms(*playback_.first_audio() - arrival_))
                              : "none",
      base::to_ms(context_.clock.steady() - arrival_));
  if (!error.empty()) line += fmt::format(" error={}", error);
  if (context_.log_text && !request_.pieces) line += " text=" + log_quoted(request_.text);
  spdlog::info("{}", line);
}

bool SpeechJob::end_badly(const ApiFailure& failure) {
  if (!close(outcome_of(failure))) return false;
  const ApiErrorRow& row = api_error_row(failure.error);
  if (row.status < 500) context_.metrics.rejected(row.code);
  if (row.status >= 500)
    spdlog::error("request id={} route={} {}", log_id(sink_->request_id()), route_,
                  log_quoted(failure.message));
  return true;
}

void SpeechJob::fail(const ApiFailure& failure) {
  if (!end_badly(failure)) return;
  log_end(outcome_of(failure), api_error_row(failure.error).code);
  sink_->fail(failure);
}

void SpeechJob::fail(const base::Error& error) { fail(to_failure(error)); }

}  // namespace headroom::serve
