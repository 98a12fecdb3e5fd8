// Words whose sound depends on what they mean, told apart by the words beside them: one table, first match.
#include "text/english.hpp"

namespace headroom::text {
namespace {

// Lists are words between spaces; an empty one matches anything, "-" a missing neighbour (the edge of a
// clause).
struct Row {
  std::string_view words;
  std::string_view previous;
  std::string_view next;
  Reading reading;
  std::string_view before_previous = {};
};

constexpr Row kRows[] = {
    // The metal, and what is made of it.
    {" lead ",
     "",
     " pipe pipes paint paints poisoning poison acid bullet bullets battery batteries weights balloon glass "
     "crystal shielding ore oxide shot contamination exposure ",
     {"", "led"}},
    {" lead ", " pencil molten liquid contains containing of ", " - and or in ", {"", "led"}},
    {" lead ", " and or ", " copper zinc mercury arsenic cadmium tin ", {"", "led"}},
    {" lead ", "", " zinc copper mercury arsenic cadmium ", {"", "led"}},
    // The wind blows; one winds a clock.
    {" wind ", " the a strong cold north south east west this solar light high ", "", {"DEFAULT", ""}},
    {" wind winds ", "", " up back around through along down its the your uphill downhill ", {"VERB", ""}},
    {" winds ", " river road path trail it he she ", "", {"VERB", ""}},
    // One takes a bow, or ties one.
    {" bow ", " a final ", "", {"VERB", ""}, " take takes took taking taken "},
    {" bow bows ", " a final their his her last ", " to - ", {"DEFAULT", ""}},
    {" bow bows ", "", " down before out low deeply of ", {"VERB", ""}},
    {" bow bows ", " they we i you he she to must will would should ", "", {"VERB", ""}},
    {" close ", " the a its at ", " of ", {"NOUN", ""}},
    {" close ",
     " stay get got came come keep kept stand stood sit sat move moved live lives very so too how as really "
     "pretty quite this is are was were be been being not ",
     "",
     {"ADJ", ""}},
    {" close ",
     " a the his her my our their your no two ",
     " friend friends game call match race look relative relatives "
     "relation relationship second contact range proximity eye attention finish family ties quarters combat "
     "encounter up "
     "cooperation collaboration watch shave ",
     {"ADJ", ""}},
    {" close ", "", " to enough together by behind friends ", {"ADJ", ""}},
    {" content ",
     " is are was were be been feel feels felt am i'm seem seems quite very perfectly not so more ",
     "",
     {"DEFAULT", ""}},
    {" content ", "", " with to ", {"DEFAULT", ""}},
    {" content ", "", "", {"NOUN", ""}},
    {" minute ",
     "",
     " amount amounts quantity quantities detail details particle particles difference differences trace "
     "traces fraction change changes crack cracks dose doses variation variations ",
     {"ADJ", ""}},
    {" bass ",
     " sea striped largemouth smallmouth chilean black fried grilled caught catch ",
     "",
     {"DEFAULT", ""}},
    {" bass ", "", " fish fishing pro boat swim ", {"DEFAULT", ""}},
    {" bass ", "", "", {"ADJ", ""}},
    {" dove ", " i you we they he she it who then and ", "", {"VERB", ""}},
    {" dove ", "", " into in headfirst deep deeper straight under off ", {"VERB", ""}},
    {" produce ", " fresh local organic farm seasonal of buy sell ", "", {"NOUN", ""}},
    {" resume resumes ", " my your his her their our a the this updated attached new ", "", {"", "résumé"}},
    {" polish ", "-", " the your my his her our their it up ", {"", "polish"}},
    {" polish ", " to and please nail shoe furniture you i we they ", "", {"", "polish"}},
    {" invalid invalids ", " an the ", " - in who was is lay ", {"NOUN", ""}},
    {" invalid invalids ", "", "", {"DEFAULT", ""}},
    {" use uses ",
     " in any of no the its this that his her their our my your good further common make made ",
     "",
     {"NOUN", ""}},
    {" house houses ", "", " the them him her us people refugees ", {"VERB", ""}},
    {" contract contracts ", " muscles it they metals ", "", {"VERB", ""}},
    {" conflict conflicts ", " they these it that schedules reports ", " - with ", {"VERB", ""}},
    {" advocate ", "-", " for ", {"VERB", ""}},
    {" present ", " be are is was were am been ", " the this a an our my ", {"VERB", ""}},
    {" present ", " be are is was were am been ", "", {"DEFAULT", ""}},
    {" object objects ", " i we they you who would ", "", {"VERB", ""}},
    {" live ", " go went going goes streaming broadcast ", "", {"ADJ", ""}},
    {" read ", " well widely best most ", "", {"VBN", ""}},
};

bool listed(std::string_view list, std::string_view word) {
  if (list.empty()) return true;
  if (word.empty()) return list.front() == '-' || list.find(" - ") != std::string_view::npos;
  // Whole words only: the list has a space on both sides of each.
  for (std::size_t at = list.find(word); at != std::string_view::npos; at = list.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if (at > 0 && list[at - 1] == ' ' && end < list.size() && list[end] == ' ') return true;
  }
  return false;
}

}  // namespace

std::optional<Reading> homograph(std::string_view lower, const WordContext& c) {
  for (const Row& row : kRows) {
    if (listed(row.words, lower) && listed(row.previous, c.previous) && listed(row.next, c.next) &&
        listed(row.before_previous, c.before_previous)) {
      return row.reading;
    }
  }
  return std::nullopt;
}

}  // namespace headroom::text
