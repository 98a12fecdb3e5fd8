// The frontend's wiring; see frontend.hpp.
#include "text/frontend.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/guarded.hpp"
#include "text/clean.hpp"
#include "text/english.hpp"
#include "text/espeak.hpp"
#include "text/ipa.hpp"
#include "text/lexicon.hpp"
#include "text/segmenter.hpp"
#include "text/tokens.hpp"
#include "text/units.hpp"
#include "text/vocab.hpp"

namespace headroom::text {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

// Answers of espeak-ng, bounded so that memory stays flat: when full it starts anew.
class PhonemeCache {
 public:
  std::optional<std::string> find(const std::string& key) const {
    return words_.with([&](const Map& m) -> std::optional<std::string> {
      const auto at = m.find(key);
      return at == m.end() ? std::nullopt : std::optional(at->second);
    });
  }
  void store(const std::string& key, const std::string& value) {
    constexpr std::size_t kMost = 8192;
    words_.with([&](Map& m) {
      if (m.size() >= kMost) m.clear();
      m.emplace(key, value);
    });
  }

 private:
  using Map = std::unordered_map<std::string, std::string>;
  base::Guarded<Map> words_;
};

const char* espeak_voice(Language language) {
  switch (language) {
    case Language::kAmerican:
      return "en-us";
    case Language::kBritish:
      return "en";  // British; the library has no voice of the name "en-gb"
    case Language::kSpanish:
      return "es";
    case Language::kFrench:
      return "fr";
    case Language::kHindi:
      return "hi";
    case Language::kItalian:
      return "it";
    case Language::kPortuguese:
      return "pt-br";
  }
  return "en-us";
}

}  // namespace

SegmentLimits limits_at(const SegmentLimits& limits, double speed) {
  const double share = std::min(speed, 1.0);
  const auto scaled = [share](std::size_t tokens) {
    return std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(tokens) * share));
  };
  return {scaled(limits.most), scaled(limits.aim), scaled(limits.first), scaled(limits.tiny)};
}

double asked_pauses(std::string_view utf8_text) {
  double total = 0.0;
  for (const auto& piece : split_markup(clean(utf8_text).text)) total += piece.pause_s;
  return total;
}

struct Frontend::State {
  State(const FrontendOptions& o, Vocab v, Lexicon american, Lexicon british)
      : options(o),
        vocab(std::move(v)),
        us_lexicon(std::move(american)),
        gb_lexicon(std::move(british)),
        us_normaliser(false),
        gb_normaliser(true),
        us(us_lexicon, false, [this](std::string_view w) { return fallback(w, false); }),
        gb(gb_lexicon, true, [this](std::string_view w) { return fallback(w, true); }) {}

  std::optional<std::string> fallback(std::string_view word, bool british_english) const {
    if (!options.use_espeak) return std::nullopt;
    std::string key = (british_english ? "b:" : "a:") + std::string(word);
    if (auto cached = cache.find(key)) return cached;
    const Language language = british_english ? Language::kBritish : Language::kAmerican;
    const auto ipa = Espeak::instance().ipa(word, espeak_voice(language));
    if (!ipa) return std::nullopt;
    std::string sound = english_from_ipa(*ipa, british_english);
    cache.store(key, sound);
    return sound;
  }

  Units english(const std::vector<Piece>& pieces, bool british_english, NormaliseOptions kinds,
                std::size_t& dropped) const {
    const Normaliser& normaliser = british_english ? gb_normaliser : us_normaliser;
    std::vector<Token> tokens;
    for (const auto& piece : pieces) {
      if (piece.kind == Token::Kind::kWord) {
        dropped += tokenise(normaliser.apply(piece.text, kinds), tokens);
        continue;
      }
      Token t;
      t.kind = piece.kind;
      t.text = piece.text;
      t.phonemes = piece.phonemes;
      t.pause_s = piece.pause_s;
      t.space_before = true;
      tokens.push_back(std::move(t));
    }
    Units units = english_units(tokens, british_english ? gb : us);
    dropped += units.dropped;
    return units;
  }

  Units foreign(const std::vector<Piece>& pieces, Language language, std::size_t& dropped) const {
    const ClausePhonemes phonemes = [&](std::string_view clause) -> std::string {
      const auto ipa = Espeak::instance().ipa(clause, espeak_voice(language));
      return ipa ? foreign_from_ipa(*ipa) : std::string{};
    };
    Units units = foreign_units(pieces, language == Language::kHindi, phonemes);
    dropped += units.dropped;
    return units;
  }

  FrontendOptions options;
  Vocab vocab;
  Lexicon us_lexicon;
  Lexicon gb_lexicon;
  Normaliser us_normaliser;
  Normaliser gb_normaliser;
  English us;
  English gb;
  mutable PhonemeCache cache;
};

Frontend::Frontend(std::unique_ptr<State> state) : state_(std::move(state)) {}
Frontend::~Frontend() = default;

Result<std::unique_ptr<Frontend>> Frontend::create(const FrontendOptions& options) {
  auto vocab = Vocab::load(options.model_dir / "vocab.json");
  if (!vocab) return tl::unexpected(vocab.error());
  const auto words = options.model_dir / "lexicon";
  auto us = Lexicon::load(words / "us_gold.json", words / "us_silver.json");
  if (!us) return tl::unexpected(us.error());
  auto gb = Lexicon::load(words / "gb_gold.json", words / "gb_silver.json");
  if (!gb) return tl::unexpected(gb.error());
  auto state = std::make_unique<State>(options, std::move(*vocab), std::move(*us), std::move(*gb));
  if (options.use_espeak) Espeak::instance().available();  // loaded now, not within the first request
  return std::unique_ptr<Frontend>(new Frontend(std::move(state)));
}

Result<std::vector<TextSegment>> Frontend::segments(std::string_view utf8_text, Language language,
                                                    NormaliseOptions normalise, double speed,
                                                    std::size_t* dropped_symbols) const {
  if (!is_english(language) && !(state_->options.use_espeak && Espeak::instance().available())) {
    return fail(
        ErrorCode::kUnsupported,
        "language '" + std::string(language_name(language)) + "' needs espeak-ng; install libespeak-ng1",
        "unsupported_language");
  }
  CleanText cleaned = clean(utf8_text);
  std::size_t dropped = cleaned.dropped;
  const std::vector<Piece> pieces = split_markup(cleaned.text);
  const Units units = is_english(language)
                          ? state_->english(pieces, language == Language::kBritish, normalise, dropped)
                          : state_->foreign(pieces, language, dropped);
  std::vector<TextSegment> out =
      cut_into_segments(units, state_->vocab, limits_at(state_->options.limits, speed), dropped);
  if (dropped_symbols != nullptr) *dropped_symbols += dropped;
  if (out.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "the text holds nothing that can be spoken in " + std::string(language_name(language)) +
                    "; send at least one word or number",
                "unspeakable_text");
  }
  return out;
}

std::string Frontend::status() const {
  return state_->options.use_espeak ? Espeak::instance().status()
                                    : "espeak-ng is switched off: unknown words are spelled letter by letter";
}

}  // namespace headroom::text
