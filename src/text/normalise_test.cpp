// Tests of normalising: one table a kind, then the switches and the time it takes.
#include "text/normalise.hpp"

#include <ctime>
#include <fstream>
#include <vector>

#include <gtest/gtest.h>

#include "text/clean.hpp"

namespace headroom::text {
namespace {

struct Case {
  std::string_view in;
  std::string_view out;
};

const Normaliser& american() {
  static const Normaliser n(false);
  return n;
}
const Normaliser& british() {
  static const Normaliser n(true);
  return n;
}

std::string squeezed(std::string_view s) {  // runs of spaces carry no meaning
  std::string out;
  for (const char c : s) {
    if (c == ' ' && (out.empty() || out.back() == ' ')) continue;
    out.push_back(c);
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

void check(const Normaliser& n, const std::vector<Case>& cases) {
  for (const auto& c : cases) EXPECT_EQ(squeezed(n.apply(c.in)), c.out) << c.in;
}

TEST(Normalise, ReadsNumbers) {
  check(american(), {{"82", "eighty two"},
                     {"82 million", "eighty two million"},
                     {"7", "seven"},
                     {"1024", "one thousand twenty four"},
                     {"1,234,567", "one million two hundred thirty four thousand five hundred sixty seven"},
                     {"3.14", "three point one four"},
                     {"1 000 000", "one million"},
                     {"It is -5 outside", "It is minus five outside"},
                     {"covid-19", "covid nineteen"},
                     {"007", "zero zero seven"},
                     {"MP3 and 4K", "MP three and four K"},
                     {"1/2, 3/4 and 2 1/2", "one half, three quarters and two and a half"},
                     {"3½ cups", "three and a half cups"},
                     {"24/7", "twenty four seven"},
                     {"a 3:2 ratio", "a three to two ratio"},
                     {"he is 6'2\u201D tall", "he is six foot two tall"},
                     {"2.0.1", "two point zero point one"},
                     {"v1.5", "version one point five"},
                     {"192.168.1.1", "one nine two dot one six eight dot one dot one"},
                     {"the 1st, 22nd and 103rd", "the first, twenty second and one hundred third"}});
}

TEST(Normalise, ReadsYearsAndRanges) {
  check(american(), {{"in 1066", "in ten sixty six"},
                     {"from 1914-1918", "from nineteen fourteen to nineteen eighteen"},
                     {"the 1990s", "the nineteen nineties"},
                     {"the '80s", "the eighties"},
                     {"2000", "two thousand"},
                     {"pages 10-12", "pages ten to twelve"},
                     {"40-60 C", "forty to sixty degrees Celsius"},
                     {"5–10%", "five to ten percent"},
                     {"1920x1080", "nineteen twenty by ten eighty"}});
}

TEST(Normalise, ReadsMoney) {
  check(american(), {{"$5.3 billion", "five point three billion dollars"},
                     {"$1", "one dollar"},
                     {"$1.50", "one dollar and fifty cents"},
                     {"$0.99", "ninety nine cents"},
                     {"£3.20", "three pounds and twenty pence"},
                     {"€20", "twenty euros"},
                     {"20 €", "twenty euros"},
                     {"100 USD", "one hundred dollars"},
                     {"$5-10 million", "five to ten million dollars"},
                     {"a $5 bill", "a five dollar bill"},
                     {"-$3", "minus three dollars"},
                     {"$2k", "two thousand dollars"},
                     {"US$1,000", "one thousand dollars"}});
}

TEST(Normalise, ReadsDatesInTheOrderOfTheCountry) {
  check(american(), {{"12/05/2024", "December fifth, twenty twenty four"},
                     {"25/12/2024", "December twenty fifth, twenty twenty four"},
                     {"2024-03-01", "March first, twenty twenty four"},
                     {"May 5th, 2024", "May fifth, twenty twenty four"},
                     {"Jan. 3", "January third"},
                     {"5 May 1999", "the fifth of May, nineteen ninety nine"},
                     {"the 4th of July", "the fourth of July"},
                     {"May 10 people", "May tenth people"},
                     {"March 2024", "March twenty twenty four"}});
  check(british(), {{"12/05/2024", "the twelfth of May, twenty twenty four"},
                    {"05/25/2024", "the twenty fifth of May, twenty twenty four"}});
}

TEST(Normalise, ReadsTimes) {
  check(american(), {{"9:30PM", "nine thirty P.M"},
                     {"9:30 p.m.", "nine thirty P.M."},
                     {"at 9:05 a.m. we", "at nine oh five A.M we"},
                     {"14:30", "fourteen thirty"},
                     {"7:00", "seven o'clock"},
                     {"14:00", "fourteen hundred"},
                     {"Mon-Fri", "Monday to Friday"},
                     {"9am-5pm", "nine A.M to five P.M"},
                     {"Come at 9 p.m. The door is open.", "Come at nine P.M. The door is open."}});
}

TEST(Normalise, ReadsPhoneNumbersDigitByDigit) {
  check(american(),
        {{"(555) 123-4567", "five five five, one two three, four five six seven"},
         {"+1 555-123-4567", "plus one, five five five, one two three, four five six seven"},
         {"my zip code is 90210.", "my zip code is nine zero two one zero."},
         {"555-1234", "five five five, one two three four"},
         {"+44 20 7946 0958", "plus four four, two zero, seven nine four six, zero nine five eight"},
         {"1-800-555-0199", "one, eight hundred, five five five, zero one nine nine"}});
}

TEST(Normalise, ReadsAddressesOfTheWeb) {
  check(american(),
        {{"see https://www.example.com/a-b.", "see W.W.W dot example dot com slash a dash b."},
         {"john.doe42@example.co.uk", "john dot doe forty two at example dot co dot U.K"},
         {"example.org", "example dot org"},
         {"in /etc/app.conf, or ~/.bashrc", "in slash etc slash app dot conf, or tilde slash dot bashrc"},
         {"open readme.txt", "open readme dot T.X.T"},
         {"https://user:secret@example.com/a", "user at example dot com slash a"},
         {"http://", ""}});
}

TEST(Normalise, ReadsUnits) {
  check(american(), {{"5 km", "five kilometers"},
                     {"1 km", "one kilometer"},
                     {"60 km/h", "sixty kilometers per hour"},
                     {"20°C", "twenty degrees Celsius"},
                     {"-4 °F", "minus four degrees Fahrenheit"},
                     {"50%", "fifty percent"},
                     {"250ms", "two hundred fifty milliseconds"},
                     {"16GB", "sixteen gigabytes"},
                     {"3 m²", "three square meters"},
                     {"2.4 GHz", "two point four gigahertz"}});
}

TEST(Normalise, ExpandsAbbreviations) {
  check(american(), {{"Dr. Smith's 3rd visit", "Doctor Smith's third visit"},
                     {"12 Oak Dr.", "twelve Oak Drive."},
                     {"Mr. and Mrs. Jones", "Mister and Mrs Jones"},
                     {"St. Paul on Main St.", "Saint Paul on Main Street."},
                     {"cats, dogs, etc.", "cats, dogs, etc."},
                     {"fruit, e.g. apples", "fruit, for example, apples"},
                     {"No. 5", "number five"},
                     {"No. I won't.", "No. I won't."},
                     {"in the U.S. in May", "in the U.S in May"},
                     {"in the U.S. The end.", "in the U.S. The end."},
                     {"J. K. Rowling", "J K Rowling"},
                     {"Chapter IV", "Chapter four"},
                     {"Henry VIII", "Henry the eighth"},
                     {"Acme Inc. grew", "Acme Incorporated grew"}});
}

TEST(Normalise, ReadsSymbols) {
  check(american(), {{"salt & pepper", "salt and pepper"},
                     {"2+2=4", "two plus two equals four"},
                     {"a -- b", "a — b"},
                     {"wait... what", "wait… what"},
                     {"#1", "number one"},
                     {"#winning", "hashtag winning"},
                     {"C++ and C#", "C plus plus and C sharp"},
                     {"~5", "about five"},
                     {"<b>bold</b> &amp; plain, 5 &lt; 6", "bold and plain, five less than six"},
                     {"**bold** _it_", "bold it"},
                     {"π", "pi"}});
}

// kind, text, what is spoken; tab between. The kind "british" is read by the British normaliser.
TEST(Normalise, ReadsTheTableOfCases) {
  std::ifstream table("tests/golden/text/normalise.tsv");
  ASSERT_TRUE(table) << "run from the root of the repository";
  std::size_t cases = 0;
  for (std::string line; std::getline(table, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto first = line.find('\t');
    const auto second = line.find('\t', first + 1);
    ASSERT_NE(second, std::string::npos) << line;
    const std::string in = line.substr(first + 1, second - first - 1);
    const Normaliser& n = line.substr(0, first) == "british" ? british() : american();
    EXPECT_EQ(squeezed(n.apply(clean(in).text)), line.substr(second + 1)) << in;
    ++cases;
  }
  EXPECT_GE(cases, 250U);
}

TEST(Normalise, LeavesAKindAloneWhenItIsSwitchedOff) {
  constexpr std::string_view kText = "$5.3 billion & 9:30PM";
  EXPECT_EQ(american().apply(kText, NormaliseOptions::none()), kText);
  // Each kind has a text that it alone decides.
  const std::vector<std::pair<NormaliseKind, std::string_view>> alone{
      {NormaliseKind::kUrl, "example.org"}, {NormaliseKind::kEmail, "a@b.xy"},
      {NormaliseKind::kMoney, "$5"},        {NormaliseKind::kDate, "12/05/2024"},
      {NormaliseKind::kTime, "9:30 pm"},    {NormaliseKind::kPhone, "555-1234"},
      {NormaliseKind::kUnit, "5 km"},       {NormaliseKind::kOrdinal, "3rd"},
      {NormaliseKind::kNumber, "82"},       {NormaliseKind::kAbbreviation, "Dr. Smith"},
      {NormaliseKind::kSymbol, "a & b"},    {NormaliseKind::kRange, "10-12"},
      {NormaliseKind::kVersion, "v2.0.1"}};
  EXPECT_EQ(alone.size(), kNormaliseKinds.size());
  for (const auto& [kind, text] : alone) {
    NormaliseOptions off;
    off.set(kind, false);
    EXPECT_NE(american().apply(text, off), american().apply(text)) << text;
    NormaliseOptions only = NormaliseOptions::none();
    only.set(kind, true);
    EXPECT_NE(american().apply(text, only), text) << text;
  }
}

TEST(Normalise, KnowsItsKindsByName) {
  for (const auto& row : kNormaliseKinds) EXPECT_EQ(parse_normalise_kind(row.name), row.kind);
  const auto unknown = parse_normalise_kind("colour");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("'colour'"), std::string::npos);
  EXPECT_NE(unknown.error().message.find("money"), std::string::npos);
}

TEST(Normalise, TakesLinearTimeOnHostileText) {
  std::vector<std::string> texts;
  const auto repeat = [](std::string_view s, std::size_t n) {
    std::string out;
    while (n-- > 0) out += s;
    return out;
  };
  texts.push_back(repeat("7", 20'000));
  texts.push_back(repeat("a@", 10'000));
  texts.push_back("http://" + repeat(".", 50'000));
  texts.push_back(repeat("1,", 10'000));
  texts.push_back(repeat("1-", 10'000));
  texts.push_back(repeat("A.", 10'000));
  texts.push_back(repeat("[", 20'000));
  texts.push_back(repeat("$1 ", 7'000));
  texts.push_back(repeat("St. ", 5'000));
  texts.push_back(repeat("1” ", 5'000));
  texts.push_back(repeat("1,23,", 4'000));
  texts.push_back(repeat("1/2/", 5'000));
  texts.push_back("https://" + repeat("a:b@", 10'000));
  texts.push_back(repeat("Oak Dr. ", 3'000));
  texts.push_back(repeat("A. ", 7'000));
  texts.push_back(repeat("the 70s, 80s, ", 2'000));
  texts.push_back(repeat("Jan 5-", 4'000));
  texts.push_back(repeat("a.txt.", 4'000));
  texts.push_back(repeat("0x", 10'000));
  texts.push_back("Inc." + std::string(20'000, ' ') + "The");
  for (const auto& text : texts) {
    const std::clock_t before = std::clock();
    american().apply(text);
    const double took = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    // Processor time: 50 ms each in a release build; the margin is for debug and sanitizer builds.
    // Quadratic behaviour would take minutes.
    EXPECT_LT(took, 3.0) << text.substr(0, 10);
  }
}

}  // namespace
}  // namespace headroom::text
