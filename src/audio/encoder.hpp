// Encoder: turns the samples of one answer into the bytes of the format the client asked for.
//
// wav and pcm (signed 16 bits, little-endian, mono) are written here; mp3, opus (in Ogg), flac and aac (ADTS)
// go through FFmpeg. It does not change loudness, and resamples only for Opus, which knows 8, 16, 24 and
// 48 kHz but neither 22,050 nor 44,100 Hz: those are encoded at 24 and 48 kHz, and the stream says which rate
// was asked for. Order of calls: head once, encode any number of times, finish once; the answer is their
// concatenation. Streamed: each call returns what is ready. Whole: compressed formats return everything from
// finish(), with true lengths in the header where the container has a field for it.
//
// Length: a decoder gets the PCM length, exact for wav, pcm, flac, opus and a whole mp3. ADTS and a streamed
// mp3 cannot say that their first samples are the codec's own delay; there up to that many silent samples
// (below -50 dBFS) at the start of the answer give way to it, and a silent end is cut to whole frames, so
// that the length is within one codec frame. Sound itself is never cut: an answer without any silence at its
// ends may be one frame longer.
//
// Deterministic: the same samples give the same bytes, however they were cut into pieces. Units: Hz, samples.
// Single threaded: one object belongs to one answer. Errors: kUnsupported with context unsupported_format or
// unsupported_sample_rate; kInternal with context "encoder" when FFmpeg fails.
// Sources: RFC 7845 (Opus in Ogg), RFC 9639 (FLAC), ISO/IEC 14496-3 (ADTS), the LAME info tag.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace headroom::audio {

enum class Format { kWav, kPcm, kMp3, kOpus, kFlac, kAac };

std::string_view format_name(Format format);
// The media type of the format's answers: "audio/mpeg". The same for streamed and whole.
std::string_view content_type(Format format);
// The name as in requests; an unknown one is kUnsupported and lists the known ones.
base::Result<Format> parse_format(std::string_view name);
// kUnsupported when this build's FFmpeg has no encoder for it.
base::Result<Format> check_offered(Format format);
// Samples per codec frame at this rate: what "within one frame" means. 1 for wav and pcm; for opus counted at
// the rate it is encoded at.
std::size_t frame_samples(Format format, int sample_rate);

class Encoder {
 public:
  // streamed: the total length is unknown when head() is called.
  static base::Result<std::unique_ptr<Encoder>> create(Format format, int sample_rate, bool streamed);
  virtual ~Encoder() = default;

  // What comes before the first samples. `samples`: the total of the answer, ignored when streamed.
  virtual std::string head(std::optional<std::uint64_t> samples) = 0;
  virtual base::Result<std::string> encode(std::span<const float> samples) = 0;
  virtual base::Result<std::string> finish() = 0;
  virtual std::size_t kept_bytes() const { return 0; }  // coded, and returned by finish() only
};

}  // namespace headroom::audio
