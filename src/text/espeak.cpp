// libespeak-ng behind dlopen and one mutex; see espeak.hpp.
#include "text/espeak.hpp"

#include <dlfcn.h>

namespace headroom::text {
namespace {

// Values of espeak-ng's speak_lib.h, version 1.51.
constexpr int kSynchronous = 2;    // AUDIO_OUTPUT_SYNCHRONOUS: no audio device is opened
constexpr int kDontExit = 0x8000;  // espeakINITIALIZE_DONT_EXIT
constexpr int kUtf8 = 1;           // espeakCHARS_UTF8
constexpr int kIpaWithTie = 0x02 | 0x80 | ('^' << 8);

}  // namespace

Espeak& Espeak::instance() {
  static Espeak espeak;
  return espeak;
}

void Espeak::load_locked() {
  tried_ = true;
  void* library = dlopen("libespeak-ng.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    status_ = "espeak-ng is not installed: unknown words are spelled letter by letter; install libespeak-ng1";
    return;
  }
  using Initialize = int (*)(int, int, const char*, int);
  using Info = const char* (*)(const char**);
  const auto initialize = reinterpret_cast<Initialize>(dlsym(library, "espeak_Initialize"));
  const auto info = reinterpret_cast<Info>(dlsym(library, "espeak_Info"));
  text_to_phonemes_ = reinterpret_cast<decltype(text_to_phonemes_)>(dlsym(library, "espeak_TextToPhonemes"));
  set_voice_ = reinterpret_cast<decltype(set_voice_)>(dlsym(library, "espeak_SetVoiceByName"));
  if (initialize == nullptr || text_to_phonemes_ == nullptr || set_voice_ == nullptr) {
    status_ = "libespeak-ng.so.1 lacks the functions needed: unknown words are spelled letter by letter";
    return;
  }
  if (initialize(kSynchronous, 0, nullptr, kDontExit) < 0) {
    status_ = "espeak-ng found no data: unknown words are spelled letter by letter; install espeak-ng-data";
    return;
  }
  ready_ = true;
  const char* path = nullptr;
  status_ = std::string("espeak-ng ") + (info != nullptr ? info(&path) : "");
}

bool Espeak::available() {
  std::lock_guard lock(mutex_);
  if (!tried_) load_locked();
  return ready_;
}

std::string Espeak::status() {
  std::lock_guard lock(mutex_);
  if (!tried_) load_locked();
  return status_;
}

std::optional<std::string> Espeak::ipa(std::string_view text, const char* voice) {
  const std::string input(text.substr(0, text.find('\0')));
  std::lock_guard lock(mutex_);
  if (!tried_) load_locked();
  if (!ready_) return std::nullopt;
  if (voice_ != voice) {
    if (set_voice_(voice) != 0) {
      voice_.clear();
      return std::nullopt;
    }
    voice_ = voice;
  }
  std::string out;
  const void* at = input.c_str();
  while (at != nullptr) {
    const void* before = at;
    const char* part = text_to_phonemes_(&at, kUtf8, kIpaWithTie);
    if (part != nullptr && *part != '\0') {
      if (!out.empty()) out.push_back(' ');
      out += part;
    }
    if (at == before) break;  // no progress: never loop on text it cannot read
  }
  return out;
}

}  // namespace headroom::text
