// Normalising English text: everything that is not a word becomes words.
//
// Numbers, ranges, versions, money, dates, times, units, ordinals, URLs, e-mail, phone numbers,
// abbreviations, symbols; each kind can be switched off for one text. One ordered table of RE2 rules, each
// applied once over the text: linear time whatever the input. It takes cleaned text (clean.hpp) and gives
// plain text with punctuation; it does not split sentences or know sounds. Digits of a kind that is switched
// off stay digits and are later read one by one. Choices: a date written with slashes is month first in
// American and day first in British English, unless only the other order is possible; four digits from 1500
// to 2099 are a year unless a unit follows; 24 hour times are read as written ("fourteen thirty"). Initials
// keep their inner dots ("U.S") so that they are spelled. Immutable after construction, shared by all
// threads. Errors: only parse_normalise_kind has one, kInvalidArgument, naming the kinds there are.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace headroom::text {

// Bits of NormaliseOptions::kinds. A rule that needs two kinds has both bits: "$5-10" is money and a range.
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
  kRange = 1U << 11U,
  kVersion = 1U << 12U,
};
constexpr NormaliseKind operator|(NormaliseKind a, NormaliseKind b) {
  return static_cast<NormaliseKind>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}

struct NormaliseKindName {
  std::string_view name;
  NormaliseKind kind;
};
// The names as in requests.
inline constexpr std::array<NormaliseKindName, 13> kNormaliseKinds{
    {{"url", NormaliseKind::kUrl},
     {"email", NormaliseKind::kEmail},
     {"money", NormaliseKind::kMoney},
     {"date", NormaliseKind::kDate},
     {"time", NormaliseKind::kTime},
     {"phone", NormaliseKind::kPhone},
     {"unit", NormaliseKind::kUnit},
     {"ordinal", NormaliseKind::kOrdinal},
     {"number", NormaliseKind::kNumber},
     {"abbreviation", NormaliseKind::kAbbreviation},
     {"symbol", NormaliseKind::kSymbol},
     {"range", NormaliseKind::kRange},
     {"version", NormaliseKind::kVersion}}};
base::Result<NormaliseKind> parse_normalise_kind(std::string_view name);

struct NormaliseOptions {
  std::uint32_t kinds = ~0U;  // all

  static constexpr NormaliseOptions none() { return {0}; }
  constexpr void set(NormaliseKind kind, bool on) {
    const auto bits = static_cast<std::uint32_t>(kind);
    kinds = on ? kinds | bits : kinds & ~bits;
  }
  constexpr bool has(NormaliseKind kind) const {
    return (kinds & static_cast<std::uint32_t>(kind)) == static_cast<std::uint32_t>(kind);
  }
};

class Normaliser {
 public:
  explicit Normaliser(bool british);
  Normaliser(Normaliser&&) noexcept;
  ~Normaliser();
  std::string apply(std::string_view clean_text, NormaliseOptions options = {}) const;

 private:
  struct Rules;
  std::unique_ptr<Rules> rules_;
};

}  // namespace headroom::text
