// Tests of the audio probe on hand-made audio.
#include "load/audio_probe.hpp"

#include <gtest/gtest.h>

namespace headroom::load {
namespace {

const base::SteadyTime kStart{std::chrono::hours{1}};
base::SteadyTime ms(double value) { return kStart + base::from_ms(value); }

std::string samples(std::size_t count, std::int16_t value) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    out += static_cast<char>(value & 0xFF);
    out += static_cast<char>((value >> 8) & 0xFF);
  }
  return out;
}

std::string wav_header(std::uint32_t rate, std::uint16_t bits = 16) {
  const auto u16 = [](std::uint32_t v) {
    return std::string{static_cast<char>(v), static_cast<char>(v >> 8)};
  };
  const auto u32 = [&](std::uint32_t v) { return u16(v & 0xFFFF) + u16(v >> 16); };
  return "RIFF" + u32(0xFFFFFFFF) + "WAVEfmt " + u32(16) + u16(1) + u16(1) + u32(rate) + u32(rate * 2) +
         u16(2) + u16(bits) + "data" + u32(0xFFFFFFFF);
}

TEST(AudioProbe, FindsTheFirstAudibleChunk) {
  AudioProbe probe(24'000);
  probe.feed(samples(240, 103), ms(10));
  EXPECT_FALSE(probe.first_audible());
  probe.feed(samples(239, 0) + samples(1, -104), ms(20));
  EXPECT_EQ(probe.first_audible(), ms(20));
  EXPECT_DOUBLE_EQ(probe.audio_s(), 0.02);
}

TEST(AudioProbe, ReadsAWavHeaderCutAnywhere) {
  const std::string whole = wav_header(8'000) + samples(8'000, 5'000);
  for (std::size_t cut : {1u, 4u, 20u, 43u, 44u, 45u}) {
    AudioProbe probe(0);
    probe.feed(whole.substr(0, cut), ms(1));
    probe.feed(whole.substr(cut), ms(2));
    EXPECT_DOUBLE_EQ(probe.audio_s(), 1.0) << cut;
    EXPECT_EQ(probe.first_audible(), ms(2)) << cut;
  }
}

TEST(AudioProbe, KeepsASampleThatAChunkCutsInTwo) {
  AudioProbe probe(24'000);
  const std::string audio = samples(2'400, 300);
  for (std::size_t i = 0; i < audio.size(); i += 7) probe.feed(audio.substr(i, 7), ms(1));
  EXPECT_NEAR(probe.audio_s(), 0.1, 1e-9);
}

TEST(AudioProbe, KnowsNothingOfOtherFormats) {
  AudioProbe unknown(0), eight_bit(0);
  unknown.feed("ID3\x03 not samples", ms(1));
  eight_bit.feed(wav_header(8'000, 8) + samples(100, 5'000), ms(1));
  for (const AudioProbe* probe : {&unknown, &eight_bit}) {
    EXPECT_EQ(probe->audio_s(), 0);
    EXPECT_FALSE(probe->first_audible());
  }
}

TEST(AudioProbe, HearsMp3AndOpusWhileTheyStream) {
  for (const auto format : {audio::Format::kMp3, audio::Format::kOpus}) {
    auto encoder = *audio::Encoder::create(format, 24'000, true);
    std::string silence = encoder->head(std::nullopt);
    silence += *encoder->encode(std::vector<float>(24'000, 0.0F));
    std::vector<float> tone;
    for (int i = 0; i < 24'000; ++i) tone.push_back(i % 50 < 25 ? 0.3F : -0.3F);
    std::string sound = *encoder->encode(tone);
    sound += *encoder->finish();
    AudioProbe probe(0);
    probe.feed(silence, ms(10));
    EXPECT_FALSE(probe.first_audible());
    probe.feed(sound, ms(20));
    probe.end(ms(30));
    EXPECT_EQ(probe.first_audible(), ms(20));
    EXPECT_NEAR(probe.audio_s(), 2.0, 0.15);
  }
}

TEST(AudioProbe, CountsAPauseOfThePlayer) {
  AudioProbe probe(1'000);                   // 1 sample = 1 ms
  probe.feed(samples(200, 1'000), ms(0));    // starts playing at 0, dry at 200
  probe.feed(samples(100, 1'000), ms(150));  // 50 + 100 left, dry at 300
  EXPECT_EQ(probe.underruns(), 0);
  probe.feed(samples(100, 1'000), ms(400));  // dry since 300; 100 are not enough to start again
  probe.feed(samples(100, 1'000), ms(450));  // 200 are: paused 150 ms
  EXPECT_EQ(probe.underruns(), 1);
  EXPECT_NEAR(probe.underrun_s(), 0.150, 1e-9);
  probe.end(ms(460));
  EXPECT_NEAR(probe.underrun_s(), 0.150, 1e-9);
}

TEST(AudioProbe, APlayerThatNeverFillsStartsAtTheEndWithoutAnUnderrun) {
  AudioProbe probe(1'000);
  probe.feed(samples(50, 1'000), ms(0));
  probe.feed(samples(50, 1'000), ms(900));
  probe.end(ms(901));
  EXPECT_EQ(probe.underruns(), 0);
}

}  // namespace
}  // namespace headroom::load
