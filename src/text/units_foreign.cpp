// Units for the languages without a lexicon: whole clauses go to espeak-ng, which reads their numbers and
// (but for Hindi's, which become words here) signs too.
#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "text/unit_builder.hpp"
#include "text/utf8.hpp"

namespace headroom::text {
namespace {

constexpr std::size_t kLongestClause = 600;  // bytes given to espeak-ng at once; cut at a space

// espeak-ng 1.51 reads uninitialised memory for signs in Hindi (valgrind), so that it says another thing each
// time or crashes (found by fuzzing "%%%"); it never gets to see one.
std::string with_signs_as_words(std::string_view clause) {
  using Row = std::pair<std::string_view, std::string_view>;
  static constexpr Row kWords[] = {
      {"%", " प्रतिशत "}, {"&", " और "},        {"+", " प्लस "},       {"=", " बराबर "}, {"@", " ऐट "},
      {"#", " हैश "},     {"$", " डॉलर "},      {"°", " डिग्री "},     {"€", " यूरो "},   {"£", " पाउंड "},
      {"¥", " येन "},     {"₹", " रुपये "},       {"²", " वर्ग "},       {"³", " घन "},    {"½", " आधा "},
      {"¼", " चौथाई "},  {"¾", " तीन चौथाई "}, {"±", " प्लस माइनस "}, {"×", " गुणा "},   {"÷", " भाग "}};
  std::string out;
  while (!clause.empty()) {
    const auto known = std::find_if(std::begin(kWords), std::end(kWords),
                                    [&](const Row& row) { return clause.starts_with(row.first); });
    const char c = clause.front();
    const bool mute = std::ispunct(static_cast<unsigned char>(c)) != 0 && c != '.' && c != ',' && c != '\'';
    if (known != std::end(kWords))
      out += known->second;
    else
      out += mute ? ' ' : c;
    clause.remove_prefix(known != std::end(kWords) ? known->first.size() : 1);
  }
  return out;
}

class ClauseReader {
 public:
  ClauseReader(UnitBuilder& builder, bool devanagari, const ClausePhonemes& phonemes)
      : builder_(builder), devanagari_(devanagari), phonemes_(phonemes) {}

  void read(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t from = at;
      const char32_t c = next_code_point(text, at);
      const bool at_end = at >= text.size() || text[at] == ' ' || text[at] == '\n' ||
                          text.substr(at, 3) == "”" || text[at] == ')';
      if (c == U'\n') {
        speak();
        if (at < text.size() && text[at] == '\n') builder_.paragraph();
        space_ = true;
      } else if (is_mark(c) && (at_end || (c != U'.' && c != U',' && c != U':'))) {
        speak();
        builder_.punctuation(c == U'–' ? "—" : text.substr(from, at - from), space_, false);
        space_ = false;
      } else if (c == U'“' || c == U'(') {
        speak();
        builder_.punctuation(text.substr(from, at - from), true, false);
      } else if (c >= 0x80 && !can_read(c)) {
        ++dropped;
        clause_ += ' ';
      } else {
        clause_.append(text, from, at - from);
        if (clause_.size() > kLongestClause && c == U' ') speak();
        if (clause_.size() > 2 * kLongestClause) speak();
      }
    }
    speak();
  }

  void word(std::string_view text, std::string_view phonemes) { builder_.word(text, phonemes, true); }

  std::size_t dropped = 0;

 private:
  static bool is_mark(char32_t c) {
    constexpr std::u32string_view kMarks = U";:,.!?—…”)–";
    return kMarks.find(c) != std::u32string_view::npos;
  }
  bool can_read(char32_t c) const {
    constexpr std::u32string_view kSigns = U"°€£¥₹²³½¼¾±×÷";
    return is_latin_letter(c) || (devanagari_ && c >= 0x900 && c < 0x980) ||
           kSigns.find(c) != std::u32string_view::npos;
  }

  // Signs that became words may have made it longer than is given at once.
  std::string in_portions(std::string_view text) const {
    std::string all;
    while (!text.empty()) {
      const auto space = text.size() <= kLongestClause ? text.size() : text.rfind(' ', kLongestClause);
      const auto size = space == std::string_view::npos || space == 0 ? text.size() : space;
      all += phonemes_(std::string(text.substr(0, size))) + ' ';
      text.remove_prefix(std::min(text.size(), size + 1));
    }
    return all;
  }

  // The clause so far becomes one unit per word; its text goes with the last.
  void speak() {
    const auto first = clause_.find_first_not_of(' ');
    if (first == std::string::npos) {
      space_ = space_ || !clause_.empty();
      clause_.clear();
      return;
    }
    const std::string text = clause_.substr(first, clause_.find_last_not_of(' ') - first + 1);
    space_ = clause_.back() == ' ';
    clause_.clear();
    const std::string all = devanagari_ ? in_portions(with_signs_as_words(text)) : phonemes_(text);
    const std::size_t last = all.find_last_not_of(' ');
    for (std::size_t at = 0; at < all.size();) {
      const std::size_t end = std::min(all.find(' ', at), all.size());
      const std::string_view shown = last < end ? std::string_view(text) : std::string_view{};
      if (end > at) builder_.word(shown, std::string_view(all).substr(at, end - at), true);
      at = end + 1;
    }
  }

  UnitBuilder& builder_;
  bool devanagari_;
  const ClausePhonemes& phonemes_;
  std::string clause_;
  bool space_ = false;
};

}  // namespace

Units foreign_units(const std::vector<Piece>& pieces, bool devanagari, const ClausePhonemes& phonemes) {
  UnitBuilder builder;
  ClauseReader reader(builder, devanagari, phonemes);
  for (const auto& piece : pieces) {
    switch (piece.kind) {
      case Token::Kind::kPhonemes:
        reader.word(piece.text, piece.phonemes);
        break;
      case Token::Kind::kPause:
        builder.pause(piece.pause_s);
        break;
      default:
        reader.read(piece.text);
        break;
    }
  }
  Units out = builder.take();
  out.dropped = reader.dropped;
  return out;
}

}  // namespace headroom::text
