// Tests of the encoder interface with the formats offered now.
#include "audio/encoder.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "audio/pcm.hpp"

namespace headroom::audio {
namespace {

TEST(Encoder, WavInOnePieceCarriesItsTrueLength) {
  auto e = Encoder::create(Format::kWav, 24000, false);
  ASSERT_TRUE(e);
  const std::vector<float> samples(100, 0.25F);
  std::string all = (*e)->head(samples.size());
  all += (*e)->encode(samples);
  all += (*e)->finish();
  EXPECT_EQ(all.size(), kWavHeaderBytes + 200);
  EXPECT_EQ(all.substr(0, kWavHeaderBytes), wav_header(24000, 200));
  EXPECT_EQ((*e)->content_type(), "audio/wav");
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
  EXPECT_EQ((*e)->encode(std::vector<float>(3, 0.0F)).size(), 6U);
  EXPECT_EQ((*e)->content_type(), "audio/pcm");
}

TEST(Encoder, RefusesKnownFormatsThatAreNotOfferedYet) {
  for (const auto* name : {"mp3", "opus", "flac", "aac"}) {
    const auto format = parse_format(name);
    ASSERT_TRUE(format) << name;
    EXPECT_EQ(format_name(*format), name);
    const auto e = Encoder::create(*format, 24000, true);
    ASSERT_FALSE(e) << name;
    EXPECT_EQ(e.error().code, base::ErrorCode::kUnsupported);
    EXPECT_EQ(e.error().context, "unsupported_format");
    EXPECT_EQ(e.error().message, std::string("format '") + name + "' is not offered yet; use wav or pcm");
  }
}

TEST(Encoder, NamesAnUnknownFormat) {
  const auto format = parse_format("mp4");
  ASSERT_FALSE(format);
  EXPECT_NE(format.error().message.find("'mp4'"), std::string::npos);
}

}  // namespace
}  // namespace headroom::audio
