// Abbreviations that are written with a full stop, and whether a sentence ends at one.
//
// One table for the normaliser, which says the words, and for whoever cuts text into sentences before it is
// normalised. English only; an abbreviation that no sentence starter follows is taken not to end one. Looks
// at a bounded number of bytes beside a full stop. Pure, safe from any thread; no errors.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace headroom::text {

struct Abbreviation {
  // What must follow for the reading; "Gen." alone may be a word, "No." an answer, "Sun." a star. A
  // numeral is a digit or a Roman one.
  enum class After { kAnything, kDigit, kNumeral, kCapital, kSameSentence };

  std::string_view written;  // without its dot
  std::string_view words;
  After after = After::kAnything;
  bool may_end_sentence = false;
};
std::span<const Abbreviation> abbreviations();

// Nothing more, or white space and a capital that starts a new sentence.
bool sentence_ends_here(std::string_view after);

enum class FullStop {
  kEndsSentence,
  kAbbreviates,  // or belongs to an initial: "Dr.", "J.", "e.g."
  kUndecided,    // the word that decides it has not come yet
};
// What the full stop at text[stop] is, where `text` may still grow.
FullStop full_stop_at(std::string_view text, std::size_t stop);

}  // namespace headroom::text
