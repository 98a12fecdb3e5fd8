// Internal to text: puts words, punctuation and pauses together into units; shared by English and the other
// languages.
#pragma once

#include <string>
#include <string_view>

#include "text/units.hpp"

namespace headroom::text {

class UnitBuilder {
 public:
  // A word; nothing is added if it has no sound.
  void word(std::string_view text, std::string_view phonemes, bool space_before, int cut_before = 0);
  // `sentence_goes_on`: the next word is in small letters, so ! ? … do not end the sentence here.
  void punctuation(std::string_view mark, bool space_before, bool sentence_goes_on);
  void paragraph();
  void pause(double seconds);
  Units take() { return std::move(units_); }

 private:
  void raise_break(Break b);
  Units units_;
  std::string opening_;  // “ and ( wait for their word
  bool opening_space_ = false;
};

}  // namespace headroom::text
