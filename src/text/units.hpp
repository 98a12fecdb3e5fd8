// Units: words with their sounds, punctuation attached, and what kind of break follows each.
//
// Internal to text: between tokens and segments. Units are in speaking order; phonemes are in the model's
// alphabet.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/english.hpp"
#include "text/tokens.hpp"

namespace headroom::text {

enum class Break { kNone, kClause, kSentence, kParagraph };

struct Unit {
  std::string text;
  std::string phonemes;  // with the punctuation that belongs to it
  bool space_before = true;
  Break after = Break::kNone;
  int cut_before =
      0;  // how good a place to cut before this unit is: 0 any word, 1 preposition, 2 conjunction
  double pause_s = 0;  // asked for in the text, after this unit
};

struct Units {
  std::vector<Unit> list;
  double pause_before_s = 0;  // asked for before the first word
  std::size_t dropped = 0;    // words without a sound in this language, by their characters
};

Units english_units(const std::vector<Token>& tokens, const English& english);

// For the languages that espeak-ng phonemises clause by clause. ipa(clause) -> phonemes in the model's
// alphabet.
using ClausePhonemes = std::function<std::string(std::string_view)>;
Units foreign_units(const std::vector<Piece>& pieces, bool devanagari, const ClausePhonemes& phonemes);

}  // namespace headroom::text
