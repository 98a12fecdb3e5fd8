// Normalising rules for abbreviations and symbols.
#include <algorithm>
#include <iterator>

#include "text/calendar_names.hpp"
#include "text/normalise_rules.hpp"

namespace headroom::text::rules {
namespace {

enum class After { kAnything, kDigit, kCapital };
struct Short {
  std::string_view written;  // without its dot
  std::string_view words;
  After after = After::kAnything;  // what must follow for this reading
  bool may_end_sentence = false;
};
constexpr Short kShort[] = {{"Mr", "Mister"},
                            {"Mrs", "Mrs"},
                            {"Ms", "Ms"},
                            {"Prof", "Professor"},
                            {"Rev", "Reverend"},
                            {"Hon", "Honorable"},
                            {"Gen", "General", After::kCapital},
                            {"Col", "Colonel", After::kCapital},
                            {"Sgt", "Sergeant"},
                            {"Lt", "Lieutenant"},
                            {"Capt", "Captain"},
                            {"Cmdr", "Commander"},
                            {"Maj", "Major", After::kCapital},
                            {"Gov", "Governor", After::kCapital},
                            {"Sen", "Senator", After::kCapital},
                            {"Rep", "Representative", After::kCapital},
                            {"Pres", "President", After::kCapital},
                            {"Mt", "Mount", After::kCapital},
                            {"Ft", "Fort", After::kCapital},
                            {"Jr", "Junior", After::kAnything, true},
                            {"Sr", "Senior", After::kAnything, true},
                            {"vs", "versus"},
                            {"approx", "approximately"},
                            {"dept", "department"},
                            {"Dept", "Department"},
                            {"Fig", "Figure", After::kDigit},
                            {"fig", "figure", After::kDigit},
                            {"Eq", "Equation", After::kDigit},
                            {"Vol", "Volume", After::kDigit},
                            {"vol", "volume", After::kDigit},
                            {"No", "number", After::kDigit},
                            {"no", "number", After::kDigit},
                            {"Nos", "numbers", After::kDigit},
                            {"pp", "pages", After::kDigit},
                            {"p", "page", After::kDigit},
                            {"Ch", "Chapter", After::kDigit},
                            {"ch", "chapter", After::kDigit},
                            {"Sec", "Section", After::kDigit},
                            {"Ave", "Avenue", After::kAnything, true},
                            {"Blvd", "Boulevard", After::kAnything, true},
                            {"Rd", "Road", After::kAnything, true},
                            {"Inc", "Incorporated", After::kAnything, true},
                            {"Ltd", "Limited", After::kAnything, true},
                            {"Corp", "Corporation", After::kAnything, true},
                            {"Co", "Company", After::kAnything, true},
                            {"Bros", "Brothers"},
                            {"Univ", "University"},
                            {"govt", "government"},
                            {"etc", "etc", After::kAnything, true},
                            {"cf", "compare"},
                            {"al", "al", After::kAnything, true},
                            {"incl", "including"},
                            {"max", "maximum", After::kDigit},
                            {"min", "minimum", After::kDigit},
                            {"tel", "telephone"},
                            {"Tel", "Telephone"},
                            {"Mon", "Monday", After::kDigit},
                            {"Tue", "Tuesday"},
                            {"Tues", "Tuesday"},
                            {"Wed", "Wednesday", After::kDigit},
                            {"Thu", "Thursday"},
                            {"Thurs", "Thursday"},
                            {"Fri", "Friday"},
                            {"ext", "extension", After::kDigit},
                            {"nos", "numbers", After::kDigit},
                            {"Hwy", "Highway", After::kDigit},
                            {"Bldg", "Building", After::kDigit},
                            {"Rte", "Route", After::kDigit},
                            {"Rm", "Room", After::kDigit},
                            {"Apt", "Apartment", After::kDigit},
                            {"apt", "apartment", After::kDigit},
                            {"Ste", "Suite", After::kDigit}};

std::string_view skip_spaces(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  return s;
}

bool capitalised(std::string_view word) { return word.size() > 1 && upper(word[0]) && !upper(word[1]); }

std::optional<std::string> abbreviation(const Match& m) {
  const std::string_view next = skip_spaces(m.after);
  const bool spaced = next.size() != m.after.size();
  for (const auto& s : kShort) {
    if (s.written != m.g(1)) continue;
    if (s.after == After::kDigit && (next.empty() || !digit(next[0]))) return std::nullopt;
    if (s.after == After::kCapital && (!spaced || next.empty() || !upper(next[0]))) return std::nullopt;
    std::string out(s.words);
    if (s.may_end_sentence && sentence_ends_here(m.after)) out += ".";
    return out;
  }
  return std::nullopt;
}

std::optional<std::string> doctor_or_drive(const Match& m) {  // "Dr. Smith", "12 Oak Dr."
  const std::string_view next = skip_spaces(m.after);
  const bool name_follows = !next.empty() && upper(next[0]) && !sentence_ends_here(m.after);
  if (!name_follows && capitalised(last_word(m.before)))
    return sentence_ends_here(m.after) ? "Drive." : "Drive";
  return std::string("Doctor");
}

std::optional<std::string> saint_or_street(const Match& m) {  // "St. Paul", "Main St."
  const std::string_view next = skip_spaces(m.after);
  if (!next.empty() && upper(next[0]) && !sentence_ends_here(m.after) && !capitalised(last_word(m.before)))
    return std::string("Saint");
  const bool name_follows = !next.empty() && upper(next[0]) && next.size() != m.after.size();
  if (!capitalised(last_word(m.before)) && (name_follows || last_word(m.before).empty()))
    return std::string("Saint");
  return sentence_ends_here(m.after) ? "Street." : "Street";
}

std::optional<std::string> latin(const Match& m) {
  const bool example = m.g(1) == "e" || m.g(1) == "E";
  return std::string(example ? "for example" : "that is") + (m.after_char() == ',' ? "" : ",");
}

std::optional<std::string> with(const Match& m) { return std::string(m.g(1).empty() ? "with" : "without"); }

std::optional<std::string> doctorate(const Match& m) {
  return std::string("P.H.D") + (m.g(0).back() == '.' && sentence_ends_here(m.after) ? "." : "");
}

std::optional<std::string> weekday_comma(const Match& m) {
  const auto day = name_of(kWeekdays, m.g(1));
  if (!day) return std::nullopt;
  return std::string(*day) + ",";
}

std::optional<std::string> initials(
    const Match& m) {  // "U.S.", "J.R.R.": keep inner dots, english.hpp spells them
  std::string out = join_initials(m.g(0));
  if (m.g(0).back() == '.' && sentence_ends_here(m.after)) out += ".";
  return out;
}

std::optional<std::string> lone_initial(const Match& m) {  // "George W. Bush", "J. K. Rowling"
  const std::string_view previous = last_word(m.before);
  const bool after_name =
      previous.empty() || (upper(previous[0]) && (previous.size() == 1 || !upper(previous[1])));
  if (m.g(1) == "I" || m.before_char() == '.' || !after_name || sentence_ends_here(m.after))
    return std::nullopt;
  return std::string(m.g(1)) + " ";
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
  for (const auto& s : kShort) all += (all.empty() ? "" : "|") + std::string(s.written);
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
  out.push_back({K::kAbbreviation, R"(\b([eEiI])\. ?[gGeE]\.)", latin});
  out.push_back(
      {K::kAbbreviation,
       R"(\b(\d+) ([NSEW])\.? ((?:\d+(?:st|nd|rd|th)|[A-Z][a-z]+(?: [A-Z][a-z]+)?) (?:St|Ave|Rd|Blvd|Dr|Ln|Street|Avenue|Road|Boulevard|Drive|Lane)\b))",
       street_direction});
  out.push_back({K::kAbbreviation, R"(\b(?:b/c|c/o)\b)", slashed});
  out.push_back({K::kAbbreviation, R"(\bDr\.)", doctor_or_drive});
  out.push_back({K::kAbbreviation, R"(\bSt\.)", saint_or_street});
  out.push_back({K::kAbbreviation, "\\b(" + all + R"()\.)", abbreviation});
  out.push_back({K::kAbbreviation, R"(\bw/(o\b|out\b)?)", with});
  out.push_back({K::kAbbreviation, R"(\bPh\. ?D\b\.?)", doctorate});
  out.push_back({K::kAbbreviation, R"(\b(Mon|Tue|Tues|Wed|Thu|Thur|Thurs|Fri|Sat|Sun)\.,)", weekday_comma});
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
  out.push_back({K::kAbbreviation, R"(\b([A-Z])\. )", lone_initial});
  out.push_back({K::kSymbol, R"( [-–] )", spaced_dash});
  out.push_back({K::kSymbol, R"(\b([a-z]) \* ([a-z])\b)", product});
  out.push_back({K::kSymbol, R"( ([<>]) )", compared});
  out.push_back({K::kSymbol, R"([&@%+=°×÷±§²³$£€¥₹₩¢*/\\_|^~{}\[\]<>#])", symbol});
  out.push_back({K::kSymbol, R"([αβγδεθλμπσφωΔΣΩ])", greek});
}

}  // namespace headroom::text::rules
