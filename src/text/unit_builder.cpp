// Assembling units; see unit_builder.hpp.
#include "text/unit_builder.hpp"

#include <algorithm>
#include <span>

namespace headroom::text {
namespace {

bool ends_with(const std::string& s, std::string_view tail) {
  return s.size() >= tail.size() && s.compare(s.size() - tail.size(), tail.size(), tail) == 0;
}

constexpr std::string_view kStops[] = {".", ",", ";", ":", "!", "?", "…"};
constexpr std::string_view kSpaceBehind[] = {".", ",", ";", ":", "!", "?", "…", ")", "”"};
constexpr std::string_view kWeak[] = {",", ";", ":"};

bool in(std::span<const std::string_view> marks, std::string_view mark) {
  return std::find(marks.begin(), marks.end(), mark) != marks.end();
}
bool ends_with_any(const std::string& s, std::span<const std::string_view> marks) {
  return std::any_of(marks.begin(), marks.end(), [&](std::string_view m) { return ends_with(s, m); });
}

}  // namespace

void UnitBuilder::word(std::string_view text, std::string_view phonemes, bool space_before, int cut_before) {
  if (phonemes.empty()) return;
  Unit u;
  u.space_before = opening_.empty() ? space_before : opening_space_;
  // "one,two": the model knows marks only with a space behind them.
  if (!units_.list.empty() && ends_with_any(units_.list.back().phonemes, kSpaceBehind)) u.space_before = true;
  u.text = opening_ + std::string(text);
  u.phonemes = opening_ + std::string(phonemes);
  u.cut_before = cut_before;
  opening_.clear();
  units_.list.push_back(std::move(u));
}

void UnitBuilder::raise_break(Break b) {
  if (!units_.list.empty()) units_.list.back().after = std::max(units_.list.back().after, b);
}

void UnitBuilder::punctuation(std::string_view mark, bool space_before, bool sentence_goes_on) {
  if (mark == "“" || mark == "(") {
    if (opening_.empty()) opening_space_ = space_before;
    if (opening_.size() < 8) opening_ += mark;
    return;
  }
  if (units_.list.empty()) return;  // nothing has been said yet
  if (!opening_.empty() && (mark == "”" || mark == ")")) {
    opening_.clear();  // nothing speakable inside
    return;
  }
  Unit& last = units_.list.back();
  last.text += mark;
  // The same mark twice says no more than once, and a comma nothing after a full stop.
  const bool idle =
      ends_with(last.phonemes, mark) || (in(kWeak, mark) && ends_with_any(last.phonemes, kStops));
  if (!idle) {
    if (mark == "—" && space_before) last.phonemes += ' ';
    last.phonemes += mark;
  }
  if (mark == ".") {
    raise_break(Break::kSentence);
  } else if (mark == "!" || mark == "?" || mark == "…") {
    raise_break(sentence_goes_on ? Break::kClause : Break::kSentence);
  } else if (mark != "”" && mark != ")") {
    raise_break(Break::kClause);
  }
}

void UnitBuilder::paragraph() {
  if (units_.list.empty()) return;
  Unit& last = units_.list.back();
  // The model expects a sentence to end with a mark.
  if (last.after < Break::kSentence && !last.phonemes.empty()) {
    const std::string_view closing[] = {",", ";", ":", "—"};
    for (const auto mark : closing) {
      if (ends_with(last.phonemes, mark)) last.phonemes.resize(last.phonemes.size() - mark.size());
    }
    if (ends_with(last.phonemes, " ")) last.phonemes.pop_back();
    last.phonemes += ".";
  }
  raise_break(Break::kParagraph);
}

void UnitBuilder::pause(double seconds) {
  if (units_.list.empty()) {
    units_.pause_before_s += seconds;
  } else {
    units_.list.back().pause_s += seconds;
  }
}

}  // namespace headroom::text
