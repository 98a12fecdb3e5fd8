// Tests of the encoder interface with the formats offered now.
#include "audio/encoder.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "audio/pcm.hpp"
#include "audio/resampler.hpp"

namespace headroom::audio {
namespace {

TEST(Encoder, WavInOnePieceCarriesItsTrueLength) {
  auto e = Encoder::create(Format::kWav, 24000, false);
  ASSERT_TRUE(e);
  const std::vector<float> samples(100, 0.25F);
  std::string all = (*e)->head(samples.size());
  all += *(*e)->encode(samples);
  all += *(*e)->finish();
  EXPECT_EQ(all.size(), kWavHeaderBytes + 200);
  EXPECT_EQ(all.substr(0, kWavHeaderBytes), wav_header(24000, 200));
}

TEST(Encoder, StreamedWavSaysUnknownEvenIfALengthIsGiven) {
  auto e = Encoder::create(Format::kWav, 16000, true);
  ASSERT_TRUE(e);
  EXPECT_EQ((*e)->head(100), wav_header(16000, std::nullopt));
}

TEST(Encoder, PcmIsBareSamples) {
  auto e = Encoder::create(Format::kPcm, 8000, true);
  ASSERT_TRUE(e);
  EXPECT_EQ((*e)->head({}), "");
  EXPECT_EQ((*e)->encode(std::vector<float>(3, 0.0F))->size(), 6U);
}

TEST(Encoder, OffersEveryFormatAtEveryRateWithItsMediaType) {
  for (const auto* name : {"wav", "pcm", "mp3", "opus", "flac", "aac"}) {
    const auto format = parse_format(name).and_then(check_offered);
    ASSERT_TRUE(format) << name;
    EXPECT_EQ(format_name(*format), name);
    for (const int rate : kSampleRates) {
      const auto e = Encoder::create(*format, rate, true);
      ASSERT_TRUE(e) << name << " " << rate << ": " << e.error().message;
    }
    EXPECT_EQ(Encoder::create(*format, 12000, true).error().context, "unsupported_sample_rate");
  }
  EXPECT_EQ(content_type(Format::kWav), "audio/wav");
  EXPECT_EQ(content_type(Format::kPcm), "audio/pcm");
  EXPECT_EQ(content_type(Format::kMp3), "audio/mpeg");
  EXPECT_EQ(content_type(Format::kOpus), "audio/ogg; codecs=opus");
  EXPECT_EQ(content_type(Format::kFlac), "audio/flac");
  EXPECT_EQ(content_type(Format::kAac), "audio/aac");
}

TEST(Encoder, NamesAnUnknownFormat) {
  const auto format = parse_format("mp4");
  ASSERT_FALSE(format);
  EXPECT_NE(format.error().message.find("'mp4'"), std::string::npos);
}

}  // namespace
}  // namespace headroom::audio
