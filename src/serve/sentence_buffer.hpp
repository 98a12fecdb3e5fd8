// SentenceBuffer: gathers text that comes in pieces and gives back whole sentences as soon as they are there.
//
// It knows nothing of pronunciation; a cut is made only where white space follows the end of a sentence, so
// that numbers, web addresses and abbreviations that a piece ends in stay whole; behind a mark of a script
// without such spaces ("。", "।") anything will do. Behind an abbreviation (text/abbreviations.hpp) the next
// word decides, and is waited for: "Jan. 5" is whole, "Acme Inc. The" is cut. Text without any end is cut at
// white space once it is long. Markup (text/markup.hpp) stays whole: nothing is cut within "[…](…)" or
// "[pause:…]", nor while a "[" may still become one. The work is linear in the text, however it is cut.
// Units: bytes of UTF-8. Single threaded; pure; no errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headroom::serve {

class SentenceBuffer {
 public:
  static constexpr std::size_t kLongest = 400;

  void add(std::string_view piece);
  std::vector<std::string> take_complete();
  // What is left, a sentence or not.
  std::string take_rest();
  // What is left ends as a sentence does, but nothing follows it yet: after a pause it may be taken as one.
  bool ends_like_a_sentence() const;
  bool empty() const { return text_.empty(); }

 private:
  bool inside_markup() const;

  std::string text_;
  std::size_t scanned_ = 0;     // what comes before has no end that was not taken
  std::size_t markup_end_ = 0;  // behind the last markup passed: nothing before it is looked at again
};

}  // namespace headroom::serve
