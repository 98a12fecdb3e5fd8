// Units for the languages without a lexicon: whole clauses go to espeak-ng, which reads their numbers and
// signs too.
#include "text/unit_builder.hpp"
#include "text/utf8.hpp"

namespace headroom::text {
namespace {

constexpr std::size_t kLongestClause = 600;  // bytes given to espeak-ng at once; cut at a space

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
    const std::string all = phonemes_(text);
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
