// Sample rate conversion over libswresample; see resampler.hpp.
#include "audio/resampler.hpp"

#include <algorithm>
#include <string>

extern "C" {
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>
}

namespace headroom::audio {

using base::ErrorCode;
using base::fail;
using base::Result;

struct Resampler::State {
  SwrContext* swr = nullptr;  // null when both rates are equal
  int in_hz = 0;
  int out_hz = 0;
  std::uint64_t in_total = 0;
  std::uint64_t out_total = 0;
  bool spent = false;

  ~State() { swr_free(&swr); }

  Result<std::vector<float>> convert(const float* data, std::size_t count) {
    std::vector<float> out;
    const int room = swr_get_out_samples(swr, static_cast<int>(count)) + 64;
    out.resize(static_cast<std::size_t>(std::max(room, 64)));
    const auto* in = reinterpret_cast<const std::uint8_t*>(data);
    auto* to = reinterpret_cast<std::uint8_t*>(out.data());
    const int got = swr_convert(swr, &to, static_cast<int>(out.size()), data == nullptr ? nullptr : &in,
                                static_cast<int>(count));
    if (got < 0) return fail(ErrorCode::kInternal, "libswresample could not convert", "resample");
    out.resize(static_cast<std::size_t>(got));
    return out;
  }
};

bool is_sample_rate(int hz) {
  return std::find(kSampleRates.begin(), kSampleRates.end(), hz) != kSampleRates.end();
}

Result<int> check_sample_rate(std::int64_t hz) {
  if (hz > 0 && hz < 1'000'000 && is_sample_rate(static_cast<int>(hz))) return static_cast<int>(hz);
  return fail(
      ErrorCode::kUnsupported,
      "sample_rate " + std::to_string(hz) + " is not offered; use 8000, 16000, 22050, 24000, 44100 or 48000",
      "unsupported_sample_rate");
}

std::uint64_t resampled_length(std::uint64_t in, int in_hz, int out_hz) {
  const auto from = static_cast<std::uint64_t>(in_hz);
  const auto to = static_cast<std::uint64_t>(out_hz);
  return (in * to + from / 2) / from;
}

Resampler::Resampler(std::unique_ptr<State> state) : state_(std::move(state)) {}
Resampler::Resampler(Resampler&&) noexcept = default;
Resampler& Resampler::operator=(Resampler&&) noexcept = default;
Resampler::~Resampler() = default;
int Resampler::out_rate() const { return state_->out_hz; }

Result<Resampler> Resampler::create(int in_hz, int out_hz) {
  for (const int hz : {in_hz, out_hz}) {
    if (auto ok = check_sample_rate(hz); !ok) return tl::unexpected(ok.error());
  }
  auto state = std::make_unique<State>();
  state->in_hz = in_hz;
  state->out_hz = out_hz;
  if (in_hz != out_hz) {
    state->swr = swr_alloc();
    if (state->swr == nullptr) return fail(ErrorCode::kInternal, "libswresample gave no context", "resample");
    const AVChannelLayout mono = AV_CHANNEL_LAYOUT_MONO;
    av_opt_set_chlayout(state->swr, "in_chlayout", &mono, 0);
    av_opt_set_chlayout(state->swr, "out_chlayout", &mono, 0);
    av_opt_set_int(state->swr, "in_sample_rate", in_hz, 0);
    av_opt_set_int(state->swr, "out_sample_rate", out_hz, 0);
    av_opt_set_sample_fmt(state->swr, "in_sample_fmt", AV_SAMPLE_FMT_FLT, 0);
    av_opt_set_sample_fmt(state->swr, "out_sample_fmt", AV_SAMPLE_FMT_FLT, 0);
    if (swr_init(state->swr) < 0)
      return fail(ErrorCode::kInternal, "libswresample refused the rates", "resample");
  }
  return Resampler(std::move(state));
}

Result<std::vector<float>> Resampler::feed(std::span<const float> samples) {
  if (state_->spent) return fail(ErrorCode::kInternal, "resampler used after its flush", "resample");
  state_->in_total += samples.size();
  if (state_->swr == nullptr) {
    state_->out_total += samples.size();
    return std::vector<float>(samples.begin(), samples.end());
  }
  if (samples.empty()) return std::vector<float>{};
  auto out = state_->convert(samples.data(), samples.size());
  if (!out) return out;
  // Never ahead of the length rule, so that flush() only has to fill up.
  const std::uint64_t limit = resampled_length(state_->in_total, state_->in_hz, state_->out_hz);
  if (state_->out_total + out->size() > limit)
    out->resize(static_cast<std::size_t>(limit - state_->out_total));
  state_->out_total += out->size();
  return out;
}

Result<std::vector<float>> Resampler::flush() {
  if (state_->spent) return fail(ErrorCode::kInternal, "resampler flushed twice", "resample");
  state_->spent = true;
  std::vector<float> out;
  if (state_->swr == nullptr) return out;
  const std::uint64_t total = resampled_length(state_->in_total, state_->in_hz, state_->out_hz);
  const auto missing = static_cast<std::size_t>(total - state_->out_total);
  while (out.size() < missing) {
    auto more = state_->convert(nullptr, 0);
    if (!more) return more;
    if (more->empty()) break;
    out.insert(out.end(), more->begin(), more->end());
  }
  out.resize(missing, 0.0F);
  return out;
}

}  // namespace headroom::audio
