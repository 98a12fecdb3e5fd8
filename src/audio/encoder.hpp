// Encoder: turns the samples of one answer into the bytes of the format the client asked for.
//
// It does not resample: samples arrive at the rate it was created for. Order of calls: head once, encode any
// number of times, finish once. Offered now: wav and pcm (signed 16 bits, little-endian, mono). mp3, opus,
// flac and aac are known names and refused with a sentence that says so. Single threaded: one object belongs
// to one answer. Errors: kUnsupported with context unsupported_format or unsupported_sample_rate.
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
// The name as in requests; an unknown one is kUnsupported and lists the known ones. Does not say whether it
// is offered.
base::Result<Format> parse_format(std::string_view name);
// kUnsupported when the format is known but not offered yet.
base::Result<Format> check_offered(Format format);

class Encoder {
 public:
  // streamed: the total length is unknown when head() is called.
  static base::Result<std::unique_ptr<Encoder>> create(Format format, int sample_rate, bool streamed);
  virtual ~Encoder() = default;

  // What comes before the first samples. `samples`: the total of the answer, ignored when streamed.
  virtual std::string head(std::optional<std::uint64_t> samples) = 0;
  virtual std::string encode(std::span<const float> samples) = 0;
  virtual std::string finish() = 0;
  virtual std::string_view content_type() const = 0;
};

}  // namespace headroom::audio
