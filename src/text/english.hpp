// English: the sound of one word in its place, in the model's alphabet.
//
// Lexicon first, then the word's inflections, initials letter by letter, parts of compounds, then the
// fallback (espeak-ng) and, without one, letters. Function words take their weak forms by what follows; words
// that sound differently as noun and verb are told apart by their neighbours. It knows one word and its
// context; whole texts are units.hpp's work. Immutable; safe from any thread if the fallback is. No errors:
// every word gets some sound, or "" if it has none (another script).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/lexicon.hpp"

namespace headroom::text {

struct WordContext {
  std::optional<bool>
      next_vowel;             // whether the next sound is a vowel; empty before punctuation and at the end
  std::string_view previous;  // lower case words beside it; empty at the edges of a clause
  std::string_view before_previous;
  std::string_view next;
  bool past = false;      // the sentence speaks of the past ("yesterday")
  bool shouting = false;  // the text is in capitals: capitals mean nothing
};

class English {
 public:
  // fallback(word) -> phonemes in the model's alphabet, or empty.
  using Fallback = std::function<std::optional<std::string>(std::string_view)>;
  English(const Lexicon& lexicon, bool british, Fallback fallback);

  std::string word(std::string_view text, const WordContext& context) const;

 private:
  std::optional<std::string> function_word(std::string_view lower, std::string_view word,
                                           const WordContext& c) const;
  std::optional<std::string> known(std::string_view word, const WordContext& c) const;
  std::optional<std::string> listed(std::string_view word, const WordContext& c) const;
  std::optional<std::string> inflected(std::string_view word, const WordContext& c) const;
  std::optional<std::string> simple(std::string_view word, const WordContext& c) const;
  std::string part(std::string_view word, const WordContext& c) const;
  std::string spelled(std::string_view letters) const;
  std::string joined(const std::vector<std::string>& parts, const WordContext& c) const;
  std::string unknown(std::string_view word) const;

  const Lexicon& lexicon_;
  bool british_;
  Fallback fallback_;
};

// How a word with several sounds is read here: as what its lexicon entry has under a role, or like another
// word.
struct Reading {
  std::string_view role;    // "VERB", "NOUN", "ADJ", "VBN", "DEFAULT"; empty when say_as is given
  std::string_view say_as;  // "led" for the metal lead
};
// What the words beside a homograph say about it; empty when they say nothing. (homographs.cpp)
std::optional<Reading> homograph(std::string_view lower, const WordContext& context);

// The role the neighbours suggest: "VERB", "NOUN", "ADJ", "VBD", "VBN" or "DEFAULT". (english_roles.cpp)
std::string_view guess_role(std::string_view lower, const WordContext& context);

}  // namespace headroom::text
