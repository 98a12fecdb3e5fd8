// Trimming, fading and pauses at segment joins; see join.hpp.
#include "audio/join.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headroom::audio {
namespace {

std::size_t samples_of(double seconds, int rate) {
  return static_cast<std::size_t>(std::llround(std::max(0.0, seconds) * rate));
}

// Raised cosine from 0 to 1 over the first n samples (or, from the end, over the last n).
void fade(std::span<float> s, std::size_t n, bool in) {
  n = std::min(n, s.size());
  for (std::size_t i = 0; i < n; ++i) {
    const double x = (static_cast<double>(i) + 0.5) / static_cast<double>(n);
    const auto gain = static_cast<float>(0.5 - 0.5 * std::cos(std::numbers::pi * x));
    s[in ? i : s.size() - 1 - i] *= gain;
  }
}

}  // namespace

std::vector<float> shape_segment(std::span<const float> samples, const JoinPlace& place,
                                 const JoinOptions& o) {
  const auto loud = [&](float v) { return std::abs(v) > o.silence_level; };
  const auto first_sound = std::find_if(samples.begin(), samples.end(), loud);
  const bool has_sound = first_sound != samples.end();
  std::size_t from = 0;
  std::size_t to = samples.size();
  if (has_sound) {
    const double keep = place.first ? o.first_lead_s : o.keep_lead_s;
    const auto onset = static_cast<std::size_t>(first_sound - samples.begin());
    from = onset - std::min(onset, samples_of(keep, o.sample_rate));
  }
  if (has_sound && !place.last) {
    const auto rfound = std::find_if(samples.rbegin(), samples.rend(), loud);
    const auto after_sound = static_cast<std::size_t>(samples.rend() - rfound);
    to = std::min(samples.size(), after_sound + samples_of(o.keep_tail_s, o.sample_rate));
  }
  const auto before = samples_of(place.pause_before_s, o.sample_rate);
  std::vector<float> out(before, 0.0F);
  out.insert(out.end(), samples.begin() + static_cast<std::ptrdiff_t>(from),
             samples.begin() + static_cast<std::ptrdiff_t>(to));
  const std::span<float> body = std::span(out).subspan(before);
  const std::size_t n = samples_of(o.fade_s, o.sample_rate);
  fade(body, n, true);
  fade(body, n, false);
  // What is kept on both sides of the join counts as part of the pause; a spoken pause at the very end is
  // kept too.
  double pause = place.pause_after_s;
  if (!place.last && has_sound) pause -= o.keep_lead_s + o.keep_tail_s;
  out.resize(out.size() + samples_of(pause, o.sample_rate), 0.0F);
  return out;
}

}  // namespace headroom::audio
