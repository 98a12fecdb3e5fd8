// Decodes an encoded answer with FFmpeg, as a client would, for tests. No FFmpeg type appears.
#pragma once

#include <string>
#include <vector>

namespace headroom::audio {

struct Decoded {
  std::string codec;  // "mp3"; empty when nothing could be decoded
  int rate = 0;
  std::vector<float> samples;
};

Decoded decode_for_test(const std::string& bytes, const char* container);

}  // namespace headroom::audio
