// Names of languages; see language.hpp.
#include "text/language.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace headroom::text {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

struct Row {
  Language language;
  std::string_view name;
  char letter;  // of voice names
  std::array<std::string_view, 4> aliases;
};
constexpr std::array<Row, 7> kRows{{
    {Language::kAmerican, "en-us", 'a', {"en", "english", "american", "eng"}},
    {Language::kBritish, "en-gb", 'b', {"en-uk", "british", "gb", "uk"}},
    {Language::kSpanish, "es", 'e', {"es-es", "spanish", "spa", "es-mx"}},
    {Language::kFrench, "fr", 'f', {"fr-fr", "french", "fra", "fr-ca"}},
    {Language::kHindi, "hi", 'h', {"hi-in", "hindi", "hin", ""}},
    {Language::kItalian, "it", 'i', {"it-it", "italian", "ita", ""}},
    {Language::kPortuguese, "pt", 'p', {"pt-br", "portuguese", "por", "pt-pt"}},
}};

struct Refused {
  std::string_view name;
  char letter;
  std::array<std::string_view, 4> aliases;
};
constexpr std::array<Refused, 2> kRefused{{
    {"Japanese", 'j', {"ja", "ja-jp", "japanese", "jpn"}},
    {"Mandarin Chinese", 'z', {"zh", "zh-cn", "chinese", "cmn"}},
}};

tl::unexpected<base::Error> refuse(std::string_view name) {
  return fail(ErrorCode::kUnsupported,
              std::string(name) + " is not offered; use en-us, en-gb, es, fr, hi, it or pt",
              "unsupported_language");
}

std::string folded(std::string_view name) {
  std::string out(name.substr(0, 32));
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_') c = '-';
  }
  return out;
}

template <class R>
bool matches(const R& row, std::string_view name) {
  return (name.size() == 1 && name[0] == row.letter) ||
         (!name.empty() && std::find(row.aliases.begin(), row.aliases.end(), name) != row.aliases.end());
}

}  // namespace

Result<Language> parse_language(std::string_view name) {
  const std::string n = folded(name);
  for (const auto& row : kRows) {
    if (n == row.name || matches(row, n)) return row.language;
  }
  for (const auto& row : kRefused) {
    if (matches(row, n)) return refuse("language '" + n + "' (" + std::string(row.name) + ")");
  }
  std::string shown;
  for (const char c : n) shown += (c > 0x20 && c < 0x7F) ? c : '?';
  return refuse("language '" + shown + "'");
}

Result<Language> language_of_voice(std::string_view voice) {
  // Voice names look like "af_heart"; anything else is some alias and speaks American English.
  if (voice.size() < 3 || voice[2] != '_') return Language::kAmerican;
  for (const auto& row : kRows) {
    if (voice[0] == row.letter) return row.language;
  }
  for (const auto& row : kRefused) {
    if (voice[0] == row.letter) {
      return refuse(std::string(row.name) + ", the language of voice '" + std::string(voice.substr(0, 40)) +
                    "',");
    }
  }
  return Language::kAmerican;
}

std::string_view language_name(Language language) {
  for (const auto& row : kRows) {
    if (row.language == language) return row.name;
  }
  return "en-us";
}

bool is_english(Language language) {
  return language == Language::kAmerican || language == Language::kBritish;
}

}  // namespace headroom::text
