// Decoder: samples out of an mp3 or Ogg Opus stream as its bytes arrive, for whoever listens while it
// streams.
//
// Keeps what a frame needs and no more; gives the first channel only. Not for other containers, not for
// seeking; wav and pcm need no decoder. Bytes that are no frame are skipped (an mp3 tag, a gap). The first
// few milliseconds that a codec adds are among the samples (mp3) or cut off (Opus pre-skip). No FFmpeg type
// appears. Single threaded. Errors of create(): kUnsupported (another format, or FFmpeg lacks the codec).
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "audio/encoder.hpp"
#include "base/result.hpp"

namespace headroom::audio {

class Decoder {
 public:
  static base::Result<std::unique_ptr<Decoder>> create(Format format);
  virtual ~Decoder() = default;
  // Appends what became whole, in -1..1.
  virtual void feed(std::string_view bytes, std::vector<float>& out) = 0;
  virtual void finish(std::vector<float>& out) = 0;  // what the codec still holds
  virtual int sample_rate() const = 0;               // 0: not known yet
};

// Which of the two a stream is, by its first bytes (4 are enough): "OggS"; "ID3" or an MPEG sync word.
std::optional<Format> sniff_encoded(std::string_view first_bytes);

}  // namespace headroom::audio
