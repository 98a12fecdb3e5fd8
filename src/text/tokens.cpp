// Cutting text into pieces and tokens; see tokens.hpp.
#include "text/tokens.hpp"

#include <algorithm>

#include "text/markup.hpp"
#include "text/utf8.hpp"

namespace headroom::text {
namespace {

// "1.5s", "500ms", "2" -> seconds
bool parse_pause(std::string_view s, double& seconds) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  double value = 0;
  double scale = 0;
  std::size_t digits = 0;
  std::size_t i = 0;
  for (; i < s.size() && i < 12; ++i) {
    if (s[i] == '.' && scale == 0) {
      scale = 1;
    } else if (s[i] >= '0' && s[i] <= '9') {
      ++digits;
      value = value * 10 + (s[i] - '0');
      scale *= 10;
    } else {
      break;
    }
  }
  if (scale > 1) value /= scale;
  const std::string_view unit = s.substr(i);
  if (digits == 0 || !(unit.empty() || unit == "s" || unit == "ms")) return false;
  seconds = std::min(unit == "ms" ? value / 1000 : value, kLongestPauseS);
  return true;
}

// Takes the markup that starts at text[at] == '[' if it says something; moves `at` past it.
bool take_markup(std::string_view text, std::size_t& at, Piece& piece) {
  const Markup found = markup_at(text, at);
  if (found.kind == Markup::Kind::kPause) {
    double seconds = 0;
    if (!parse_pause(found.inside, seconds)) return false;
    piece = {Token::Kind::kPause, {}, {}, seconds};
  } else if (found.kind == Markup::Kind::kLink && !found.inside.empty()) {
    piece = {Token::Kind::kWord, std::string(found.inside), {}, 0};
    const std::string_view target = found.target;
    if (target.size() > 2 && target.front() == '/' && target.back() == '/' &&
        target.find("//") == std::string_view::npos) {
      piece.kind = Token::Kind::kPhonemes;
      piece.phonemes = std::string(target.substr(1, target.size() - 2));
    }
  } else {
    return false;
  }
  at = found.end;
  return true;
}

bool is_model_punctuation(char32_t c) {
  constexpr std::u32string_view kAll = U";:,.!?—…“”()";
  return kAll.find(c) != std::u32string_view::npos;
}

// Cyrillic and Greek letters that look like a Latin one; typed by mistake or to deceive, and read as they
// look.
struct LookAlike {
  char32_t letter;
  char latin;
};
constexpr LookAlike kLookAlikes[] = {
    {U'а', 'a'}, {U'е', 'e'}, {U'о', 'o'}, {U'р', 'p'}, {U'с', 'c'}, {U'у', 'y'}, {U'х', 'x'}, {U'і', 'i'},
    {U'ј', 'j'}, {U'ѕ', 's'}, {U'һ', 'h'}, {U'ԁ', 'd'}, {U'ԛ', 'q'}, {U'ԝ', 'w'}, {U'А', 'A'}, {U'В', 'B'},
    {U'Е', 'E'}, {U'К', 'K'}, {U'М', 'M'}, {U'Н', 'H'}, {U'О', 'O'}, {U'Р', 'P'}, {U'С', 'C'}, {U'Т', 'T'},
    {U'У', 'Y'}, {U'Х', 'X'}, {U'І', 'I'}, {U'Ј', 'J'}, {U'Ѕ', 'S'}, {U'ο', 'o'}, {U'ρ', 'p'}, {U'ν', 'v'},
    {U'ι', 'i'}, {U'υ', 'u'}, {U'Α', 'A'}, {U'Β', 'B'}, {U'Ε', 'E'}, {U'Ζ', 'Z'}, {U'Η', 'H'}, {U'Ι', 'I'},
    {U'Κ', 'K'}, {U'Μ', 'M'}, {U'Ν', 'N'}, {U'Ο', 'O'}, {U'Ρ', 'P'}, {U'Τ', 'T'}, {U'Υ', 'Y'}, {U'Χ', 'X'}};

char look_alike(char32_t c) {
  for (const auto& l : kLookAlikes) {
    if (l.letter == c) return l.latin;
  }
  return '\0';
}

bool readable(char32_t c) {  // in an English voice: Latin letters, digits and what joins them in a word
  return is_latin_letter(c) || is_ascii_digit(c) || c == U'\'' || c == U'-' || c == U'.';
}

// The word in Latin letters, if it is a Latin word but for a few look-alikes; otherwise the word as it is.
std::string latin_word(std::string_view word) {
  std::string out;
  std::size_t latin = 0;
  std::size_t alike = 0;
  for (std::size_t at = 0; at < word.size();) {
    const char32_t c = next_code_point(word, at);
    const char instead = look_alike(c);
    if (!readable(c) && instead == '\0') return std::string(word);
    latin += is_latin_letter(c) ? 1 : 0;
    alike += instead != '\0' ? 1 : 0;
    append_utf8(out, instead != '\0' ? static_cast<char32_t>(instead) : c);
  }
  return latin > alike ? out : std::string(word);
}

class Tokeniser {
 public:
  Tokeniser(std::string_view text, std::vector<Token>& out) : text_(text), out_(out) {}

  std::size_t run() {
    while (at_ < text_.size()) {
      const std::size_t from = at_;
      const char32_t c = next_code_point(text_, at_);
      if (c == U'\n') {
        line_end();
      } else if (c == U' ') {
        space_ = true;
        ++line_length_;
      } else if (starts_word(c)) {
        at_ = from;
        take_word();
      } else if (is_model_punctuation(c)) {
        put(Token::Kind::kPunctuation, text_.substr(from, at_ - from));
      } else if (c == U'–') {
        put(Token::Kind::kPunctuation, "—");
      } else if (c == U'-' || c == U'\'') {
        space_ = space_ || c == U'-';  // a stray dash or quote has no sound
      } else {
        ++dropped_;
        space_ = true;
      }
    }
    return dropped_;
  }

 private:
  static bool is_word_char(char32_t c) {
    return c != kBad &&
           (is_ascii_letter(c) || is_ascii_digit(c) || (c >= 0x80 && !is_model_punctuation(c) && c != U'–'));
  }
  bool starts_word(char32_t c) const {
    if (is_word_char(c)) return true;
    if (c != U'\'' || at_ >= text_.size()) return false;
    std::size_t next = at_;
    return is_word_char(next_code_point(text_, next));
  }

  void line_end() {
    // A blank line ends a paragraph. A short line followed by a capital is a heading, a list item or a verse.
    std::size_t next = at_;
    while (next < text_.size() && text_[next] == ' ') ++next;
    const bool blank = line_length_ == 0 || (next < text_.size() && text_[next] == '\n');
    const bool capital = next < text_.size() && text_[next] >= 'A' && text_[next] <= 'Z';
    if (blank || (capital && line_length_ < 60)) paragraph_ = true;
    space_ = true;
    line_length_ = 0;
  }

  void take_word() {
    const std::size_t from = at_;
    std::size_t end = at_;
    std::size_t letters = 0;  // since the last dot, for initials
    while (at_ < text_.size()) {
      std::size_t after = at_;
      const char32_t c = next_code_point(text_, after);
      std::size_t beyond = after;
      const char32_t next = after < text_.size() ? next_code_point(text_, beyond) : 0;
      const bool joins = (c == U'\'' || c == U'-') && (is_word_char(next) || (c == U'\'' && at_ == from));
      const bool initial_dot = c == U'.' && letters == 1 && is_ascii_letter(next);
      if (!is_word_char(c) && !joins && !initial_dot) break;
      letters = is_word_char(c) ? letters + 1 : 0;
      at_ = after;
      end = after;
    }
    if (end == from) {
      next_code_point(text_, at_);
      return;
    }
    put_runs(latin_word(text_.substr(from, end - from)));
  }

  // "Tokyo東京" is two words: the run that has no sound must not take its neighbour with it.
  void put_runs(std::string_view word) {
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t from = at;
      const bool sounds = readable(next_code_point(word, at));
      for (std::size_t next = at; next < word.size(); at = next) {
        if (readable(next_code_point(word, next)) != sounds) break;
      }
      const bool whole = from == 0 && at == word.size();
      const std::string_view run = word.substr(from, at - from);
      put_run(whole ? run : without_joints(run));
      space_ = space_ || !sounds || at < word.size();
    }
  }
  void put_run(std::string_view run) {
    if (!run.empty()) put(Token::Kind::kWord, run);
  }
  static std::string_view without_joints(std::string_view run) {  // "Tokyo-" before another script
    constexpr std::string_view kJoints = "'-.";
    const auto first = run.find_first_not_of(kJoints);
    if (first == std::string_view::npos) return {};
    return run.substr(first, run.find_last_not_of(kJoints) + 1 - first);
  }

  void put(Token::Kind kind, std::string_view text) {
    Token t;
    t.kind = kind;
    t.text = std::string(text);
    t.space_before = space_;
    t.paragraph_before = paragraph_;
    out_.push_back(std::move(t));
    line_length_ += text.size();
    space_ = false;
    paragraph_ = false;
  }

  std::string_view text_;
  std::vector<Token>& out_;
  std::size_t at_ = 0;
  std::size_t line_length_ = 0;
  std::size_t dropped_ = 0;
  bool space_ = false;
  bool paragraph_ = false;
};

}  // namespace

std::vector<Piece> split_markup(std::string_view text) {
  std::vector<Piece> out;
  std::string plain;
  double total_pause = 0;
  const auto flush = [&] {
    if (!plain.empty()) out.push_back({Token::Kind::kWord, std::move(plain), {}, 0});
    plain.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    Piece piece;
    if (text[at] != '[' || !take_markup(text, at, piece)) {
      plain.push_back(text[at++]);
      continue;
    }
    if (piece.kind == Token::Kind::kWord) {
      plain += piece.text;
      continue;
    }
    flush();
    piece.pause_s = std::min(piece.pause_s, kLongestTotalPauseS - total_pause);
    total_pause += piece.pause_s;
    out.push_back(std::move(piece));
  }
  flush();
  return out;
}

std::size_t tokenise(std::string_view text, std::vector<Token>& out) { return Tokeniser(text, out).run(); }

}  // namespace headroom::text
