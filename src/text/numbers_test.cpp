// Tests of number words.
#include "text/numbers.hpp"

#include <gtest/gtest.h>

namespace headroom::text {
namespace {

constexpr NumberStyle kBritishStyle{true};

TEST(Numbers, ReadsCardinals) {
  EXPECT_EQ(cardinal("0"), "zero");
  EXPECT_EQ(cardinal("82"), "eighty two");
  EXPECT_EQ(cardinal("105"), "one hundred five");
  EXPECT_EQ(cardinal("105", kBritishStyle), "one hundred and five");
  EXPECT_EQ(cardinal("1005", kBritishStyle), "one thousand and five");
  EXPECT_EQ(cardinal("1234567"), "one million two hundred thirty four thousand five hundred sixty seven");
  EXPECT_EQ(cardinal("000007"), "seven");
  EXPECT_EQ(cardinal("999999999999999999").substr(0, 35), "nine hundred ninety nine quadrillio");
}

TEST(Numbers, ReadsBeyondAllNamesDigitByDigit) {
  EXPECT_EQ(cardinal("1234567890123456789"),
            "one two three four five six seven eight nine zero one two three four five six seven eight nine");
  EXPECT_EQ(cardinal("12a"), "");
  EXPECT_EQ(cardinal(""), "");
}

TEST(Numbers, ReadsOrdinals) {
  EXPECT_EQ(ordinal("1"), "first");
  EXPECT_EQ(ordinal("3"), "third");
  EXPECT_EQ(ordinal("12"), "twelfth");
  EXPECT_EQ(ordinal("20"), "twentieth");
  EXPECT_EQ(ordinal("21"), "twenty first");
  EXPECT_EQ(ordinal("100"), "one hundredth");
}

TEST(Numbers, ReadsYears) {
  EXPECT_EQ(year("1999"), "nineteen ninety nine");
  EXPECT_EQ(year("1905"), "nineteen oh five");
  EXPECT_EQ(year("1900"), "nineteen hundred");
  EXPECT_EQ(year("2000"), "two thousand");
  EXPECT_EQ(year("2005"), "two thousand five");
  EXPECT_EQ(year("2024"), "twenty twenty four");
}

TEST(Numbers, ReadsDecimalsSignsAndCodes) {
  EXPECT_EQ(decimal("3.14"), "three point one four");
  EXPECT_EQ(decimal("-1,024.5"), "minus one thousand twenty four point five");
  EXPECT_EQ(decimal(".5"), "point five");
  EXPECT_EQ(decimal("007"), "zero zero seven");
  EXPECT_EQ(decimal("0.50"), "zero point five zero");
}

TEST(Numbers, KnowsPluralsAndRomanNumerals) {
  EXPECT_EQ(plural("nineteen ninety"), "nineteen nineties");
  EXPECT_EQ(plural("six"), "sixes");
  EXPECT_EQ(roman_value("VIII"), 8);
  EXPECT_EQ(roman_value("XIV"), 14);
  EXPECT_EQ(roman_value("XC"), 90);
  EXPECT_EQ(roman_value("IIX"), 0);
  EXPECT_EQ(roman_value("MCMXC"), 1990);
  EXPECT_EQ(roman_value("MMMCMXCIX"), 3999);
  EXPECT_EQ(roman_value("MMMM"), 0);
  EXPECT_EQ(roman_value("CIVIL"), 0);
  EXPECT_EQ(roman_value("DIM"), 0);
  EXPECT_EQ(roman_value(""), 0);
}

}  // namespace
}  // namespace headroom::text
