// The table of abbreviations; see abbreviations.hpp.
#include "text/abbreviations.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace headroom::text {
namespace {

using After = Abbreviation::After;
constexpr Abbreviation kAll[] = {{"Mr", "Mister"},
                                 {"Mrs", "Mrs"},
                                 {"Messrs", "Messrs"},
                                 {"Ms", "Ms"},
                                 {"Dr", "Doctor"},  // the normaliser tells Drive by what stands beside it
                                 {"St", "Saint"},   // and Street
                                 {"Prof", "Professor"},
                                 {"Rev", "Reverend"},
                                 {"Hon", "Honorable"},
                                 {"Gen", "General", After::kCapital},
                                 {"Brig", "Brigadier", After::kCapital},
                                 {"Adm", "Admiral", After::kCapital},
                                 {"Col", "Colonel", After::kCapital},
                                 {"Sgt", "Sergeant"},
                                 {"Cpl", "Corporal"},
                                 {"Pvt", "Private"},
                                 {"Lt", "Lieutenant"},
                                 {"Capt", "Captain"},
                                 {"Cmdr", "Commander"},
                                 {"Maj", "Major", After::kCapital},
                                 {"Gov", "Governor", After::kCapital},
                                 {"Sen", "Senator", After::kCapital},
                                 {"Sens", "Senators", After::kCapital},
                                 {"Rep", "Representative", After::kCapital},
                                 {"Pres", "President", After::kCapital},
                                 {"Mt", "Mount", After::kCapital},
                                 {"Ft", "Fort", After::kCapital},
                                 {"Jr", "Junior", After::kAnything, true},
                                 {"Sr", "Senior", After::kAnything, true},
                                 {"Esq", "Esquire", After::kAnything, true},
                                 {"vs", "versus"},
                                 {"v", "versus", After::kCapital},
                                 {"approx", "approximately"},
                                 {"esp", "especially"},
                                 {"dept", "department", After::kAnything, true},
                                 {"Dept", "Department", After::kAnything, true},
                                 {"Fig", "Figure", After::kDigit},
                                 {"fig", "figure", After::kDigit},
                                 {"Eq", "Equation", After::kDigit},
                                 {"Vol", "Volume", After::kNumeral},
                                 {"vol", "volume", After::kNumeral},
                                 {"No", "number", After::kDigit},
                                 {"no", "number", After::kDigit},
                                 {"Nos", "numbers", After::kDigit},
                                 {"nos", "numbers", After::kDigit},
                                 {"pp", "pages", After::kDigit},
                                 {"Pg", "Page", After::kDigit},
                                 {"pg", "page", After::kDigit},
                                 {"p", "page", After::kDigit},
                                 {"Ch", "Chapter", After::kNumeral},
                                 {"ch", "chapter", After::kNumeral},
                                 {"Sec", "Section", After::kNumeral},
                                 {"est", "established", After::kDigit},
                                 {"Est", "Established", After::kDigit},
                                 {"Ave", "Avenue", After::kAnything, true},
                                 {"Blvd", "Boulevard", After::kAnything, true},
                                 {"Rd", "Road", After::kAnything, true},
                                 {"Ln", "Lane", After::kAnything, true},
                                 {"Inc", "Incorporated", After::kAnything, true},
                                 {"Ltd", "Limited", After::kAnything, true},
                                 {"Corp", "Corporation", After::kAnything, true},
                                 {"Co", "Company", After::kAnything, true},
                                 {"Bros", "Brothers", After::kAnything, true},
                                 {"Univ", "University", After::kAnything, true},
                                 {"govt", "government", After::kAnything, true},
                                 {"etc", "etc", After::kAnything, true},
                                 {"doz", "dozen", After::kAnything, true},
                                 {"ea", "each", After::kAnything, true},
                                 {"cf", "compare"},
                                 {"al", "al", After::kAnything, true},
                                 {"incl", "including"},
                                 {"max", "maximum", After::kDigit},
                                 {"min", "minimum", After::kDigit},
                                 {"tel", "telephone"},
                                 {"Tel", "Telephone"},
                                 {"ext", "extension", After::kDigit},
                                 {"Ext", "Extension", After::kDigit},
                                 {"Hwy", "Highway", After::kDigit},
                                 {"Bldg", "Building", After::kDigit},
                                 {"Rte", "Route", After::kDigit},
                                 {"Rm", "Room", After::kDigit},
                                 {"Apt", "Apartment", After::kDigit},
                                 {"apt", "apartment", After::kDigit},
                                 {"Ste", "Suite", After::kDigit},
                                 {"Mon", "Monday", After::kSameSentence},
                                 {"Tue", "Tuesday", After::kAnything, true},
                                 {"Tues", "Tuesday", After::kAnything, true},
                                 {"Wed", "Wednesday", After::kSameSentence},
                                 {"Thu", "Thursday", After::kAnything, true},
                                 {"Thur", "Thursday", After::kAnything, true},
                                 {"Thurs", "Thursday", After::kAnything, true},
                                 {"Fri", "Friday", After::kAnything, true},
                                 {"Sat", "Saturday", After::kSameSentence},
                                 {"Sun", "Sunday", After::kSameSentence},
                                 {"Jan", "January", After::kSameSentence},
                                 {"Feb", "February", After::kAnything, true},
                                 {"Mar", "March", After::kSameSentence},
                                 {"Apr", "April", After::kAnything, true},
                                 {"Jun", "June", After::kSameSentence},
                                 {"Jul", "July", After::kSameSentence},
                                 {"Aug", "August", After::kAnything, true},
                                 {"Sep", "September", After::kAnything, true},
                                 {"Sept", "September", After::kAnything, true},
                                 {"Oct", "October", After::kAnything, true},
                                 {"Nov", "November", After::kAnything, true},
                                 {"Dec", "December", After::kAnything, true}};

// Words that rarely follow an abbreviation but often start a sentence.
constexpr std::array<std::string_view, 34> kStarters{
    "The",  "It",   "He",    "She",   "We", "They", "I",   "In",  "On",   "At",   "But", "And",
    "This", "That", "There", "These", "A",  "An",   "You", "If",  "When", "What", "Who", "How",
    "So",   "Then", "As",    "For",   "My", "His",  "Her", "Our", "Its",  "No"};
constexpr std::size_t kLongestStarter = 5;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
char lowered(char c) { return is_upper(c) ? static_cast<char>(c | 0x20) : c; }
bool is_letter(char c) { return lowered(c) >= 'a' && lowered(c) <= 'z'; }

std::size_t letters_at(std::string_view text, std::size_t from) {
  std::size_t end = from;
  while (end < text.size() && is_letter(text[end])) ++end;
  return end - from;
}

bool starts_sentence(std::string_view text) {
  const std::string_view word = text.substr(0, letters_at(text, 0));
  const bool initial = word.size() == 1 && text.size() > 1 && text[1] == '.';  // "J. A. Smith"
  return !initial && std::find(kStarters.begin(), kStarters.end(), word) != kStarters.end();
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lowered(x) == lowered(y); });
}

// The letters and dots that stand before the full stop: "Dr", "J", "e.g".
std::string_view word_before(std::string_view text, std::size_t stop) {
  constexpr std::size_t kLongest = 32;
  std::size_t begin = stop;
  while (begin > 0 && stop - begin < kLongest && (is_letter(text[begin - 1]) || text[begin - 1] == '.'))
    --begin;
  return text.substr(begin, stop - begin);
}

bool ends_with_letter(std::string_view text) {
  if (text.empty()) return false;
  const bool beyond_ascii = static_cast<unsigned char>(text.back()) >= 0x80;
  // The dashes and quotation marks of U+2000 to U+203F are no letters.
  const bool mark = text.size() >= 3 && text.substr(text.size() - 3, 2) == "\xE2\x80";
  return is_letter(text.back()) || (beyond_ascii && !mark);
}

// The word that begins here is the end of a longer one: "don't", "5G", "piñata".
bool continues_a_word(std::string_view before) {
  if (before.empty()) return false;
  for (const std::string_view apostrophe : {"'", "’"}) {
    if (before.ends_with(apostrophe))
      return ends_with_letter(before.substr(0, before.size() - apostrophe.size()));
  }
  return (before.back() >= '0' && before.back() <= '9') || ends_with_letter(before);
}

// "J", "U.S", "Ph.D", the c of "c. 1850"; not "node.js".
bool are_initials(std::string_view word) {
  constexpr std::size_t kLongestPart = 3;
  if (word.size() == 1) return true;
  if (word.find('.') == std::string_view::npos) return false;
  for (std::size_t at = 0; at < word.size(); ++at) {
    const std::size_t letters = letters_at(word, at);
    if (letters > kLongestPart) return false;
    at += letters;
  }
  return true;
}

FullStop decided_by_what_follows(std::string_view after, bool before_a_number) {
  constexpr std::size_t kFarthest = 32;
  const std::string_view near = after.substr(0, kFarthest);
  if (near.empty()) return FullStop::kUndecided;
  const std::size_t word =
      std::min(near.size(),
               static_cast<std::size_t>(std::find_if_not(near.begin(), near.end(), is_space) - near.begin()));
  const std::string_view gap = near.substr(0, word);
  if (gap.empty()) return FullStop::kAbbreviates;
  if (std::count(gap.begin(), gap.end(), '\n') > 1) return FullStop::kEndsSentence;
  if (word == near.size()) return near.size() < kFarthest ? FullStop::kUndecided : FullStop::kAbbreviates;
  if (!is_upper(near[word])) return FullStop::kAbbreviates;
  const std::size_t letters = letters_at(near, word);
  if (before_a_number && letters > 1 && !is_upper(near[word + 1]))
    return FullStop::kEndsSentence;  // "No. Tom"
  if (word + letters == after.size() && letters <= kLongestStarter) return FullStop::kUndecided;
  return starts_sentence(near.substr(word)) ? FullStop::kEndsSentence : FullStop::kAbbreviates;
}

}  // namespace

std::span<const Abbreviation> abbreviations() { return kAll; }

bool sentence_ends_here(std::string_view after) {
  const std::size_t word = std::min(after.find_first_not_of(" \n"), after.size());
  if (word == after.size()) return true;
  return word > 0 && starts_sentence(after.substr(word));
}

FullStop full_stop_at(std::string_view text, std::size_t stop) {
  const std::string_view word = word_before(text, stop);
  if (continues_a_word(text.substr(0, stop - word.size()))) return FullStop::kEndsSentence;
  // Where it may be a word as well ("sat", "no"), it is known only as it is written in the table.
  const auto* known = std::find_if(std::begin(kAll), std::end(kAll), [&](const Abbreviation& a) {
    return a.written == word || (a.after == After::kAnything && same_letters(a.written, word));
  });
  if (known == std::end(kAll) && !are_initials(word)) return FullStop::kEndsSentence;
  const bool before_a_number =
      known != std::end(kAll) && (known->after == After::kDigit || known->after == After::kNumeral);
  const bool before_a_name = known != std::end(kAll) && known->written == word && !known->may_end_sentence &&
                             (known->after == After::kAnything || known->after == After::kCapital);
  if (before_a_name || same_letters(word, "e.g") || same_letters(word, "i.e")) return FullStop::kAbbreviates;
  return decided_by_what_follows(text.substr(stop + 1), before_a_number);
}

}  // namespace headroom::text
