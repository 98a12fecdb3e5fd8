// UTF-8 decoding and facts about Latin letters; see utf8.hpp.
#include "text/utf8.hpp"

#include <algorithm>
#include <iterator>

namespace headroom::text {
namespace {

struct LatinRow {
  char32_t code;
  std::string_view base;
  char32_t mark;
};
constexpr LatinRow kLatin[] = {
#include "text/latin_table.inc"
};

const LatinRow* find_latin(char32_t c) {
  const auto* at = std::lower_bound(std::begin(kLatin), std::end(kLatin), c,
                                    [](const LatinRow& row, char32_t code) { return row.code < code; });
  return at != std::end(kLatin) && at->code == c ? at : nullptr;
}

bool continuation(std::string_view t, std::size_t at) {
  return at < t.size() && (static_cast<unsigned char>(t[at]) & 0xC0U) == 0x80U;
}

}  // namespace

char32_t next_code_point(std::string_view t, std::size_t& at) {
  const auto first = static_cast<unsigned char>(t[at]);
  if (first < 0x80) {
    ++at;
    return first;
  }
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) {
    ++at;
    return kBad;
  }
  char32_t c = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (!continuation(t, at + i)) {
      ++at;
      return kBad;
    }
    c = (c << 6U) | (static_cast<unsigned char>(t[at + i]) & 0x3FU);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (c < kSmallest[length] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) {
    ++at;
    return kBad;
  }
  at += length;
  return c;
}

void append_utf8(std::string& out, char32_t c) {
  if (c < 0x80) {
    out.push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out.push_back(static_cast<char>(0xC0U | (c >> 6U)));
    out.push_back(static_cast<char>(0x80U | (c & 0x3FU)));
  } else if (c < 0x10000) {
    out.push_back(static_cast<char>(0xE0U | (c >> 12U)));
    out.push_back(static_cast<char>(0x80U | ((c >> 6U) & 0x3FU)));
    out.push_back(static_cast<char>(0x80U | (c & 0x3FU)));
  } else {
    out.push_back(static_cast<char>(0xF0U | (c >> 18U)));
    out.push_back(static_cast<char>(0x80U | ((c >> 12U) & 0x3FU)));
    out.push_back(static_cast<char>(0x80U | ((c >> 6U) & 0x3FU)));
    out.push_back(static_cast<char>(0x80U | (c & 0x3FU)));
  }
}

std::size_t count_code_points(std::string_view text) {
  std::size_t n = 0;
  for (std::size_t at = 0; at < text.size(); ++n) next_code_point(text, at);
  return n;
}

bool is_latin_letter(char32_t c) {
  if (c < 0x80) return is_ascii_letter(c);
  return (c >= 0xC0 && c < 0x250 && c != 0xD7 && c != 0xF7) || (c >= 0x1E00 && c < 0x1F00) || c == 0xAA ||
         c == 0xBA;
}

bool is_combining_mark(char32_t c) {
  return (c >= 0x300 && c <= 0x36F) || (c >= 0x1AB0 && c <= 0x1AFF) || (c >= 0x1DC0 && c <= 0x1DFF) ||
         (c >= 0x20D0 && c <= 0x20FF) || (c >= 0xFE20 && c <= 0xFE2F);
}

bool is_upper(char32_t c) { return to_lower(c) != c; }

char32_t to_lower(char32_t c) {
  if (c < 0x80) return is_ascii_upper(c) ? c + 0x20 : c;
  if (c >= 0xC0 && c <= 0xDE && c != 0xD7) return c + 0x20;
  if (c == 0x178) return 0xFF;
  if (c == 0x1E9E) return 0xDF;
  const bool even_is_upper = (c >= 0x100 && c <= 0x137 && c != 0x130 && c != 0x131) ||
                             (c >= 0x14A && c <= 0x177) ||
                             (c >= 0x1E00 && c <= 0x1EFF && !(c >= 0x1E96 && c <= 0x1E9F));
  const bool odd_is_upper = (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E);
  if (even_is_upper && c % 2 == 0) return c + 1;
  if (odd_is_upper && c % 2 == 1) return c + 1;
  return c;
}

std::string lower(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (c != kBad) append_utf8(out, to_lower(c));
  }
  return out;
}

std::string_view ascii_base(char32_t c) {
  const LatinRow* row = find_latin(c);
  return row == nullptr ? std::string_view{} : row->base;
}

std::string strip_accents(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (c == kBad || is_combining_mark(c)) continue;
    const std::string_view base = c < 0x80 ? std::string_view{} : ascii_base(c);
    if (base.empty()) {
      append_utf8(out, c);
    } else {
      out += base;
    }
  }
  return out;
}

char32_t compose(char32_t base, char32_t mark) {
  if (!is_ascii_letter(base)) return 0;
  for (const auto& row : kLatin) {
    if (row.mark == mark && row.base.size() == 1 && static_cast<char32_t>(row.base[0]) == base)
      return row.code;
  }
  return 0;
}

}  // namespace headroom::text
