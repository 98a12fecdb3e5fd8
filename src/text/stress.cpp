// Stress marks and endings; see stress.hpp.
#include "text/stress.hpp"

#include <algorithm>

#include "text/utf8.hpp"

namespace headroom::text {
namespace {

constexpr std::u32string_view kVowels = U"AIOQWYaiuæɑɒɔəɛɜɪʊʌᵻɐ";
constexpr std::u32string_view kHeavy = U"AIOQWYʤʧ";
constexpr std::u32string_view kBeforeFlap = U"AIOWYiuæɑəɛɪɹʊʌ";

bool in(std::u32string_view set, char32_t c) { return set.find(c) != std::u32string_view::npos; }

std::u32string points(std::string_view s) {
  std::u32string out;
  for (std::size_t at = 0; at < s.size();) out.push_back(next_code_point(s, at));
  return out;
}

std::string without(std::string_view s, std::string_view mark) {
  std::string out(s);
  for (auto at = out.find(mark); at != std::string::npos; at = out.find(mark, at)) out.erase(at, mark.size());
  return out;
}

std::string exchanged(std::string_view s, std::string_view from, std::string_view to) {
  std::string out(s);
  for (auto at = out.find(from); at != std::string::npos; at = out.find(from, at + to.size()))
    out.replace(at, from.size(), to);
  return out;
}

std::string without_last(std::string_view s) {
  std::size_t end = s.size();
  do {
    --end;
  } while (end > 0 && (static_cast<unsigned char>(s[end]) & 0xC0U) == 0x80U);
  return std::string(s.substr(0, end));
}

}  // namespace

bool is_vowel(char32_t c) { return in(kVowels, c); }
bool has_primary(std::string_view s) { return s.find(kPrimary) != std::string_view::npos; }

std::string demote(std::string_view s) {
  return has_primary(s) ? exchanged(without(s, kSecondary), kPrimary, kSecondary) : std::string(s);
}

std::string with_stress_if_none(std::string_view s, std::string_view mark) {
  if (has_primary(s) || s.find(kSecondary) != std::string_view::npos) return std::string(s);
  for (std::size_t at = 0; at < s.size();) {
    const std::size_t from = at;
    if (!is_vowel(next_code_point(s, at))) continue;
    return std::string(s.substr(0, from)) + std::string(mark) + std::string(s.substr(from));
  }
  return std::string(s);
}

std::string promote(std::string_view s) {
  if (has_primary(s)) return std::string(s);
  if (s.find(kSecondary) != std::string_view::npos) return exchanged(s, kSecondary, kPrimary);
  return with_stress_if_none(s, kPrimary);
}

int stress_weight(std::string_view s) {
  int weight = 0;
  for (const char32_t c : points(s)) weight += in(kHeavy, c) ? 2 : 1;
  return weight;
}

std::string plural_sound(std::string_view stem, bool british) {
  const auto p = points(stem);
  if (p.empty()) return {};
  std::string out(stem);
  if (in(U"ptkfθ", p.back())) return out + "s";
  if (in(U"szʃʒʧʤ", p.back())) out += british ? "ɪ" : "ᵻ";
  return out + "z";
}

std::string past_sound(std::string_view stem, bool british) {
  const auto p = points(stem);
  if (p.empty()) return {};
  std::string out(stem);
  const char32_t last = p.back();
  if (in(U"pkfθʃsʧ", last)) return out + "t";
  if (last == U'd') return out + (british ? "ɪd" : "ᵻd");
  if (last != U't') return out + "d";
  if (british || p.size() < 2) return out + "ɪd";
  if (in(kBeforeFlap, p[p.size() - 2])) return without_last(stem) + "ɾᵻd";
  return out + "ᵻd";
}

std::string ing_sound(std::string_view stem, bool british) {
  const auto p = points(stem);
  if (p.empty()) return {};
  if (british && (p.back() == U'ə' || p.back() == U'ː')) return std::string(stem) + "ɹɪŋ";  // the linking r
  if (!british && p.size() > 1 && p.back() == U't' && in(kBeforeFlap, p[p.size() - 2]))
    return without_last(stem) + "ɾɪŋ";
  return std::string(stem) + "ɪŋ";
}

}  // namespace headroom::text
