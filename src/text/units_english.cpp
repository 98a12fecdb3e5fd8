// English tokens to units: each word's sound depends on what follows, so words are spoken from the last to
// the first.
#include <algorithm>
#include <array>
#include <span>

#include "text/stress.hpp"
#include "text/unit_builder.hpp"
#include "text/utf8.hpp"

namespace headroom::text {
namespace {

constexpr std::string_view kConjunctions[] = {
    "and", "but",      "or",     "because", "which", "who",    "that",  "when",   "while", "where",
    "if",  "although", "though", "so",      "since", "unless", "until", "before", "after", "then"};
constexpr std::string_view kPrepositions[] = {
    "with",    "for",   "from",  "in",      "on",      "at",      "by", "to", "into", "over",
    "through", "about", "under", "between", "against", "without", "of", "as", "than"};

bool in(std::span<const std::string_view> list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

int cut_quality(std::string_view lower_word) {
  return in(kConjunctions, lower_word) ? 2 : in(kPrepositions, lower_word) ? 1 : 0;
}

bool separates(const Token& t) {  // marks after which a word is final; quotes and brackets are not
  return t.kind == Token::Kind::kPause || (t.kind == Token::Kind::kPunctuation && t.text != "“" &&
                                           t.text != "”" && t.text != "(" && t.text != ")");
}

// Whether the first sound of a word is a vowel; empty if it has none.
std::optional<bool> starts_with_vowel(std::string_view phonemes) {
  for (std::size_t at = 0; at < phonemes.size();) {
    const char32_t c = next_code_point(phonemes, at);
    if (c == U'ˈ' || c == U'ˌ' || c == U' ' || c == U'“' || c == U'(') continue;
    return is_vowel(c);
  }
  return std::nullopt;
}

// In capitals throughout: capitals then carry no meaning.
bool is_shouting(const std::vector<Token>& tokens) {
  std::size_t small = 0;
  std::size_t capital = 0;
  for (const auto& t : tokens) {
    if (t.kind != Token::Kind::kWord || t.text.size() < 2) continue;
    const bool any_small =
        std::any_of(t.text.begin(), t.text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    ++(any_small ? small : capital);
  }
  return capital > 2 && capital > 4 * small;
}

// For each token whether its sentence holds a word like "yesterday".
std::vector<bool> past_sentences(const std::vector<Token>& tokens) {
  constexpr std::string_view kPast[] = {"yesterday", "ago", "last", "once", "was", "were", "earlier", "said"};
  std::vector<bool> out(tokens.size(), false);
  std::size_t from = 0;
  bool past = false;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == Token::Kind::kWord) past = past || in(kPast, tokens[i].text);
    const bool ends =
        tokens[i].text == "." || tokens[i].text == "!" || tokens[i].text == "?" || i + 1 == tokens.size();
    if (!ends) continue;
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(from),
              out.begin() + static_cast<std::ptrdiff_t>(i + 1), past);
    from = i + 1;
    past = false;
  }
  return out;
}

std::vector<std::string> sounds_of(const std::vector<Token>& tokens, const English& english) {
  std::vector<std::string> lower_words(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == Token::Kind::kWord) lower_words[i] = lower(tokens[i].text);
  }
  const bool shouting = is_shouting(tokens);
  const std::vector<bool> past = past_sentences(tokens);
  std::vector<std::string> sounds(tokens.size());
  const auto neighbour = [&](std::size_t i) -> std::string_view {  // the word at i, if it is one
    return i < tokens.size() ? std::string_view(lower_words[i]) : std::string_view{};
  };
  WordContext context;
  context.shouting = shouting;
  for (std::size_t i = tokens.size(); i-- > 0;) {
    const Token& t = tokens[i];
    if (separates(t)) {
      context.next_vowel.reset();
    } else if (t.kind == Token::Kind::kPhonemes) {
      context.next_vowel = starts_with_vowel(t.phonemes);
    } else if (t.kind == Token::Kind::kWord) {
      context.previous = i >= 1 && !t.paragraph_before ? neighbour(i - 1) : std::string_view{};
      context.before_previous = context.previous.empty() || i < 2 ? std::string_view{} : neighbour(i - 2);
      context.next =
          i + 1 < tokens.size() && !tokens[i + 1].paragraph_before ? neighbour(i + 1) : std::string_view{};
      context.past = past[i];
      sounds[i] = english.word(t.text, context);
      if (const auto vowel = starts_with_vowel(sounds[i])) context.next_vowel = vowel;
    }
    if (t.paragraph_before) context.next_vowel.reset();
  }
  return sounds;
}

bool next_word_is_small(const std::vector<Token>& tokens, std::size_t i) {
  for (++i; i < tokens.size(); ++i) {
    if (tokens[i].paragraph_before) return false;
    if (tokens[i].kind == Token::Kind::kWord) return tokens[i].text[0] >= 'a' && tokens[i].text[0] <= 'z';
    if (tokens[i].kind == Token::Kind::kPause) return false;
  }
  return false;
}

}  // namespace

Units english_units(const std::vector<Token>& tokens, const English& english) {
  const std::vector<std::string> sounds = sounds_of(tokens, english);
  UnitBuilder builder;
  std::size_t dropped = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (t.paragraph_before) builder.paragraph();
    switch (t.kind) {
      case Token::Kind::kWord:
        if (sounds[i].empty()) dropped += count_code_points(t.text);
        builder.word(t.text, sounds[i], t.space_before, cut_quality(lower(t.text)));
        break;
      case Token::Kind::kPhonemes:
        builder.word(t.text, t.phonemes, t.space_before);
        break;
      case Token::Kind::kPunctuation: {
        const bool may_go_on = t.text == "!" || t.text == "?" || t.text == "…";
        builder.punctuation(t.text, t.space_before, may_go_on && next_word_is_small(tokens, i));
        break;
      }
      case Token::Kind::kPause:
        builder.pause(t.pause_s);
        break;
    }
  }
  Units out = builder.take();
  out.dropped = dropped;
  return out;
}

}  // namespace headroom::text
