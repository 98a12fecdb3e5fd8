// Tests of mp3, opus, flac and aac: what a decoder gets back, at every rate, streamed and whole.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

#include "audio/decode_for_test.hpp"
#include "audio/encoder.hpp"
#include "audio/resampler.hpp"

namespace headroom::audio {
namespace {

constexpr Format kCoded[] = {Format::kMp3, Format::kOpus, Format::kFlac, Format::kAac};

const char* container(Format f) {
  return f == Format::kMp3 ? "mp3" : f == Format::kOpus ? "ogg" : f == Format::kFlac ? "flac" : "aac";
}

// What an answer looks like: silence, a word, silence, a word, silence.
std::vector<float> speech(int rate, double lead_s, double word_s, double tail_s) {
  std::vector<float> out;
  const auto add = [&](double seconds, float level, double hz) {
    const auto n = static_cast<std::size_t>(seconds * rate);
    for (std::size_t i = 0; i < n; ++i) {
      const double t = static_cast<double>(i) / rate;
      out.push_back(level * static_cast<float>(std::sin(2 * std::numbers::pi * hz * t)));
    }
  };
  add(lead_s, 0, 0);
  add(word_s, 0.5F, 300);
  add(0.2, 0, 0);
  add(word_s, 0.5F, 500);
  add(tail_s, 0, 0);
  return out;
}

// Opus codes 22,050 and 44,100 Hz at the next rate above.
double coded_rate(Format format, int rate) {
  if (format != Format::kOpus) return rate;
  return rate == 22050 ? 24000 : rate == 44100 ? 48000 : rate;
}

std::string coded(Format format, int rate, bool streamed, const std::vector<float>& in, std::size_t piece) {
  auto e = Encoder::create(format, rate, streamed);
  if (!e) return {};
  std::string all = (*e)->head(streamed ? std::nullopt : std::optional<std::uint64_t>(in.size()));
  for (std::size_t at = 0; at < in.size(); at += piece) {
    auto bytes = (*e)->encode(std::span(in).subspan(at, std::min(piece, in.size() - at)));
    if (!bytes) return {};
    all += *bytes;
  }
  auto rest = (*e)->finish();
  return rest ? all + *rest : std::string();
}

double rms(const std::vector<float>& v, double from_s, double to_s, int rate) {
  double sum = 0;
  const auto from = static_cast<std::size_t>(from_s * rate);
  const auto to = std::min(v.size(), static_cast<std::size_t>(to_s * rate));
  for (std::size_t i = from; i < to; ++i) sum += static_cast<double>(v[i]) * static_cast<double>(v[i]);
  return from < to ? std::sqrt(sum / static_cast<double>(to - from)) : 0;
}

TEST(FfmpegEncoder, DecodesToThePcmLengthWithFirstAndLastSoundInPlace) {
  for (const Format format : kCoded) {
    for (const int rate : kSampleRates) {
      for (const bool streamed : {false, true}) {
        for (const double tail : {0.25, 0.31, 0.427}) {
          SCOPED_TRACE(std::string(format_name(format)) + " " + std::to_string(rate) +
                       (streamed ? " streamed " : " whole ") + std::to_string(tail));
          const auto in = speech(rate, 0.1, 0.3, tail);
          const auto out = decode_for_test(coded(format, rate, streamed, in, 3000), container(format));
          ASSERT_GT(out.rate, 0);
          const double frame_s = static_cast<double>(frame_samples(format, rate)) / coded_rate(format, rate);
          const double want_s = static_cast<double>(in.size()) / rate;
          EXPECT_NEAR(static_cast<double>(out.samples.size()) / out.rate, want_s, frame_s + 1e-3);
          if (format == Format::kMp3 && !streamed) {
            EXPECT_EQ(out.samples.size(), in.size());
          }
          if (format == Format::kFlac) {
            EXPECT_EQ(out.samples.size(), in.size());
          }
          // 0.5 / sqrt 2 = 0.35 in the middle of each word; each word where it was, to within a frame
          EXPECT_NEAR(rms(out.samples, 0.2, 0.3, out.rate), 0.353, 0.03);
          EXPECT_NEAR(rms(out.samples, 0.7, 0.8, out.rate), 0.353, 0.03);
          if (frame_s < 0.09) {
            EXPECT_LT(rms(out.samples, 0.0, 0.1 - frame_s, out.rate), 0.02);
          }
        }
      }
    }
  }
}

TEST(FfmpegEncoder, LosesNoSoundOfAnswersWithoutSilence) {
  for (const Format format : kCoded) {
    for (const int rate : {8000, 24000, 44100}) {
      for (const bool streamed : {false, true}) {
        SCOPED_TRACE(std::string(format_name(format)) + " " + std::to_string(rate) +
                     (streamed ? " s" : " w"));
        for (const std::size_t n : {1U, 300U, 5000U}) {
          const std::vector<float> in(n, 0.4F);
          const auto out = decode_for_test(coded(format, rate, streamed, in, 1000), container(format));
          const auto frame = static_cast<double>(frame_samples(format, rate)) * 6;  // at 48 kHz at most
          const double want = static_cast<double>(n) * out.rate / rate;
          EXPECT_GE(static_cast<double>(out.samples.size()) + 1, want);
          EXPECT_LT(static_cast<double>(out.samples.size()), want + 2 * frame);
        }
      }
    }
  }
}

TEST(FfmpegEncoder, GivesTheSameBytesHoweverTheStreamIsCutAndEveryTime) {
  const auto in = speech(24000, 0.1, 0.3, 0.3);
  for (const Format format : kCoded) {
    for (const bool streamed : {false, true}) {
      const std::string once = coded(format, 24000, streamed, in, in.size());
      EXPECT_FALSE(once.empty());
      EXPECT_EQ(once, coded(format, 24000, streamed, in, 777)) << format_name(format);
      EXPECT_EQ(once, coded(format, 24000, streamed, in, in.size())) << format_name(format);
    }
  }
}

TEST(FfmpegEncoder, GivesBytesOfTheFirstHalfBeforeTheSecondHalfIsKnown) {
  const auto in = speech(24000, 0.1, 0.4, 0.2);
  for (const Format format : kCoded) {
    auto e = Encoder::create(format, 24000, true);
    ASSERT_TRUE(e);
    std::string bytes = (*e)->head(std::nullopt);
    bytes += *(*e)->encode(in);
    const auto out = decode_for_test(bytes, container(format));
    EXPECT_GT(static_cast<double>(out.samples.size()) / out.rate, 0.8) << format_name(format);
    ASSERT_TRUE((*e)->finish());
  }
}

TEST(FfmpegEncoder, TakesNotANumberAndTooLoudSamples) {
  std::vector<float> in(9000, 3.0F);
  std::fill(in.begin() + 2000, in.begin() + 4000, NAN);
  for (const Format format : kCoded) {
    const auto out = decode_for_test(coded(format, 24000, true, in, 4000), container(format));
    ASSERT_FALSE(out.samples.empty()) << format_name(format);
    for (const float v : out.samples) ASSERT_TRUE(std::isfinite(v));
  }
}

TEST(FfmpegEncoder, EndsAnEmptyAnswerWithoutAnError) {
  for (const Format format : kCoded) {
    auto e = Encoder::create(format, 16000, true);
    ASSERT_TRUE(e);
    EXPECT_TRUE((*e)->finish()) << format_name(format);
  }
}

}  // namespace
}  // namespace headroom::audio
