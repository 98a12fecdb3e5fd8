// Cutting units into segments; see segmenter.hpp.
#include "text/segmenter.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "text/utf8.hpp"

namespace headroom::text {
namespace {

// Silence between the last sound of one segment and the first of the next, at speed 1. Measured inside the
// model's own speech over three voices: 0.38 to 0.44 s at the end of a sentence, 0.32 to 0.38 s at a comma or
// dash.
constexpr double kParagraphPauseS = 0.60;
constexpr double kSentencePauseS = 0.40;
constexpr double kClausePauseS = 0.30;
constexpr double kPhrasePauseS = 0.12;  // where no mark stands
constexpr double kInsideWordPauseS = 0.0;

struct Sized {
  Unit unit;
  std::size_t tokens = 0;  // with the space before it, which is not spoken where a piece starts
  bool inside_word = false;
};

struct Run {
  std::size_t from = 0;
  std::size_t to = 0;
  std::size_t tokens = 0;
};

// Units with their token counts; one that alone exceeds the limit is cut into parts.
std::vector<Sized> measure(const Units& units, const Vocab& vocab, std::size_t most, std::size_t& dropped) {
  std::vector<Sized> out;
  out.reserve(units.list.size());
  for (const auto& u : units.list) {
    Unit known = u;
    known.phonemes = vocab.keep_known(u.phonemes, dropped);
    if (known.phonemes.empty()) continue;
    std::size_t left = count_code_points(known.phonemes);
    if (left <= most) {
      const std::size_t count = left + (known.space_before ? 1 : 0);
      out.push_back({std::move(known), count, false});
      continue;
    }
    std::string_view rest = known.phonemes;
    bool first = true;
    while (left > 0) {
      const std::size_t take = std::min(left, most);
      std::size_t bytes = 0;
      for (std::size_t i = 0; i < take; ++i) next_code_point(rest, bytes);
      Unit part;
      part.text = first ? known.text : "";
      part.phonemes = std::string(rest.substr(0, bytes));
      part.space_before = first && known.space_before;
      part.cut_before = first ? known.cut_before : 0;
      left -= take;
      rest.remove_prefix(bytes);
      if (left == 0) {
        part.after = known.after;
        part.pause_s = known.pause_s;
      }
      out.push_back({std::move(part), take + (first && known.space_before ? 1U : 0U), left > 0});
      first = false;
    }
  }
  return out;
}

class Cutter {
 public:
  Cutter(const std::vector<Sized>& units, const SegmentLimits& limits) : units_(units), limits_(limits) {}

  std::vector<Run> run() {
    std::size_t from = 0;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      const Unit& u = units_[i].unit;
      if (u.after < Break::kSentence && u.pause_s <= 0 && i + 1 < units_.size()) continue;
      sentence(from, i + 1);
      from = i + 1;
    }
    return std::move(pieces_);
  }

 private:
  void sentence(std::size_t from, std::size_t to) {
    std::size_t total = 0;
    for (std::size_t i = from; i < to; ++i) total += units_[i].tokens;
    while (from < to) {
      const std::size_t lead = space_at(from);
      const bool opening = pieces_.empty();
      const std::size_t limit = std::min(opening ? limits_.first : limits_.aim, limits_.most);
      // A sentence without a clause to cut at may be somewhat longer before it is cut between words.
      const std::size_t stretch = std::min(limit + limit * 2 / 3, limits_.most);
      std::size_t end = to;
      std::size_t size = total - lead;
      // A little over is better than a stump.
      if (size > std::min(limit + limit / 6, limits_.most))
        std::tie(end, size) = best_cut(from, to, size, limit, stretch);
      add({from, end, size});
      total -= size + lead;
      from = end;
    }
  }

  // The best place to end a piece that starts at `from`, and its tokens.
  std::pair<std::size_t, std::size_t> best_cut(std::size_t from, std::size_t to, std::size_t total,
                                               std::size_t limit, std::size_t stretch) const {
    struct Place {
      std::size_t end = 0;
      std::size_t tokens = 0;
    };
    Place best[4];      // the last one within the limit, by quality: word, preposition, conjunction, clause
    Place late_clause;  // the first one beyond the limit
    std::size_t sum = 0;
    for (std::size_t i = from; i + 1 < to; ++i) {
      sum += units_[i].tokens - (i == from ? space_at(from) : 0);
      if (sum > stretch && i > from) break;
      const bool clause = units_[i].unit.after >= Break::kClause;
      if (sum > limit) {
        if (clause && late_clause.end == 0 && sum <= stretch) late_clause = {i + 1, sum};
        continue;
      }
      const auto quality = static_cast<std::size_t>(clause ? 3 : units_[i + 1].unit.cut_before);
      // A good place too near the start makes a stump; it does not count.
      const std::size_t least = quality == 3 ? limit / 5 : quality > 0 ? limit / 3 : 0;
      if (sum >= least) best[quality] = {i + 1, sum};
    }
    if (best[3].end != 0) return {best[3].end, best[3].tokens};
    if (total <= stretch) return {to, total};
    if (late_clause.end != 0) return {late_clause.end, late_clause.tokens};
    for (std::size_t quality = 3; quality-- > 0;) {
      if (best[quality].end != 0) return {best[quality].end, best[quality].tokens};
    }
    return {from + 1, units_[from].tokens - space_at(from)};
  }

  std::size_t space_at(std::size_t unit) const { return units_[unit].unit.space_before ? 1 : 0; }

  // A tiny sentence sounds better with its neighbour.
  void add(Run piece) {
    if (!pieces_.empty()) {
      Run& last = pieces_.back();
      const Unit& joint = units_[last.to - 1].unit;
      const std::size_t limit = std::min(pieces_.size() == 1 ? limits_.first : limits_.aim, limits_.most);
      const bool whole_sentences = joint.after == Break::kSentence && joint.pause_s <= 0;
      const bool tiny = last.tokens < limits_.tiny || piece.tokens < limits_.tiny;
      if (whole_sentences && tiny && last.tokens + piece.tokens + space_at(piece.from) <= limit) {
        last.to = piece.to;
        last.tokens += piece.tokens + space_at(piece.from);
        return;
      }
    }
    pieces_.push_back(piece);
  }

  const std::vector<Sized>& units_;
  const SegmentLimits& limits_;
  std::vector<Run> pieces_;
};

double natural_pause(const Sized& last) {
  if (last.inside_word) return kInsideWordPauseS;
  switch (last.unit.after) {
    case Break::kParagraph:
      return kParagraphPauseS;
    case Break::kSentence:
      return kSentencePauseS;
    case Break::kClause:
      return kClausePauseS;
    case Break::kNone:
      break;
  }
  return kPhrasePauseS;
}

}  // namespace

std::vector<TextSegment> cut_into_segments(const Units& units, const Vocab& vocab,
                                           const SegmentLimits& limits, std::size_t& dropped) {
  const std::vector<Sized> sized = measure(units, vocab, limits.most, dropped);
  const std::vector<Run> pieces = Cutter(sized, limits).run();
  std::vector<TextSegment> out;
  out.reserve(pieces.size());
  for (const Run& piece : pieces) {
    TextSegment s;
    for (std::size_t i = piece.from; i < piece.to; ++i) {
      const Unit& u = sized[i].unit;
      if (i > piece.from && u.space_before) {
        s.phonemes.push_back(' ');
        if (!u.text.empty() && !s.text.empty()) s.text.push_back(' ');
      }
      s.phonemes += u.phonemes;
      s.text += u.text;
    }
    s.tokens = vocab.tokens(s.phonemes);
    s.characters = count_code_points(s.text);
    const Sized& last = sized[piece.to - 1];
    const bool final = piece.to == sized.size();
    s.natural_pause_s = final ? 0.0 : natural_pause(last);
    s.asked_pause_s = last.unit.pause_s;
    s.pause_after_s = s.natural_pause_s + s.asked_pause_s;
    if (out.empty()) s.pause_before_s = units.pause_before_s;
    out.push_back(std::move(s));
  }
  return out;
}

}  // namespace headroom::text
