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
constexpr int kByCharacter = 1;  // POS_CHARACTER

// Words of a second language ("(en)read(fr)") are read by a second translator, which keeps what it expects
// next ("read" as a past after "be") from one text to the next, whatever the voice. Only another second
// language replaces it, and every voice takes Hangul for Korean.
constexpr std::string_view kSwitch = "(^";
constexpr const char* kOtherLanguage = "한";

int drop_samples(short*, int, void*) { return 0; }

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
  synth_ = reinterpret_cast<decltype(synth_)>(dlsym(library, "espeak_Synth"));
  using SetCallback = void (*)(int (*)(short*, int, void*));
  const auto set_callback = reinterpret_cast<SetCallback>(dlsym(library, "espeak_SetSynthCallback"));
  if (initialize == nullptr || text_to_phonemes_ == nullptr || set_voice_ == nullptr || synth_ == nullptr ||
      set_callback == nullptr) {
    status_ = "libespeak-ng.so.1 lacks the functions needed: unknown words are spelled letter by letter";
    return;
  }
  if (initialize(kSynchronous, 0, nullptr, kDontExit) < 0) {
    status_ = "espeak-ng found no data: unknown words are spelled letter by letter; install espeak-ng-data";
    return;
  }
  set_callback(&drop_samples);
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

bool Espeak::change_voice_locked(const char* voice) {
  voice_.clear();
  if (set_voice_(voice) != 0) return false;
  voice_ = voice;
  // A change of voice queues a copy of it (1.3 KB) for the library's own synthesis, which alone frees it.
  // Asked for phonemes only, it would keep one for every change; speaking a space empties the queue.
  constexpr std::string_view kSpace(" ", 2);  // with its end
  synth_(kSpace.data(), kSpace.size(), 0, kByCharacter, 0, kUtf8, nullptr, nullptr);
  return true;
}

std::string Espeak::speak_locked(const std::string& text) {
  std::string out;
  const void* at = text.c_str();
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

std::optional<std::string> Espeak::ipa(std::string_view text, const char* voice) {
  const std::string input(text.substr(0, text.find('\0')));
  std::lock_guard lock(mutex_);
  if (!tried_) load_locked();
  if (!ready_) return std::nullopt;
  if (voice_ != voice && !change_voice_locked(voice)) return std::nullopt;
  if (switched_) speak_locked(kOtherLanguage);
  std::string out = speak_locked(input);
  switched_ = out.find(kSwitch) != std::string::npos;
  return out;
}

}  // namespace headroom::text
