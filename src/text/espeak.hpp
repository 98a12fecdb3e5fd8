// Espeak: phonemes for words no lexicon knows and for the languages that have none, through libespeak-ng.
//
// The library is GPL-3 and optional: it is opened at run time (dlopen) with prototypes of our own, never
// linked. Its state is global, so there is one Espeak per process and one mutex; callers may be on any
// thread. Results depend on the text and voice alone. Answers are IPA with '^' tying the parts of one sound;
// mapping it to the model's alphabet is done by ipa.hpp.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace headroom::text {

class Espeak {
 public:
  static Espeak& instance();

  bool available();      // loads on first use
  std::string status();  // one sentence: which library and version, or why there is none
  // voice: espeak-ng's name, "en-us". Empty optional: not available or the voice is missing.
  std::optional<std::string> ipa(std::string_view text, const char* voice);

 private:
  Espeak() = default;
  void load_locked();
  bool change_voice_locked(const char* voice);
  std::string speak_locked(const std::string& text);

  std::mutex mutex_;
  bool tried_ = false;
  bool ready_ = false;
  bool switched_ = false;  // the last text had words of a second language
  std::string status_;
  std::string voice_;
  const char* (*text_to_phonemes_)(const void**, int, int) = nullptr;
  int (*set_voice_)(const char*) = nullptr;
  int (*synth_)(const void*, std::size_t, unsigned, int, unsigned, unsigned, unsigned*, void*) = nullptr;
};

}  // namespace headroom::text
