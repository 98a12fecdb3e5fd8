// Internal to audio: the encoders that FFmpeg provides (mp3, opus, flac, aac). Not for other modules.
//
// See encoder.hpp for behaviour; here only what chooses between the two kinds. No FFmpeg type appears.
#pragma once

#include <cstddef>
#include <memory>

#include "audio/encoder.hpp"

namespace headroom::audio {

bool ffmpeg_has(Format format);
std::size_t ffmpeg_frame_samples(Format format, int sample_rate);
// sample_rate must be one of kSampleRates.
base::Result<std::unique_ptr<Encoder>> make_ffmpeg_encoder(Format format, int sample_rate, bool streamed);

}  // namespace headroom::audio
