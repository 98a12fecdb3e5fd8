// UTF-8: decoding that never fails, and the few facts about characters the frontend needs.
//
// Not a Unicode library: it knows the Latin letters the offered languages use, and treats every other script
// only as "a letter" or not. Invalid bytes decode to kBad, one per byte. Pure functions, safe from any
// thread, no errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace headroom::text {

inline constexpr char32_t kBad = 0xFFFFFFFF;  // an invalid byte, a surrogate or a code point beyond U+10FFFF

// Decodes the code point at text[at] and moves `at` past it. at < text.size().
char32_t next_code_point(std::string_view text, std::size_t& at);
void append_utf8(std::string& out, char32_t c);
std::size_t count_code_points(std::string_view text);  // an invalid byte counts one

inline bool is_ascii_digit(char32_t c) { return c >= U'0' && c <= U'9'; }
inline bool is_ascii_lower(char32_t c) { return c >= U'a' && c <= U'z'; }
inline bool is_ascii_upper(char32_t c) { return c >= U'A' && c <= U'Z'; }
inline bool is_ascii_letter(char32_t c) { return is_ascii_lower(c) || is_ascii_upper(c); }
bool is_latin_letter(char32_t c);    // ASCII, Latin-1, Latin Extended-A and -B, Latin Extended Additional
bool is_combining_mark(char32_t c);  // U+0300..U+036F and the other combining blocks
char32_t to_lower(char32_t c);       // ASCII and the Latin letters that have a pair
bool is_upper(char32_t c);
std::string lower(std::string_view text);

// The ASCII letters behind an accented one: é -> "e", ß -> "ss", æ -> "ae"; "" if there are none.
std::string_view ascii_base(char32_t c);
std::string strip_accents(std::string_view text);
// The single code point of a letter with a combining mark (e + U+0301 -> é); 0 if there is none.
char32_t compose(char32_t base, char32_t mark);

}  // namespace headroom::text
