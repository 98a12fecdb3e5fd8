// Tokens: text cut into words, punctuation of the model's alphabet, ready-made phonemes and pauses.
//
// Internal to text. Words keep inner apostrophes, hyphens and the dots of initials. Everything that is
// neither a word nor punctuation is left out and counted. Pure, linear time, no errors.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/frontend.hpp"

namespace headroom::text {

struct Token {
  enum class Kind { kWord, kPunctuation, kPhonemes, kPause };
  Kind kind = Kind::kWord;
  std::string text;
  std::string phonemes;  // of kPhonemes
  double pause_s = 0;    // of kPause
  bool space_before = false;
  bool paragraph_before = false;  // a blank line, or a line end that ends a sentence
};

// Part of the input as the markup divides it. `[word](/phonemes/)` and `[pause:1.5s]`; a Markdown link is its
// text.
struct Piece {
  Token::Kind kind = Token::Kind::kWord;  // kWord: plain text, to be normalised
  std::string text;
  std::string phonemes;
  double pause_s = 0;
};

inline constexpr double kLongestPauseS = 10.0;  // of one [pause:...]

std::vector<Piece> split_markup(std::string_view clean_text);
// Appends the tokens of plain text; returns the number of symbols left out.
std::size_t tokenise(std::string_view text, std::vector<Token>& out);

}  // namespace headroom::text
