// Tests of decoding while a stream comes in, whatever the cuts.
#include "audio/decoder.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

namespace headroom::audio {
namespace {

constexpr int kRate = 24'000;

// Half a second of silence, then one second of a tone.
std::string encoded(Format format) {
  auto encoder = *Encoder::create(format, kRate, true);
  std::vector<float> samples(kRate / 2, 0.0F);
  for (int i = 0; i < kRate; ++i)
    samples.push_back(0.5F *
                      std::sin(2.0F * std::numbers::pi_v<float> * 440.0F * static_cast<float>(i) / kRate));
  std::string out = encoder->head(std::nullopt);
  out += *encoder->encode(samples);
  out += *encoder->finish();
  return out;
}

struct Heard {
  double seconds = 0;
  double first_audible_s = -1;
};

Heard listen(Format format, std::string_view bytes, std::size_t piece) {
  auto decoder = *Decoder::create(format);
  std::vector<float> samples;
  for (std::size_t at = 0; at < bytes.size(); at += piece) decoder->feed(bytes.substr(at, piece), samples);
  decoder->finish(samples);
  Heard out;
  const double rate = decoder->sample_rate();
  out.seconds = static_cast<double>(samples.size()) / rate;
  for (std::size_t i = 0; i < samples.size() && out.first_audible_s < 0; ++i) {
    if (std::abs(samples[i]) > 0.0032F) out.first_audible_s = static_cast<double>(i) / rate;
  }
  return out;
}

TEST(Decoder, FindsLengthAndFirstSoundHoweverTheBytesAreCut) {
  for (const Format format : {Format::kMp3, Format::kOpus}) {
    const std::string bytes = encoded(format);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{97}, std::size_t{1000}, bytes.size()}) {
      const auto heard = listen(format, bytes, piece);
      EXPECT_NEAR(heard.seconds, 1.5, 0.12) << format_name(format) << " in pieces of " << piece;
      EXPECT_NEAR(heard.first_audible_s, 0.5, 0.08) << format_name(format) << " in pieces of " << piece;
    }
  }
}

TEST(Decoder, SurvivesNoiseAndCutStreams) {
  std::string noise;
  for (int i = 0; i < 20'000; ++i) noise += static_cast<char>(i * 7919 >> 3);
  for (const Format format : {Format::kMp3, Format::kOpus}) {
    std::vector<float> samples;
    auto decoder = *Decoder::create(format);
    const std::string bytes = encoded(format);
    decoder->feed(noise, samples);
    decoder->feed(std::string_view(bytes).substr(0, bytes.size() / 2 + 3), samples);
    decoder->finish(samples);
    EXPECT_GT(samples.size(), 1000u) << format_name(format);
  }
}

TEST(Decoder, KnowsItsFormatsByTheirFirstBytes) {
  EXPECT_EQ(sniff_encoded(encoded(Format::kMp3).substr(0, 4)), Format::kMp3);
  EXPECT_EQ(sniff_encoded(encoded(Format::kOpus).substr(0, 4)), Format::kOpus);
  EXPECT_FALSE(sniff_encoded("RIFF"));
  EXPECT_FALSE(Decoder::create(Format::kWav));
}

}  // namespace
}  // namespace headroom::audio
