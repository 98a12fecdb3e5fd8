// Mapping of espeak-ng's IPA to the model's alphabet; see ipa.hpp.
#include "text/ipa.hpp"

#include <span>

namespace headroom::text {
namespace {

struct Pair {
  std::string_view from;
  std::string_view to;
};

// In this order: longer spellings before their parts.
constexpr Pair kEnglish[] = {
    {"ʔˌn\u0329", "tn"}, {"ʔn\u0329", "tn"}, {"a^ɪ", "I"}, {"a^ʊ", "W"},   {"d^ʒ", "ʤ"},
    {"e^ɪ", "A"},        {"t^ʃ", "ʧ"},       {"ɔ^ɪ", "Y"}, {"ə^l", "ᵊl"},  {"ʲo", "jo"},
    {"ʲə", "jə"},        {"ʲ", ""},          {"ɚ", "əɹ"},  {"r", "ɹ"},     {"x", "k"},
    {"ç", "k"},          {"ɐ", "ə"},         {"ɬ", "l"},   {"\u0303", ""}, {"ɡ^z", "ɡz"},
};
constexpr Pair kAmerican[] = {{"o^ʊ", "O"},  {"e", "A"},   {"ɜːɹ", "ɜɹ"}, {"ɜː", "ɜɹ"},
                              {"ɪ^ə", "iə"}, {"ɪə", "iə"}, {"ː", ""}};
constexpr Pair kBritish[] = {{"e^ə", "ɛː"}, {"ə^ʊ", "Q"}, {"e", "A"}, {"i^ə", "ɪə"}, {"iə", "ɪə"}};
constexpr Pair kLast[] = {{"o", "ɔ"}, {"ɾ", "T"}, {"ʔ", "t"}, {"^", ""}, {"-", ""}, {"_", ""}};

constexpr Pair kForeign[] = {
    {"a^ɪ", "I"}, {"a^ʊ", "W"}, {"d^z", "ʣ"}, {"d^ʒ", "ʤ"}, {"e^ɪ", "A"}, {"o^ʊ", "O"}, {"ə^ʊ", "Q"},
    {"s^s", "S"}, {"t^s", "ʦ"}, {"t^ʃ", "ʧ"}, {"ɔ^ɪ", "Y"}, {"^", ""},    {"-", ""},    {"_", ""},
};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::size_t at = text.find(from);
  if (at == std::string::npos) return;
  std::string out;
  std::size_t done = 0;
  for (; at != std::string::npos; at = text.find(from, done)) {
    out.append(text, done, at - done);
    out += to;
    done = at + from.size();
  }
  out.append(text, done);
  text = std::move(out);
}

void apply(std::string& text, std::span<const Pair> pairs) {
  for (const auto& p : pairs) replace_all(text, p.from, p.to);
}

// "(en)" and the like: espeak-ng says where it switches language.
std::string without_flags(std::string_view ipa) {
  std::string out;
  bool inside = false;
  for (const char c : ipa) {
    if (c == '(') inside = true;
    if (!inside) out.push_back(c);
    if (c == ')') inside = false;
  }
  return out;
}

// A consonant with the syllabic mark below (U+0329) is spoken with a short schwa before it: n̩ -> ᵊn.
std::string open_syllabics(const std::string& text) {
  constexpr std::string_view kMark = "\u0329";
  std::string out;
  std::size_t start_of_last = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (text.compare(i, kMark.size(), kMark) == 0) {
      if (!out.empty()) out.insert(start_of_last, "ᵊ");
      i += kMark.size();
      continue;
    }
    start_of_last = out.size();
    do {
      out.push_back(text[i++]);
    } while (i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U);
  }
  return out;
}

std::string trimmed(const std::string& text) {
  const auto from = text.find_first_not_of(" \n\t");
  if (from == std::string::npos) return {};
  return text.substr(from, text.find_last_not_of(" \n\t") - from + 1);
}

}  // namespace

std::string english_from_ipa(std::string_view ipa, bool british) {
  std::string text = without_flags(ipa);
  apply(text, kEnglish);
  text = open_syllabics(text);
  apply(text, british ? std::span<const Pair>(kBritish) : std::span<const Pair>(kAmerican));
  apply(text, kLast);
  return trimmed(text);
}

std::string foreign_from_ipa(std::string_view ipa) {
  std::string text = without_flags(ipa);
  apply(text, kForeign);
  return trimmed(text);
}

}  // namespace headroom::text
