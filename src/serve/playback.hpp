// Playback: how far a client that plays its audio as it comes has got, and so when its next audio is due.
//
// First segment: the promise, arrival + SLO. Later ones: the moment at which playback would run dry (SPEC
// 1.3). A client that waits for the whole answer plays nothing; its segments follow each other as if it did,
// so that a long answer does not hold up the first words of others. Single threaded; pure; no errors.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/clock.hpp"

namespace headroom::serve {

class Playback {
 public:
  Playback(base::SteadyTime arrival, base::Duration slo) : promised_(arrival + slo), slo_(slo) {}

  // Audio goes to the client. Returns how long before playback ran dry it was there; nothing for the first,
  // and nothing where it had run dry through no fault of ours.
  std::optional<base::Duration> add(base::SteadyTime now, double audio_s) {
    std::optional<base::Duration> margin;
    if (!first_audio_)
      first_audio_ = end_ = now;
    else if (!resume_by_)
      margin = end_ - now;
    resume_by_.reset();
    end_ = std::max(end_, now) + base::from_s(audio_s);
    return margin;
  }
  // The next segment can be queued only now, for its text came late or its client took the last one late. If
  // playback has run dry meanwhile there is a new promise: a deadline in the past would put it before
  // everybody else.
  void resume(base::SteadyTime now) {
    if (first_audio_ && now > end_) resume_by_ = now + slo_;
  }
  // Of the next segment; `spoken_s`: the audio there is so far, sent or not.
  base::SteadyTime deadline(double spoken_s) const {
    if (resume_by_) return *resume_by_;
    if (first_audio_) return end_ - kReserve;
    return promised_ + base::from_s(spoken_s);
  }
  std::optional<base::SteadyTime> first_audio() const { return first_audio_; }

 private:
  // A later segment should be there this long before playback runs dry: its own synthesis, and the way to the
  // client, take time after it was chosen.
  static constexpr auto kReserve = std::chrono::milliseconds(500);

  base::SteadyTime promised_;
  base::Duration slo_;
  std::optional<base::SteadyTime> first_audio_;
  base::SteadyTime end_{};                     // when the client runs dry, once there is audio
  std::optional<base::SteadyTime> resume_by_;  // the new promise
};

}  // namespace headroom::serve
