// Tests of the byte level of audio: rounding, clamping, WAV header fields.
#include "audio/pcm.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace headroom::audio {
namespace {

std::uint32_t u32(const std::string& s, std::size_t at) {
  std::uint32_t v = 0;
  for (std::size_t i = 0; i < 4; ++i)
    v |= static_cast<std::uint32_t>(static_cast<unsigned char>(s[at + i])) << (8 * i);
  return v;
}

TEST(Pcm, RoundsToNearestAndClampsSymmetrically) {
  EXPECT_EQ(to_s16(0.0F), 0);
  EXPECT_EQ(to_s16(1.0F), 32767);
  EXPECT_EQ(to_s16(-1.0F), -32767);
  EXPECT_EQ(to_s16(7.5F), 32767);
  EXPECT_EQ(to_s16(-INFINITY), -32767);
  EXPECT_EQ(to_s16(0.6F / 32767.0F), 1);
  EXPECT_EQ(to_s16(-0.4F / 32767.0F), 0);
}

TEST(Pcm, TurnsNotANumberIntoSilence) { EXPECT_EQ(to_s16(NAN), 0); }

TEST(Pcm, WritesLittleEndian) {
  const std::vector<float> samples{258.0F / 32767.0F, -1.0F / 32767.0F};
  EXPECT_EQ(to_s16le(samples), std::string("\x02\x01\xFF\xFF", 4));
}

TEST(WavHeader, CarriesTrueSizesWhenTheLengthIsKnown) {
  const std::string h = wav_header(24000, 1000);
  ASSERT_EQ(h.size(), kWavHeaderBytes);
  EXPECT_EQ(h.substr(0, 4), "RIFF");
  EXPECT_EQ(u32(h, 4), 1036U);
  EXPECT_EQ(h.substr(8, 8), "WAVEfmt ");
  EXPECT_EQ(u32(h, 24), 24000U);
  EXPECT_EQ(u32(h, 28), 48000U);
  EXPECT_EQ(h.substr(36, 4), "data");
  EXPECT_EQ(u32(h, 40), 1000U);
}

TEST(WavHeader, SaysUnknownForStreamsAndForLengthsBeyond32Bits) {
  for (const auto& bytes : {std::optional<std::uint64_t>{}, std::optional<std::uint64_t>{1ULL << 32U}}) {
    const std::string h = wav_header(8000, bytes);
    EXPECT_EQ(u32(h, 4), 0xFFFFFFFFU);
    EXPECT_EQ(u32(h, 40), 0xFFFFFFFFU);
  }
}

}  // namespace
}  // namespace headroom::audio
