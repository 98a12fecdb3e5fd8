// Tests of the resampler: length rule, alignment, independence of how a stream is cut.
#include "audio/resampler.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

namespace headroom::audio {
namespace {

std::vector<float> sine(double hz, int rate, std::size_t n) {
  std::vector<float> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * hz * static_cast<double>(i) / rate));
  }
  return out;
}

std::vector<float> whole(const std::vector<float>& in, int out_hz, std::size_t piece) {
  auto r = Resampler::create(kModelRate, out_hz);
  std::vector<float> out;
  for (std::size_t at = 0; at < in.size(); at += piece) {
    const std::size_t n = std::min(piece, in.size() - at);
    const auto got = r->feed(std::span(in).subspan(at, n));
    out.insert(out.end(), got->begin(), got->end());
  }
  const auto rest = r->flush();
  out.insert(out.end(), rest->begin(), rest->end());
  return out;
}

TEST(Resampler, KeepsTheLengthRuleAtEveryRate) {
  for (const int rate : kSampleRates) {
    for (const std::size_t n : {1U, 7U, 100U, 24000U, 35001U}) {
      EXPECT_EQ(whole(sine(300, kModelRate, n), rate, 4096).size(), resampled_length(n, kModelRate, rate))
          << rate << " Hz, " << n << " samples";
    }
  }
}

TEST(Resampler, GivesTheSameSamplesHoweverTheStreamIsCut) {
  const auto in = sine(440, kModelRate, 20000);
  for (const int rate : kSampleRates) {
    const auto once = whole(in, rate, in.size());
    EXPECT_EQ(once, whole(in, rate, 480)) << rate;
    EXPECT_EQ(once, whole(in, rate, 7001)) << rate;
  }
}

TEST(Resampler, KeepsAToneInPlace) {
  const std::size_t n = 24000;
  for (const int rate : kSampleRates) {
    const auto got = whole(sine(440, kModelRate, n), rate, 4800);
    const auto want = sine(440, rate, got.size());
    double worst = 0;
    for (std::size_t i = got.size() / 10; i < got.size() * 9 / 10; ++i) {
      worst = std::max(worst, std::abs(static_cast<double>(got[i]) - static_cast<double>(want[i])));
    }
    EXPECT_LT(worst, 0.005) << rate;
  }
}

TEST(Resampler, NamesTheRatesItOffers) {
  const auto r = Resampler::create(kModelRate, 12345);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, base::ErrorCode::kUnsupported);
  EXPECT_EQ(r.error().context, "unsupported_sample_rate");
  EXPECT_NE(r.error().message.find("12345"), std::string::npos);
  EXPECT_FALSE(check_sample_rate(-1));
}

}  // namespace
}  // namespace headroom::audio
