// Normalising rules for abbreviations and symbols.
#include <algorithm>
#include <iterator>

#include "text/abbreviations.hpp"
#include "text/normalise_rules.hpp"

namespace headroom::text::rules {
namespace {

std::string_view skip_spaces(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  return s;
}

bool capitalised(std::string_view word) { return word.size() > 1 && upper(word[0]) && !upper(word[1]); }

bool is_followed_as(Abbreviation::After wanted, std::string_view after) {
  const std::string_view next = skip_spaces(after);
  const bool spaced = next.size() != after.size();
  const char c = next.empty() ? '\0' : next[0];
  switch (wanted) {
    case Abbreviation::After::kDigit:
      return digit(c);
    case Abbreviation::After::kNumeral:
      return digit(c) || (spaced && roman_value(next.substr(0, next.find_first_not_of("IVXLC"))) > 1);
    case Abbreviation::After::kCapital:
      return spaced && upper(c) && !sentence_ends_here(after);
    case Abbreviation::After::kSameSentence:
      return (spaced && alnum(c) && !upper(c)) || c == ',' || c == ';';
    case Abbreviation::After::kAnything:
      break;
  }
  return true;
}

std::optional<std::string> abbreviation(const Match& m) {
  for (const auto& s : abbreviations()) {
    if (s.written != m.g(1)) continue;
    if (!is_followed_as(s.after, m.after)) return std::nullopt;
    std::string out(s.words);
    if (s.may_end_sentence && sentence_ends_here(m.after)) out += ".";
    return out;
  }
  return std::nullopt;
}

std::string_view without_last_word(std::string_view before) {
  const std::string_view word = last_word(before);
  return before.substr(0, static_cast<std::size_t>(word.data() - before.data()));
}

// The word before opens its sentence, so that its capital tells nothing: "Watch Dr. Who", "In St. Louis".
bool after_first_word(std::string_view before) { return last_word(without_last_word(before)).empty(); }

bool may_name_a_street(std::string_view word) {  // "Oak Dr. is", but "My Dr. said"
  static constexpr std::string_view kNever[] = {"My",  "The",   "Your", "Our", "His",
                                                "Her", "Their", "This", "Dear"};
  return capitalised(word) && std::find(std::begin(kNever), std::end(kNever), word) == std::end(kNever);
}

// "12 Oak", "221 North Main": what stands before is a house number and the name of a street.
bool ends_with_address(std::string_view before) {
  for (int words = 0; words < 3 && capitalised(last_word(before)); ++words) {
    before = without_last_word(before);
    const std::string_view number = last_word(before);
    if (!number.empty() && digit(number[0])) return true;
  }
  return false;
}

// "Ask Dr. A. Patel", "on Oak Dr. The house", "12 Oak Dr."
std::optional<std::string> doctor_or_drive(const Match& m) {
  const std::string_view next = skip_spaces(m.after);
  const bool ends = sentence_ends_here(m.after);
  const bool capital_follows = !next.empty() && upper(next[0]);
  const bool street = !capital_follows || (ends && !after_first_word(m.before));
  if ((street && may_name_a_street(last_word(m.before))) || ends_with_address(m.before))
    return ends ? "Drive." : "Drive";
  return std::string("Doctor");
}

std::optional<std::string> saint_or_street(const Match& m) {  // "St. Paul", "Main St."
  const std::string_view next = skip_spaces(m.after);
  if (!next.empty() && upper(next[0]) && !sentence_ends_here(m.after) && !capitalised(last_word(m.before)))
    return std::string("Saint");
  const bool name_follows = !next.empty() && upper(next[0]) && next.size() != m.after.size();
  if (name_follows && !sentence_ends_here(m.after) && after_first_word(m.before)) return std::string("Saint");
  if (!capitalised(last_word(m.before)) && (name_follows || last_word(m.before).empty()))
    return std::string("Saint");
  return sentence_ends_here(m.after) ? "Street." : "Street";
}

// British addresses have no dot: "45 High St, Leeds".
std::optional<std::string> undotted_road(const Match& m) {
  const std::string_view next = skip_spaces(m.after);
  const bool spaced = next.size() != m.after.size();
  const bool address_goes_on = next.empty() || (spaced ? !upper(next[0]) : next[0] == ',' || next[0] == ';');
  if (!address_goes_on) return std::nullopt;
  if (m.g(2) == "St") return std::string(m.g(1)) + " Street";
  for (const auto& s : abbreviations()) {
    if (s.written == m.g(2)) return std::string(m.g(1)) + " " + std::string(s.words);
  }
  return std::nullopt;
}

std::optional<std::string> nth_century(const Match& m) {  // "a 12th c. church"
  return std::string(m.g(1)) + " century" + (sentence_ends_here(m.after) ? "." : "");
}

std::optional<std::string> latin(const Match& m) {  // "e.g.", "i. e."; "E. E. Cummings" has initials
  return std::string(!m.g(1).empty() ? "for example" : "that is") + (m.after_char() == ',' ? "" : ",");
}

std::optional<std::string> with(const Match& m) { return std::string(m.g(1).empty() ? "with" : "without"); }

std::optional<std::string> doctorate(const Match& m) {
  return std::string("P.H.D") + (m.g(0).back() == '.' && sentence_ends_here(m.after) ? "." : "");
}

std::optional<std::string> initials(
    const Match& m) {  // "U.S.", "J.R.R.": keep inner dots, english.hpp spells them
  std::string out = join_initials(m.g(0));
  if (m.g(0).back() == '.' && sentence_ends_here(m.after)) out += ".";
  return out;
}

// Words that a letter names a thing with, so that it is no initial: "Vitamin C. Take it daily."
bool takes_a_letter(std::string_view word) {
  static constexpr std::string_view kWords[] = {
      "Vitamin", "Plan",   "Section", "Part",     "Exhibit",  "Appendix", "Grade", "Hepatitis",
      "Group",   "Option", "Type",    "Class",    "Team",     "Block",    "Gate",  "Point",
      "Figure",  "Table",  "Unit",    "Annex",    "Category", "Level",    "Row",   "Column",
      "Item",    "Model",  "Answer",  "Schedule", "Building"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

bool is_initial(std::string_view text) { return text.size() > 1 && upper(text[0]) && text[1] == '.'; }

std::optional<std::string> lone_initial(const Match& m) {  // "George W. Bush", "J. K. Rowling"
  if (m.after_char() != ' ' || m.before_char() == '.' || m.g(1) == "I" || sentence_ends_here(m.after))
    return std::nullopt;
  const std::string_view previous = last_word(m.before);
  if (takes_a_letter(previous)) return std::nullopt;
  const bool after_name =
      previous.empty() || capitalised(previous) || (previous.size() == 1 && upper(previous[0]));
  // In "from J. K. Rowling" the second initial tells that the first is one.
  const bool names_follow = previous == "by" || m.before.ends_with("care of ");
  if (!after_name && !names_follow && !is_initial(skip_spaces(m.after))) return std::nullopt;
  return std::string(m.g(1));
}

// Well formed, but more likely letters or a word: "Part D", "Type C", "Class CD", "Level MIX".
bool is_letters(std::string_view word, std::string_view numeral, int value) {
  if (numeral.size() == 1) return value > 10;
  if (numeral == "MIX" || numeral == "DIV") return true;
  constexpr std::string_view kBookish[] = {"Chapter", "chapter", "Volume", "volume", "Book", "book"};
  const bool bookish = std::find(std::begin(kBookish), std::end(kBookish), word) != std::end(kBookish);
  return value >= 100 && numeral.size() < 3 && !bookish;
}

std::optional<std::string> roman_part(const Match& m) {  // "Chapter IV", "World War II"
  const int n = roman_value(m.g(2));
  if (n == 0 || is_letters(m.g(1), m.g(2), n)) return std::nullopt;
  return std::string(m.g(1)) + " " + cardinal(std::to_string(n), m.style);
}

std::optional<std::string> roman_ruler(const Match& m) {  // "Henry VIII"
  const int n = roman_value(m.g(2));
  if (n == 0) return std::nullopt;
  return std::string(m.g(1)) + " the " + ordinal(std::to_string(n), m.style);
}

std::optional<std::string> world_war(const Match& m) {  // "WWII"
  return std::string("World War ") + (m.g(1) == "I" ? "one" : "two");
}

std::optional<std::string> roman_century(const Match& m) {  // "the XIX century"
  const int n = roman_value(m.g(1));
  if (n == 0) return std::nullopt;
  return ordinal(std::to_string(n), m.style) + std::string(m.g(2));
}

std::optional<std::string> circa(const Match& m) { return "circa " + year(m.g(1), m.style); }

std::optional<std::string> street_direction(const Match& m) {  // "123 N. Main St.", "456 W 3rd Ave."
  constexpr std::string_view kLetters = "NSEW";
  constexpr std::string_view kNames[] = {" North ", " South ", " East ", " West "};
  return std::string(m.g(1)) + std::string(kNames[kLetters.find(m.g(2)[0])]) + std::string(m.g(3));
}

std::optional<std::string> slashed(const Match& m) {  // "b/c", "c/o"
  return std::string(m.g(0) == "b/c" ? "because" : "care of");
}

struct Symbol {
  std::string_view sign;
  std::string_view words;
};
constexpr Symbol kSymbols[] = {{"&", " and "},
                               {"@", " at "},
                               {"%", " percent "},
                               {"+", " plus "},
                               {"=", " equals "},
                               {"°", " degrees "},
                               {"×", " times "},
                               {"÷", " divided by "},
                               {"±", " plus or minus "},
                               {"§", " section "},
                               {"²", " squared "},
                               {"³", " cubed "},
                               {"$", " dollar "},
                               {"£", " pound "},
                               {"€", " euro "},
                               {"¥", " yen "},
                               {"₹", " rupee "},
                               {"₩", " won "},
                               {"¢", " cent "},
                               {"*", " "},
                               {"/", " "},
                               {"\\", " "},
                               {"_", " "},
                               {"|", ", "},
                               {"^", " "},
                               {"~", " "},
                               {"{", " "},
                               {"}", " "},
                               {"[", "("},
                               {"]", ")"},
                               {"<", " "},
                               {">", " "},
                               {"#", " "},
                               {"α", " alpha "},
                               {"β", " beta "},
                               {"γ", " gamma "},
                               {"δ", " delta "},
                               {"ε", " epsilon "},
                               {"θ", " theta "},
                               {"λ", " lambda "},
                               {"μ", " mu "},
                               {"π", " pi "},
                               {"σ", " sigma "},
                               {"φ", " phi "},
                               {"ω", " omega "},
                               {"Δ", " delta "},
                               {"Σ", " sigma "},
                               {"Ω", " omega "}};

std::optional<std::string> symbol(const Match& m) {
  for (const auto& s : kSymbols) {
    if (s.sign == m.g(0)) return std::string(s.words);
  }
  return std::nullopt;
}

// Greek letters are named only alone; a Greek word is left to be dropped as another script.
std::optional<std::string> greek(const Match& m) {
  const auto before = static_cast<unsigned char>(m.before_char());
  const auto after = static_cast<unsigned char>(m.after_char());
  if (before >= 0x80 || after >= 0x80) return std::nullopt;
  return symbol(m);
}

template <const char* Words>
std::optional<std::string> fixed(const Match&) {
  return std::string(Words);
}
constexpr char kDash[] = "—";
constexpr char kLine[] = "\n";
constexpr char kEllipsis[] = "… ";
constexpr char kNotEqual[] = " is not equal to ";
constexpr char kAnd[] = " and ";
constexpr char kPlusPlus[] = "C plus plus";

std::optional<std::string> number_sign(const Match& m) { return "number " + std::string(m.g(1)); }
std::optional<std::string> sharp(const Match& m) { return std::string(m.g(1)) + " sharp"; }
std::optional<std::string> hashtag(const Match& m) { return "hashtag " + std::string(m.g(1)); }
std::optional<std::string> about(const Match& m) { return "about " + std::string(m.g(1)); }
std::optional<std::string> product(const Match& m) {
  return std::string(m.g(1)) + " times " + std::string(m.g(2));
}
// "a < b" compares; "Settings > Privacy" is the way through a menu.
std::optional<std::string> compared(const Match& m) {
  if (last_word(m.before).size() != 1) return std::string(", ");
  return std::string(m.g(1) == "<" ? " less than " : " greater than ");
}
std::optional<std::string> dot_name(const Match& m) {  // ".NET", "a .txt file"
  return std::string(m.g(1)) + "dot " + std::string(m.g(2));
}
std::optional<std::string> comparison(const Match& m) {
  if (m.before_char() == '-' || m.before_char() == '=') return std::nullopt;  // arrows
  const std::string_view sign = m.g(1);
  return std::string(sign == "<"    ? " less than "
                     : sign == ">"  ? " greater than "
                     : sign == "<=" ? " less than or equal to "
                                    : " greater than or equal to ") +
         std::string(m.g(2));
}
std::optional<std::string> spaced_dash(const Match&) { return std::string(" — "); }

}  // namespace

void add_abbreviations(std::vector<Rule>& out) {
  using K = NormaliseKind;
  std::string all;
  for (const auto& s : abbreviations()) all += (all.empty() ? "" : "|") + std::string(s.written);
  out.push_back({K::kSymbol, R"(---+|===+|\*\*\*+|___+|~~~+|###+)", fixed<kLine>});
  out.push_back({K::kSymbol, R"(--)", fixed<kDash>});
  out.push_back({K::kSymbol, R"(\.\.+ ?)", fixed<kEllipsis>});
  out.push_back({K::kSymbol, R"((?m)^ *[-*] )", fixed<kLine>});
  out.push_back({K::kSymbol, R"(\b([A-G])#)", sharp});
  out.push_back({K::kSymbol, R"(\bC\+\+)", fixed<kPlusPlus>});
  out.push_back({K::kSymbol, R"( ?!==? ?)", fixed<kNotEqual>});
  out.push_back({K::kSymbol, R"( ?&& ?)", fixed<kAnd>});
  out.push_back({K::kSymbol, R"(# ?(\d+))", number_sign});
  out.push_back({K::kSymbol, R"(#([A-Za-z][A-Za-z0-9]*))", hashtag});
  out.push_back({K::kSymbol, R"(~ ?(\d+))", about});
  out.push_back({K::kAbbreviation, R"(\b(?:([eE])\. ?g|([iI])\. ?e)\.)", latin});
  out.push_back(
      {K::kAbbreviation,
       R"(\b(\d+) ([NSEW])\.? ((?:\d+(?:st|nd|rd|th)|[A-Z][a-z]+(?: [A-Z][a-z]+)?) (?:St|Ave|Rd|Blvd|Dr|Ln|Street|Avenue|Road|Boulevard|Drive|Lane)\b))",
       street_direction});
  out.push_back({K::kAbbreviation, R"(\b(?:b/c|c/o)\b)", slashed});
  out.push_back({K::kAbbreviation, R"(\bDr\.)", doctor_or_drive});
  out.push_back({K::kAbbreviation, R"(\bSt\.)", saint_or_street});
  out.push_back({K::kAbbreviation, R"(\b([A-Z][a-z]+) (St|Rd|Ave|Ln|Blvd)\b)", undotted_road});
  out.push_back({K::kAbbreviation, R"(\b(\d{1,2}(?:st|nd|rd|th)) c\.)", nth_century});
  out.push_back({K::kAbbreviation, "\\b(" + all + R"()\.)", abbreviation});
  out.push_back({K::kAbbreviation, R"(\bw/(o\b|out\b)?)", with});
  out.push_back({K::kAbbreviation, R"(\bPh\. ?D\b\.?)", doctorate});
  out.push_back({K::kSymbol, R"((^|[ (])\.(NET|[a-z]{2,5})\b)", dot_name});
  out.push_back({K::kSymbol, R"( *(<=|>=|<|>) *(-?\.?\d+))", comparison});
  out.push_back(
      {K::kAbbreviation,
       R"(\b(Chapter|Part|Act|Volume|War|Section|Book|Phase|Type|Level|Bowl|Article|Class|Stage|Title|Vatican|Scene|Episode|Figure|Table|Appendix|Division|Tier) ([IVXLCDM]+)\b)",
       roman_part});
  out.push_back({K::kAbbreviation, R"(\bWW(II?)\b)", world_war});
  out.push_back(
      {K::kAbbreviation, R"(\b([IVX]{1,5})(?:th)?((?:th)?[ -][Cc]entur(?:y|ies)\b))", roman_century});
  out.push_back({K::kAbbreviation, R"(\bca?\. ?(\d{3,4})\b)", circa});
  // In small letters only with two letters or more: "the book I read".
  out.push_back(
      {K::kAbbreviation,
       R"(\b(chapter|part|act|volume|section|book|phase|type|level|article|class|stage) ([IVXLCDM]{2,})\b)",
       roman_part});
  out.push_back(
      {K::kAbbreviation,
       R"(\b(Henry|Louis|Elizabeth|Charles|George|Edward|Richard|James|William|Pope [A-Z][a-z]+(?: Paul)?|Queen [A-Z][a-z]+|King [A-Z][a-z]+|Napoleon|Catherine) ([IVX]+)\b)",
       roman_ruler});
}

void add_symbols(std::vector<Rule>& out) {
  using K = NormaliseKind;
  // After times and dates, which have letters with dots of their own.
  out.push_back({K::kAbbreviation, R"(\b[A-Za-z](?:\.[A-Za-z])+\b\.?)", initials});
  out.push_back({K::kAbbreviation, R"(\b([A-Z])\.)", lone_initial});
  out.push_back({K::kSymbol, R"( [-–] )", spaced_dash});
  out.push_back({K::kSymbol, R"(\b([a-z]) \* ([a-z])\b)", product});
  out.push_back({K::kSymbol, R"( ([<>]) )", compared});
  out.push_back({K::kSymbol, R"([&@%+=°×÷±§²³$£€¥₹₩¢*/\\_|^~{}\[\]<>#])", symbol});
  out.push_back({K::kSymbol, R"([αβγδεθλμπσφωΔΣΩ])", greek});
}

}  // namespace headroom::text::rules
