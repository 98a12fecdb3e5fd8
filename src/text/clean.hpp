// Cleaning: any bytes in, tidy UTF-8 out, in the few characters the rest of the frontend reads.
//
// It unifies quotes, dashes, spaces and width variants, composes accents, and drops what nobody can speak
// (controls, zero-width characters, emoji, stray symbols). It does not change words or numbers. Linear time.
// Pure, safe from any thread, no errors.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headroom::text {

struct CleanText {
  std::string text;  // valid UTF-8; spaces are ' ', line ends '\n', double quotes “ ”, single ones '
  std::size_t dropped =
      0;  // visible symbols that were left out (controls and zero-width ones are not counted)
};

CleanText clean(std::string_view utf8);

}  // namespace headroom::text
