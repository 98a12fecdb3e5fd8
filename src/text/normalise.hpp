// Normalising English text: everything that is not a word becomes words.
//
// Numbers, money, dates, times, units, ordinals, URLs, e-mail, phone numbers, abbreviations, symbols; each
// kind can be switched off. One ordered table of RE2 rules, each applied once over the text: linear time
// whatever the input. It takes cleaned text (clean.hpp) and gives plain text with punctuation; it does not
// split sentences or know sounds. Choices: a date written with slashes is month first in American and day
// first in British English, unless only the other order is possible; four digits from 1500 to 2099 are a year
// unless a unit follows; 24 hour times are read as written ("fourteen thirty"). Initials keep their inner
// dots ("U.S") so that they are spelled. Immutable after construction, shared by all threads. No errors.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace headroom::text {

// Bits of NormaliseOptions::kinds.
enum class NormaliseKind : std::uint32_t {
  kUrl = 1U << 0U,
  kEmail = 1U << 1U,
  kMoney = 1U << 2U,
  kDate = 1U << 3U,
  kTime = 1U << 4U,
  kPhone = 1U << 5U,
  kUnit = 1U << 6U,
  kOrdinal = 1U << 7U,
  kNumber = 1U << 8U,
  kAbbreviation = 1U << 9U,
  kSymbol = 1U << 10U,
};

struct NormaliseOptions {
  std::uint32_t kinds = ~0U;  // all
};

class Normaliser {
 public:
  explicit Normaliser(bool british, NormaliseOptions options = {});
  Normaliser(Normaliser&&) noexcept;
  ~Normaliser();
  std::string apply(std::string_view clean_text) const;

 private:
  struct Rules;
  std::unique_ptr<Rules> rules_;
};

}  // namespace headroom::text
