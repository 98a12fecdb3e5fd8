// Reads samples out of chunks and plays them in thought.
#include "load/audio_probe.hpp"

#include <algorithm>
#include <cstring>

namespace headroom::load {
namespace {

constexpr int kAudible = 103;  // above this
constexpr double kPlayerBuffer_s = 0.2;
constexpr std::size_t kLargestHeader = 64 * 1024;

std::uint32_t u32(const std::string& bytes, std::size_t at) {
  std::uint32_t out = 0;
  for (int i = 3; i >= 0; --i)
    out = out << 8 | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
  return out;
}
std::uint32_t u16(const std::string& bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]) |
         static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + 1])) << 8;
}

}  // namespace

void AudioProbe::feed(std::string_view bytes, base::SteadyTime at) {
  if (state_ == State::kUnknown || bytes.empty()) return;
  if (state_ == State::kStart || state_ == State::kHeader) {
    header_ += bytes;
    if (state_ == State::kStart) {
      if (header_.size() < 4) return;
      if (header_.compare(0, 4, "RIFF") == 0) {
        state_ = State::kHeader;
      } else {
        state_ = rate_ > 0 ? State::kSamples : State::kUnknown;
        if (const auto format = rate_ > 0 ? std::nullopt : audio::sniff_encoded(header_)) {
          if (auto made = audio::Decoder::create(*format)) {
            decoder_ = std::move(*made);
            state_ = State::kDecoded;
            std::string first;
            first.swap(header_);
            return decode(first, at, false);
          }
        }
      }
    }
    if (state_ == State::kHeader && !read_header()) return;
    if (state_ != State::kSamples) return;
    std::string rest;
    rest.swap(header_);
    read_samples(rest, at);
    return;
  }
  if (state_ == State::kDecoded) return decode(bytes, at, false);
  read_samples(bytes, at);
}

void AudioProbe::decode(std::string_view bytes, base::SteadyTime at, bool last) {
  decoded_.clear();
  last ? decoder_->finish(decoded_) : decoder_->feed(bytes, decoded_);
  if (decoded_.empty() || decoder_->sample_rate() <= 0) return;
  const auto audible = [](float sample) {
    return sample > kAudible / 32768.0F || sample < -kAudible / 32768.0F;
  };
  if (!first_audible_ && std::any_of(decoded_.begin(), decoded_.end(), audible)) first_audible_ = at;
  const double seconds = static_cast<double>(decoded_.size()) / decoder_->sample_rate();
  audio_s_ += seconds;
  play(seconds, at);
}

bool AudioProbe::read_header() {
  std::size_t at = 12;
  bool format = false;
  while (header_.size() >= at + 8) {
    const std::string name = header_.substr(at, 4);
    const std::uint32_t size = u32(header_, at + 4);
    if (name == "data") {
      state_ = format ? State::kSamples : State::kUnknown;
      header_.erase(0, at + 8);
      return true;
    }
    if (size > kLargestHeader) break;
    if (header_.size() < at + 8 + size) return false;
    if (name == "fmt " && size >= 16) {
      const std::uint32_t kind = u16(header_, at + 8);  // 1 = PCM, 0xFFFE = extensible
      channels_ = static_cast<int>(u16(header_, at + 10));
      rate_ = static_cast<int>(u32(header_, at + 12));
      format = (kind == 1 || kind == 0xFFFE) && u16(header_, at + 22) == 16 && channels_ >= 1 && rate_ > 0;
    }
    at += 8 + size + size % 2;
  }
  if (header_.size() > kLargestHeader) state_ = State::kUnknown;
  return false;
}

void AudioProbe::read_samples(std::string_view bytes, base::SteadyTime at) {
  std::string joined;
  if (!odd_.empty()) {
    joined = odd_ + std::string(bytes);
    bytes = joined;
    odd_.clear();
  }
  const std::size_t whole = bytes.size() / 2;
  if (!first_audible_) {
    for (std::size_t i = 0; i < whole; ++i) {
      std::int16_t sample;
      std::memcpy(&sample, bytes.data() + 2 * i,
                  2);  // WAV and our PCM are little-endian, as is every machine we run on
      if (sample > kAudible || sample < -kAudible) {
        first_audible_ = at;
        break;
      }
    }
  }
  if (bytes.size() % 2 != 0) odd_ = bytes.substr(bytes.size() - 1);
  const double seconds = static_cast<double>(whole) / (static_cast<double>(rate_) * channels_);
  audio_s_ += seconds;
  play(seconds, at);
}

void AudioProbe::play(double seconds, base::SteadyTime at) {
  if (playing_) {
    const double passed = base::to_s(at - last_);
    if (passed > buffered_s_) {
      ++underruns_;
      dry_since_ = last_ + base::from_s(buffered_s_);
      buffered_s_ = 0;
      playing_ = false;
    } else {
      buffered_s_ -= passed;
    }
  }
  last_ = at;
  buffered_s_ += seconds;
  if (!playing_ && buffered_s_ >= kPlayerBuffer_s) {
    playing_ = true;
    if (dry_since_) underrun_s_ += base::to_s(at - *dry_since_);
    dry_since_.reset();
  }
}

void AudioProbe::end(base::SteadyTime at) {
  if (decoder_) decode({}, at, true);
  if (dry_since_) underrun_s_ += base::to_s(at - *dry_since_);
  dry_since_.reset();
}

}  // namespace headroom::load
