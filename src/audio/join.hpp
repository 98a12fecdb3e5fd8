// Joining the segments of one utterance: silence trimmed at the joins, a natural pause put there, no clicks.
//
// The model starts and ends each segment with silence of its own, whose length varies; here a join is as long
// as the text says it should be. It does not resample, change loudness or crossfade speech. Units: samples at
// `sample_rate`, seconds. Pure, safe from any thread, no errors.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace headroom::audio {

struct JoinOptions {
  int sample_rate = 24000;
  float silence_level = 0.00316F;  // -50 dBFS: below this nothing is heard
  double first_lead_s = 0.10;      // at most this much silence before the first segment's first sound
  double keep_lead_s = 0.03;       // silence kept before the first sound, so that soft onsets survive
  double keep_tail_s = 0.06;       // kept after the last sound: the decay of the voice
  double fade_s = 0.005;           // raised cosine where the signal was cut
};

struct JoinPlace {
  bool first = true;  // only silence beyond first_lead_s goes: nobody waits for the model's own 0.3 s
  bool last = true;   // the model's own tail stays, no pause is added
  // Asked for in the text before its first word, and not yet in the pause of the segment before.
  double pause_before_s = 0.0;
  double pause_after_s = 0.0;  // silence between this segment's last sound and the next one's first
};

// The segment as it is to be played. A segment without any sound above the level is returned whole.
std::vector<float> shape_segment(std::span<const float> samples, const JoinPlace& place,
                                 const JoinOptions& options = {});

}  // namespace headroom::audio
