// Markup: finds the extent of one construct, `[word](target)` or `[pause:1.5s]`, the one grammar for all who
// meet markup in a text.
//
// It says where a construct ends, not what it means: whether a pause is a length of time and a target is
// phonemes is for the reader (tokens.hpp). Units: bytes of UTF-8. Pure; no errors; the look ahead is bounded,
// so that a scan of a whole text is linear.
#pragma once

#include <cstddef>
#include <string_view>

namespace headroom::text {

inline constexpr std::size_t kLongestMarkup = 500;  // an end further away is not looked for

struct Markup {
  enum class Kind {
    kNone,   // a bracket like any other
    kOpen,   // none so far; more text may make it one
    kPause,  // [pause:inside]
    kLink,   // [inside](target)
  };
  Kind kind = Kind::kNone;
  std::string_view inside;
  std::string_view target;
  std::size_t end = 0;  // behind the construct, for kPause and kLink
};

// What begins at text[at], a '['.
Markup markup_at(std::string_view text, std::size_t at);

}  // namespace headroom::text
