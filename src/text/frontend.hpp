// Frontend: text in any bytes to segments of phoneme tokens, ready for the speech engine.
//
// Cleaning, markup, normalising, lexicon, espeak-ng for what no lexicon knows, punctuation and stress as the
// model was trained, segments of at most 510 tokens. It does not synthesise, schedule or limit the length of
// a text (the server does), and reads no clock or network. Units: pauses in seconds, characters are code
// points of the normalised text. Thread safety: immutable after create(); segments() may be called from many
// threads at once, and the same text gives the same phonemes whatever the concurrency (espeak-ng sits behind
// one mutex and a bounded cache). Errors: create(): kNotFound and kInvalidData naming the file. segments():
// kInvalidArgument with context "unspeakable_text" when nothing in the text can be spoken. Never a crash,
// whatever the bytes. Sources: the model directory's vocab.json and lexicon/ (misaki 0.9.4); tokens per
// segment: Kokoro's context of 512 less the two pads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "text/language.hpp"
#include "text/normalise.hpp"

namespace headroom::text {

struct TextSegment {
  std::string text;                  // what is spoken, normalised
  std::string phonemes;              // in the model's alphabet, punctuation and stress marks included
  std::vector<std::int64_t> tokens;  // 1..510, one per symbol of `phonemes`, without the pads
  std::size_t characters = 0;        // code points of `text`
  double pause_before_s = 0;         // only of the first segment: [pause:...] before the first word
  double pause_after_s = 0;          // both of the following, at speed 1
  double natural_pause_s = 0;        // of the join; 0 behind the last segment
  double asked_pause_s = 0;          // [pause:...]

  // At another speed the natural part shrinks or grows with the speech, the asked one stays.
  double pause_after_at(double speed) const { return natural_pause_s / speed + asked_pause_s; }
};

inline constexpr double kLongestTotalPauseS = 60.0;  // of all [pause:...] in one text
// What the [pause:...] of a text add up to, within that limit; also of one that has nothing else to say.
double asked_pauses(std::string_view utf8_text);

// Of speech at speed 1; see limits_at.
struct SegmentLimits {
  std::size_t most = 510;   // tokens; never exceeded
  std::size_t aim = 250;    // longer sentences are cut at a clause
  std::size_t first = 100;  // the first segment: short, so that audio starts early
  std::size_t tiny = 24;    // shorter sentences join their neighbour
};

// The same limits in seconds of audio: a token lasts 1/speed times as long. Faster speech keeps the limits of
// speed 1, since the time to the first audio grows with the tokens too.
SegmentLimits limits_at(const SegmentLimits& limits, double speed);

struct FrontendOptions {
  std::filesystem::path model_dir;  // holds vocab.json and lexicon/{us,gb}_{gold,silver}.json
  bool use_espeak = true;           // false: as if espeak-ng were not installed
  SegmentLimits limits;
};

class Frontend {
 public:
  static base::Result<std::unique_ptr<Frontend>> create(const FrontendOptions& options);
  ~Frontend();

  // `normalise`: kinds to leave as they are written; English only, the other languages are read by espeak-ng.
  // `speed`: of the speech, as the engine will be told; slow speech is cut into segments of fewer tokens.
  // `dropped_symbols`, where given, grows by what of the text nobody can speak and was left out.
  base::Result<std::vector<TextSegment>> segments(std::string_view utf8_text, Language language,
                                                  NormaliseOptions normalise = {}, double speed = 1.0,
                                                  std::size_t* dropped_symbols = nullptr) const;
  // One sentence for the log: which espeak-ng speaks unknown words, or what happens without it.
  std::string status() const;

 private:
  struct State;
  explicit Frontend(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headroom::text
