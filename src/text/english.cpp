// The sound of an English word; see english.hpp.
#include "text/english.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "text/stress.hpp"
#include "text/utf8.hpp"

namespace headroom::text {
namespace {

struct Extra {
  std::string_view word;
  std::string_view american;
  std::string_view british;
};
// Words of the trade that neither list has and that espeak-ng gets wrong. Lower case.
constexpr Extra kExtra[] = {{"ms", "mˌɪz", "mˌɪz"},
                            {"json", "ʤˈAsᵊn", "ʤˈAsᵊn"},
                            {"yaml", "jˈæməl", "jˈaməl"},
                            {"toml", "tˈɑməl", "tˈɒməl"},
                            {"gigahertz", "ɡˈɪɡəhˌɜɹts", "ɡˈɪɡəhˌɜːts"},
                            {"megahertz", "mˈɛɡəhˌɜɹts", "mˈɛɡəhˌɜːts"},
                            {"kilohertz", "kˈɪləhˌɜɹts", "kˈɪləhˌɜːts"},
                            {"résumé", "ɹˈɛzəmˌA", "ɹˈɛzjʊmˌA"},
                            {"kokoro", "kˈOkəɹˌO", "kˈQkəɹˌQ"},
                            {"houses", "hˈWzᵻz", "hˈWzɪz"},
                            {"tchaikovsky", "ʧIkˈɔfski", "ʧIkˈɒfski"},
                            {"guv", "ɡˈʌv", "ɡˈʌv"},
                            {"pi", "pˈI", "pˈI"},
                            {"linux", "lˈɪnəks", "lˈɪnəks"},
                            {"nginx", "ˈɛnʤɪn ˈɛks", "ˈɛnʤɪn ˈɛks"},
                            {"iphone", "ˈIfˌOn", "ˈIfˌQn"},
                            {"ios", "ˌIˌOˈɛs", "ˌIˌQˈɛs"},
                            {"hashtag", "hˈæʃtˌæɡ", "hˈaʃtˌaɡ"},
                            {"covid", "kˈOvɪd", "kˈQvɪd"},
                            {"github", "ɡˈɪthˌʌb", "ɡˈɪthˌʌb"},
                            {"blog", "blˈɑɡ", "blˈɒɡ"}};

// Written in capitals inside ordinary text these are initials, although they are also words.
constexpr std::array<std::string_view, 24> kInitials{"CO", "FAQ", "AA", "AD",  "BA", "DA",  "ER", "HR",
                                                     "ID", "IT",  "LA", "LED", "MA", "OS",  "PA", "PR",
                                                     "RE", "SI",  "US", "AM",  "PM", "ETA", "EU", "AR"};

bool all_letters(std::string_view w) {
  return !w.empty() && std::all_of(w.begin(), w.end(),
                                   [](char c) { return is_ascii_letter(static_cast<unsigned char>(c)); });
}
bool all_upper(std::string_view w) {
  return !w.empty() &&
         std::all_of(w.begin(), w.end(), [](char c) { return (c >= 'A' && c <= 'Z') || c == '\''; });
}
bool has_upper(std::string_view w) {
  return std::any_of(w.begin(), w.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}
bool ends_with(std::string_view w, std::string_view tail) {
  return w.size() >= tail.size() && w.substr(w.size() - tail.size()) == tail;
}

// The flap and the glottal stop of the lexicons are written T and t in the model's alphabet.
std::string model_alphabet(std::string_view phonemes) {
  std::string out;
  for (std::size_t at = 0; at < phonemes.size();) {
    const char32_t c = next_code_point(phonemes, at);
    if (c == kBad) continue;
    append_utf8(out, c == U'ɾ' ? U'T' : c == U'ʔ' ? U't' : c);
  }
  return out;
}

// Where a word is cut before its parts are looked up: hyphens, dots, and a capital after a small letter.
std::vector<std::string> word_parts(std::string_view word) {
  std::vector<std::string> out(1);
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char c = word[i];
    if (c == '-' || c == '.') {
      if (!out.back().empty()) out.emplace_back();
      continue;
    }
    const bool hump = i > 0 && c >= 'A' && c <= 'Z' && word[i - 1] >= 'a' && word[i - 1] <= 'z';
    const bool last_of_initials = i > 1 && i + 1 < word.size() && c >= 'A' && c <= 'Z' &&
                                  word[i - 1] >= 'A' && word[i - 1] <= 'Z' && word[i + 1] >= 'a' &&
                                  word[i + 1] <= 'z' && !(i + 2 == word.size() && word[i + 1] == 's');
    const bool digit_edge = i > 0 && (c >= '0' && c <= '9') != (word[i - 1] >= '0' && word[i - 1] <= '9');
    if ((hump || last_of_initials || digit_edge) && !out.back().empty()) out.emplace_back();
    out.back().push_back(c);
  }
  if (out.back().empty()) out.pop_back();
  return out;
}

}  // namespace

English::English(const Lexicon& lexicon, bool british, Fallback fallback)
    : lexicon_(lexicon), british_(british), fallback_(std::move(fallback)) {}

std::string English::word(std::string_view text, const WordContext& c) const {
  std::string_view w = text;
  // 'em and 'cause are words; any other leading quote is only a quote.
  while (!w.empty() && w.front() == '\'' && lexicon_.find(w) == nullptr) w.remove_prefix(1);
  while (ends_with(w, "'")) w.remove_suffix(1);  // dogs' sounds like dogs
  if (w.empty()) return {};
  if (const auto whole = simple(w, c)) return model_alphabet(*whole);
  const bool initials = w.find('.') != std::string_view::npos && w.find('-') == std::string_view::npos;
  if (initials) {
    std::string letters;
    for (const char ch : w) {
      if (is_ascii_letter(static_cast<unsigned char>(ch))) letters.push_back(ch);
    }
    return model_alphabet(spelled(letters));
  }
  const auto parts = word_parts(w);
  if (parts.size() > 1) return model_alphabet(joined(parts, c));
  return model_alphabet(part(w, c));
}

// A whole word without looking at its parts.
std::optional<std::string> English::simple(std::string_view w, const WordContext& c) const {
  const std::string low = lower(w);
  if (auto f = function_word(low, w, c)) return f;
  if (const auto reading = homograph(low, c); reading && !reading->say_as.empty() && reading->say_as != w)
    return simple(reading->say_as, c);
  for (const auto& e : kExtra) {
    if (e.word == low && (low != "ms" || w == "Ms")) return std::string(british_ ? e.british : e.american);
  }
  const bool capitals = all_upper(w) && w.size() > 1;
  if (capitals && !c.shouting && std::find(kInitials.begin(), kInitials.end(), w) != kInitials.end())
    return spelled(w);
  std::optional<std::string> sound = known(w, c);
  if (!sound && has_upper(w) && (capitals || lower(w.substr(1)) == w.substr(1))) {
    // A rare word in capitals is more likely initials: AWS is not "aws".
    const Lexicon::Entry* entry = lexicon_.find(low);
    const bool rare = entry == nullptr || !entry->gold;
    if (!(capitals && rare && w.size() <= 4 && !c.shouting)) sound = known(low, c);
  }
  if (!sound) {
    const std::string plain = strip_accents(w);
    if (plain != w) sound = known(plain, c);
    if (!sound && plain != w) sound = known(lower(plain), c);
  }
  if (!sound) {
    // APIs, GPUs, API's
    std::string_view stem = w;
    if (ends_with(stem, "s") && stem.size() > 2) stem.remove_suffix(ends_with(stem, "'s") ? 2 : 1);
    if (stem.size() < w.size() && stem.size() > 1 && all_upper(stem) && all_letters(stem)) {
      return plural_sound(lexicon_.find_exact(stem) != nullptr ? *known(stem, c) : spelled(stem), british_);
    }
    if (capitals && all_letters(w) && w.size() <= 5 && !c.shouting) return spelled(w);
    return std::nullopt;
  }
  // The training data marks written capitals: a capital gives an unstressed word some stress, all capitals
  // full stress.
  if (capitals && !c.shouting) return promote(*sound);
  if (has_upper(w) && !c.shouting) return with_stress_if_none(*sound, kSecondary);
  return sound;
}

std::optional<std::string> English::function_word(std::string_view low, std::string_view w,
                                                  const WordContext& c) const {
  const bool before_vowel = c.next_vowel.value_or(false);
  if (w == "a" ||
      (w == "A" && c.next_vowel.has_value() && !c.next.empty() && c.next.size() > 1 && c.previous.empty())) {
    return c.next_vowel.has_value() ? "ɐ" : "ˈA";
  }
  if (w == "A") return c.shouting && c.next_vowel.has_value() ? "ɐ" : "ˈA";
  if (low == "an") return "ɐn";
  if (w == "am" && c.next_vowel.has_value()) return "ɐm";
  if (w == "I") return "ˌI";
  if (low == "to") return !c.next_vowel ? (british_ ? "tuː" : "tu") : before_vowel ? "tʊ" : "tə";
  if (low == "in" && w != "IN") return c.next_vowel ? "ɪn" : "ˈɪn";
  if (low == "the") return before_vowel ? "ði" : "ðə";
  if (low == "vs") return listed("versus", c);
  return std::nullopt;
}

std::optional<std::string> English::listed(std::string_view word, const WordContext& c) const {
  const Lexicon::Entry* entry = lexicon_.find(word);
  if (entry == nullptr) return std::nullopt;
  if (!entry->variants) return std::string(entry->value);
  bool has = false;
  if (!c.next_vowel) {
    if (const auto v = Lexicon::variant(*entry, "None", &has); v && has) return std::string(*v);
  }
  const std::string_view role = guess_role(lower(word), c);
  auto v = Lexicon::variant(*entry, role, &has);
  if (!has && (role == "VBD" || role == "VBN" || role == "VBP")) v = Lexicon::variant(*entry, "VERB", &has);
  if (!has || !v) v = Lexicon::variant(*entry, "DEFAULT", &has);
  if (!v) return std::nullopt;
  return std::string(*v);
}

std::optional<std::string> English::known(std::string_view word, const WordContext& c) const {
  if (auto sound = listed(word, c)) return sound;
  return inflected(word, c);
}

// Forms the lists leave out: 's, plurals, third person, -ed, -ing.
std::optional<std::string> English::inflected(std::string_view w, const WordContext& c) const {
  const auto stem = [&](std::size_t cut, std::string_view add = {}) -> std::optional<std::string> {
    if (w.size() < cut + 2) return std::nullopt;
    return listed(std::string(w.substr(0, w.size() - cut)) + std::string(add), c);
  };
  std::optional<std::string> s;
  if (ends_with(w, "'s")) {
    s = stem(2);
    if (!s && w.size() > 4) s = inflected(w.substr(0, w.size() - 2), c);
    return s ? std::optional(plural_sound(*s, british_)) : std::nullopt;
  }
  if (ends_with(w, "s") && !ends_with(w, "ss") && w.size() > 2) {
    s = stem(1);
    if (!s && ends_with(w, "ies") && w.size() > 4) s = stem(3, "y");
    if (!s && ends_with(w, "es") && w.size() > 4) s = stem(2);
    if (s) return plural_sound(*s, british_);
  }
  if (ends_with(w, "ed") && w.size() > 3) {
    s = stem(2);
    if (!s) s = stem(1);
    if (!s && ends_with(w, "ied")) s = stem(3, "y");
    if (!s && w.size() > 5 && w[w.size() - 3] == w[w.size() - 4]) s = stem(3);
    if (s) return past_sound(*s, british_);
  }
  if (ends_with(w, "ing") && w.size() > 4) {
    s = w.size() > 5 ? stem(3) : std::nullopt;
    if (!s) s = stem(3, "e");
    if (!s && w.size() > 6 && w[w.size() - 4] == w[w.size() - 5]) s = stem(4);
    if (s) return ing_sound(*s, british_);
  }
  return std::nullopt;
}

// One part of a compound, or a word nobody knows.
std::string English::part(std::string_view w, const WordContext& c) const {
  if (auto sound = simple(w, c)) return *sound;
  return unknown(w);
}

std::string English::joined(const std::vector<std::string>& parts, const WordContext& c) const {
  std::vector<std::string> sounds;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    WordContext inner = c;
    if (i + 1 < parts.size()) inner.next_vowel = false;  // inside a compound nothing is final
    std::string sound = parts[i].size() == 1 && is_ascii_letter(static_cast<unsigned char>(parts[i][0]))
                            ? spelled(parts[i])
                            : part(parts[i], inner);
    if (!sound.empty()) sounds.push_back(std::move(sound));
  }
  // A compound has about one main stress for two parts; the lighter parts give theirs up.
  std::vector<std::size_t> order;
  std::size_t primaries = 0;
  for (std::size_t i = 0; i < sounds.size(); ++i) {
    order.push_back(i);
    primaries += has_primary(sounds[i]) ? 1 : 0;
  }
  if (sounds.size() == 2 && parts[0].size() == 1) {
    sounds[1] = demote(sounds[1]);
  } else if (sounds.size() > 1 && primaries > (sounds.size() + 1) / 2) {
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const auto key = [&](std::size_t i) {
        return std::pair(has_primary(sounds[i]), stress_weight(sounds[i]));
      };
      return key(a) < key(b);
    });
    for (std::size_t i = 0; i < order.size() / 2; ++i) sounds[order[i]] = demote(sounds[order[i]]);
  }
  std::string out;
  for (const auto& s : sounds) out += s;
  return out;
}

// Letter names, the last one stressed: "GPT" -> ˌʤˌipˌitˈi as one word.
std::string English::spelled(std::string_view letters) const {
  static constexpr std::array<std::string_view, 10> kDigits{"zero", "one", "two",   "three", "four",
                                                            "five", "six", "seven", "eight", "nine"};
  constexpr std::size_t kGroup = 8;  // longer runs get room to breathe
  std::string out;
  std::string group;
  std::size_t in_group = 0;
  const auto flush = [&] {
    const auto at = group.rfind(kSecondary);
    if (at != std::string::npos) group.replace(at, kSecondary.size(), kPrimary);
    if (!out.empty() && !group.empty()) out.push_back(' ');
    out += group;
    group.clear();
    in_group = 0;
  };
  for (const char raw : letters) {
    const char ch = static_cast<char>(raw >= 'a' && raw <= 'z' ? raw - 32 : raw);
    const Lexicon::Entry* entry = nullptr;
    if (ch >= '0' && ch <= '9') {
      entry = lexicon_.find_exact(kDigits[static_cast<std::size_t>(ch - '0')]);
    } else if (ch >= 'A' && ch <= 'Z') {
      entry = lexicon_.find_exact(std::string_view(&ch, 1));
    }
    if (entry == nullptr) continue;
    const auto sound = Lexicon::variant(*entry, "DEFAULT");
    if (!sound) continue;
    // British Z is zed whatever the list says.
    group += demote(with_stress_if_none(ch == 'Z' && british_ ? std::string_view("zˈɛd") : *sound, kPrimary));
    if (++in_group == kGroup) flush();
  }
  flush();
  return out;
}

std::string English::unknown(std::string_view w) const {
  // Only Latin letters can be pronounced here; other scripts have no sound in an English voice.
  for (std::size_t at = 0; at < w.size();) {
    const char32_t c = next_code_point(w, at);
    if (!is_latin_letter(c) && c != U'\'' && !is_ascii_digit(c)) return {};
  }
  if (w.size() == 1 || (w.find_first_of("0123456789") != std::string_view::npos))
    return spelled(strip_accents(w));
  constexpr std::size_t kPiece =
      40;  // espeak-ng's own limit on one word is far above; nobody speaks longer ones
  std::string out;
  const std::string low = lower(w);
  for (std::size_t at = 0; at < low.size();) {
    std::size_t end = std::min(low.size(), at + kPiece);
    while (end < low.size() && (static_cast<unsigned char>(low[end]) & 0xC0U) == 0x80U) ++end;
    const std::string_view piece = std::string_view(low).substr(at, end - at);
    std::optional<std::string> sound = fallback_ ? fallback_(piece) : std::nullopt;
    if (!sound || sound->empty()) sound = spelled(strip_accents(piece));
    if (!out.empty()) out.push_back(' ');
    out += *sound;
    at = end;
  }
  return out;
}

}  // namespace headroom::text
