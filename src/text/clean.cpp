// Cleaning of user text; see clean.hpp.
#include "text/clean.hpp"

#include <array>
#include <utility>

#include "text/utf8.hpp"

namespace headroom::text {
namespace {

bool is_space(char32_t c) {
  return c == U' ' || c == U'\t' || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

bool is_line_end(char32_t c) {
  return c == U'\n' || c == U'\r' || c == 0x0B || c == 0x0C || c == 0x85 || c == 0x2028 || c == 0x2029;
}

// Seen by nobody: controls, zero-width and direction marks, variation selectors, soft hyphen, tags.
bool is_invisible(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0xAD || c == 0x034F || c == 0x061C || c == 0x180E ||
         (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) ||
         (c >= 0xFE00 && c <= 0xFE0F) || c == 0xFEFF || (c >= 0xE0000 && c <= 0xE01EF);
}

// Letters of scripts other than Latin, kept as words: phonetic letters (for [word](/phonemes/)), then Greek
// to CJK and beyond, without the symbol blocks.
bool is_other_letter(char32_t c) {
  return (c >= 0x250 && c < 0x300) || (c >= 0x1D00 && c < 0x1DC0) ||
         (c >= 0x370 && c < 0x1E00 && c != 0x37E && c != 0x387) || (c >= 0x1F00 && c < 0x2000) ||
         (c >= 0x2C00 && c < 0x2E00) || (c >= 0x3041 && c < 0xA000) || (c >= 0xA000 && c < 0xD7FC) ||
         (c >= 0xF900 && c < 0xFB00) || (c >= 0xFB1D && c < 0xFE00) || (c >= 0xFE70 && c < 0xFEFF) ||
         (c >= 0x10000 && c < 0x1D000) || (c >= 0x20000 && c < 0x30000);
}

struct Replacement {
  char32_t from;
  std::string_view to;
};
constexpr Replacement kReplacements[] = {
    {0x2018, "'"},
    {0x2019, "'"},
    {0x201A, "'"},
    {0x201B, "'"},
    {0x02BC, "'"},
    {0x02B9, "'"},
    {0x2032, "'"},
    {0x2033, "”"},  // inches, as the straight quote after a number
    {0x60, "'"},
    {0xB4, "'"},
    {0x201C, "“"},
    {0x201D, "”"},
    {0x201E, "“"},
    {0x201F, "“"},
    {0xAB, "“"},
    {0xBB, "”"},
    {0x300C, "“"},
    {0x300D, "”"},
    {0x300E, "“"},
    {0x300F, "”"},
    {0x2010, "-"},
    {0x2011, "-"},
    {0x2212, "-"},
    {0xFE63, "-"},
    {0x2012, "–"},
    {0x2013, "–"},
    {0x2014, "—"},
    {0x2015, "—"},
    {0x2E3A, "—"},
    {0x2E3B, "—"},
    {0x2026, "…"},
    {0x2024, "."},
    {0x2025, "…"},
    {0x3002, ". "},
    {0x3001, ", "},
    {0x964, ". "},
    {0x965, ". "},
    {0x61F, "? "},
    {0x60C, ", "},
    {0x61B, "; "},
    {0x37E, "?"},
    {0x203D, "?!"},
    {0x203C, "!!"},
    {0x2047, "??"},
    {0x2048, "?!"},
    {0x2049, "!?"},
    {0xB7, " "},
    {0x2022, "\n"},
    {0x2023, "\n"},
    {0x25CF, "\n"},
    {0x25AA, "\n"},
    {0x2043, "\n"},
    {0xFB00, "ff"},
    {0xFB01, "fi"},
    {0xFB02, "fl"},
    {0xFB03, "ffi"},
    {0xFB04, "ffl"},
    {0xFB05, "st"},
    {0xFB06, "st"},
    {0x2215, "/"},
    {0x2044, "/"},
    {0x2116, "No. "},
    {0x2103, "°C"},
    {0x2109, "°F"},
    {0x2126, "Ω"},
    {0x212A, "K"},
    {0xB5, "μ"},
    {0x2260, " is not equal to "},
    {0x2264, " is at most "},
    {0x2265, " is at least "},
    {0x2248, " about "},
    {0x221E, " infinity "},
    {0x221A, " square root of "},
    {0x2192, " to "},
    {0x2190, " from "},
    {0x21D2, " implies "},
    {0x2122, ""},
    {0xAE, ""},
    {0xA9, ""},
};

std::string_view replacement(char32_t c, bool& found) {
  for (const auto& r : kReplacements) {
    if (r.from == c) {
      found = true;
      return r.to;
    }
  }
  found = false;
  return {};
}

// Width and font variants of ASCII: fullwidth forms, mathematical letters and digits, circled and raised
// digits.
char32_t plain_form(char32_t c) {
  if (c >= 0xFF01 && c <= 0xFF5E) return c - 0xFEE0;
  if (c >= 0x1D400 && c <= 0x1D6A3) {
    const char32_t i = (c - 0x1D400) % 52;
    return i < 26 ? U'A' + i : U'a' + (i - 26);
  }
  if (c >= 0x1D7CE && c <= 0x1D7FF) return U'0' + (c - 0x1D7CE) % 10;
  if (c >= 0x2460 && c <= 0x2468) return U'1' + (c - 0x2460);
  if (c >= 0x2080 && c <= 0x2089) return U'0' + (c - 0x2080);
  if (c == 0x2070 || (c >= 0x2074 && c <= 0x2079)) return U'0' + (c - 0x2070);
  if (c == 0xB9) return U'1';
  if (c >= 0x660 && c <= 0x669) return U'0' + (c - 0x660);
  if (c >= 0x6F0 && c <= 0x6F9) return U'0' + (c - 0x6F0);
  if (c >= 0x966 && c <= 0x96F) return U'0' + (c - 0x966);
  return c;
}

// Symbols with a spoken form, handled by the normaliser.
bool is_kept_symbol(char32_t c) {
  constexpr std::u32string_view kKept = U"°€£¥₹₩¢²³½¼¾⅓⅔⅛⅜⅝⅞⅕±×÷§–—…“”μΩ";
  return kKept.find(c) != std::u32string_view::npos;
}

constexpr char32_t kRaisedMinus = 0x207B;
bool is_raised(char32_t c) {
  return c == 0x2070 || (c >= 0x2074 && c <= 0x2079) || c == 0xB9 || c == 0xB2 || c == 0xB3 ||
         c == kRaisedMinus;
}
bool squared_or_cubed(char32_t c) { return c == 0xB2 || c == 0xB3; }
char32_t raised_digit(char32_t c) {
  if (c == kRaisedMinus) return U'-';
  return c == 0xB9 ? U'1' : c == 0xB2 ? U'2' : c == 0xB3 ? U'3' : U'0' + (c - 0x2070);
}

class Cleaner {
 public:
  explicit Cleaner(std::string_view in) : in_(in) { out_.text.reserve(in.size() + 8); }

  CleanText run() {
    for (std::size_t at = 0; at < in_.size();) {
      char32_t c = next_code_point(in_, at);
      if (c == U'\r' && at < in_.size() && in_[at] == '\n') continue;
      // "10⁶" is a power, "word⁶" a footnote; ² and ³ alone have names of their own.
      // "z⁻¹": no footnote has a minus.
      const bool on_letter = c == kRaisedMinus && is_ascii_letter(last_) && raised_at(at);
      const bool starts_power =
          on_letter || (is_raised(c) && is_ascii_digit(last_) && !(squared_or_cubed(c) && !raised_at(at)));
      if (starts_power) put(U'^');
      for (; starts_power && raised_at(at); next_code_point(in_, at))
        put(raised_digit(std::exchange(c, peek(at))));
      if (starts_power) {
        put(raised_digit(c));
        continue;
      }
      take(plain_form(c));
    }
    return std::move(out_);
  }

 private:
  char32_t peek(std::size_t at) const { return at < in_.size() ? next_code_point(in_, at) : 0; }
  bool raised_at(std::size_t at) const { return is_raised(peek(at)); }
  void put(char32_t c) {
    append_utf8(out_.text, c);
    last_ = c;
  }
  void drop() {
    ++out_.dropped;
    if (last_ != U' ' && last_ != 0) put(U' ');
  }

  void take(char32_t c) {
    if (c == kBad) {
      drop();
    } else if (is_line_end(c)) {
      put(U'\n');
    } else if (is_space(c)) {
      put(U' ');
    } else if (is_invisible(c)) {
      return;
    } else if (c == U'"') {
      // A straight quote opens at the start or after a space or an opening bracket, and closes otherwise.
      const bool opens =
          last_ == 0 || last_ == U' ' || last_ == U'\n' || last_ == U'(' || last_ == U'[' || last_ == U'—';
      put(opens ? 0x201C : 0x201D);
    } else if (is_combining_mark(c)) {
      combine(c);
    } else if (c < 0x7F && c != U'`') {
      put(c);
    } else {
      take_beyond_ascii(c);
    }
  }

  void take_beyond_ascii(char32_t c) {
    bool found = false;
    const std::string_view to = replacement(c, found);
    if (found) {
      out_.text += to;
      if (!to.empty()) {
        std::size_t at = to.size() - 1;
        while (at > 0 && (static_cast<unsigned char>(to[at]) & 0xC0U) == 0x80U) --at;
        last_ = next_code_point(to, at);
      }
    } else if (is_latin_letter(c) || is_other_letter(c) || is_kept_symbol(c)) {
      put(c);
    } else {
      drop();
    }
  }

  // e + U+0301 becomes é; a mark that has no such letter is left out, the letter stays.
  void combine(char32_t mark) {
    const char32_t joined = compose(last_, mark);
    if (joined == 0) return;
    out_.text.pop_back();  // the base is an ASCII letter: one byte
    put(joined);
  }

  std::string_view in_;
  CleanText out_;
  char32_t last_ = 0;
};

}  // namespace

CleanText clean(std::string_view utf8) { return Cleaner(utf8).run(); }

}  // namespace headroom::text
