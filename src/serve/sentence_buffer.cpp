// Finds the ends of sentences.
#include "serve/sentence_buffer.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "net/http.hpp"

namespace headroom::serve {
namespace {

constexpr std::array<std::string_view, 22> kAbbreviations{
    "mr", "mrs", "ms",  "dr", "prof", "st",  "sr",  "jr",  "vs",  "etc", "approx",
    "no", "inc", "ltd", "co", "dept", "gen", "col", "sen", "rep", "rev", "fig"};
constexpr std::array<std::string_view, 4> kWideEnds{"。", "！", "？", "…"};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// The text up to `end` (behind a full stop) closes with an abbreviation or an initial: "Dr.", "J.", "e.g."
bool abbreviated(std::string_view text, std::size_t end) {
  std::size_t begin = end - 1;
  while (begin > 0 && (is_letter(text[begin - 1]) || text[begin - 1] == '.')) --begin;
  const auto word = text.substr(begin, end - 1 - begin);
  if (word.size() == 1 || word.find('.') != std::string_view::npos) return true;
  return std::any_of(kAbbreviations.begin(), kAbbreviations.end(),
                     [&](auto known) { return net::iequals(known, word); });
}

// Length of the end mark and the closing quotes behind it at `at`; 0: none is there.
std::size_t end_mark(std::string_view text, std::size_t at) {
  std::size_t end = at;
  if (text[at] == '.' || text[at] == '!' || text[at] == '?') {
    while (end < text.size() && (text[end] == '.' || text[end] == '!' || text[end] == '?')) ++end;
    if (text[at] == '.' && end == at + 1 && abbreviated(text, end)) return 0;
  } else {
    for (const auto mark : kWideEnds) {
      if (text.substr(at, mark.size()) == mark) end = at + mark.size();
    }
    if (end == at) return 0;
  }
  for (bool more = true; more;) {
    more = false;
    for (const std::string_view closing : {"\"", "'", ")", "]", "”", "’", "»", "」"}) {
      if (text.substr(end, closing.size()) != closing) continue;
      end += closing.size();
      more = true;
    }
  }
  return end - at;
}

}  // namespace

void SentenceBuffer::add(std::string_view piece) { text_ += piece; }

std::vector<std::string> SentenceBuffer::take_complete() {
  std::vector<std::string> out;
  std::size_t begin = 0;
  const std::string_view text = text_;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t length =
        text[i] == '\n' && i + 1 < text.size() && text[i + 1] == '\n' ? 1 : end_mark(text, i);
    if (length > 0 && i + length < text.size() && is_space(text[i + length])) {
      out.emplace_back(text.substr(begin, i + length - begin));
      begin = i + length;
    } else if (i - begin >= kLongest && is_space(text[i])) {
      out.emplace_back(text.substr(begin, i - begin));
      begin = i;
    }
    if (length > 0) i += length - 1;
  }
  text_.erase(0, begin);
  std::erase_if(out, [](const std::string& sentence) {
    return std::all_of(sentence.begin(), sentence.end(), is_space);
  });
  return out;
}

std::string SentenceBuffer::take_rest() { return std::exchange(text_, {}); }

bool SentenceBuffer::ends_like_a_sentence() const {
  for (std::size_t i = text_.size() > 12 ? text_.size() - 12 : 0; i < text_.size(); ++i) {
    const std::size_t length = end_mark(text_, i);
    if (length > 0 && i + length == text_.size()) return true;
  }
  return false;
}

}  // namespace headroom::serve
