// Finds the ends of sentences.
#include "serve/sentence_buffer.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "text/abbreviations.hpp"
#include "text/markup.hpp"

namespace headroom::serve {
namespace {

// Their scripts put no space between sentences; the Devanagari ones close a sentence and nothing else.
constexpr std::array<std::string_view, 5> kWideEnds{"。", "！", "？", "।", "॥"};
constexpr std::string_view kEllipsis = "…";
// An end found before may be longer now: its mark and the closing quotes behind it are looked at again.
constexpr std::size_t kLookBack = 16;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

struct EndMark {
  std::size_t length = 0;  // with the closing quotes behind it; 0: none is there
  bool wide = false;       // ends a sentence whatever follows it
  bool undecided = false;  // a full stop whose meaning the next word tells
};

std::size_t wide_mark(std::string_view text) {
  for (const auto mark : kWideEnds) {
    if (text.starts_with(mark)) return mark.size();
  }
  return 0;
}

EndMark end_mark(std::string_view text, std::size_t at) {
  std::size_t end = at;
  bool wide = false;
  if (text[at] == '.' || text[at] == '!' || text[at] == '?') {
    while (end < text.size() && (text[end] == '.' || text[end] == '!' || text[end] == '?')) ++end;
    const auto stop =
        text[at] == '.' && end == at + 1 ? text::full_stop_at(text, at) : text::FullStop::kEndsSentence;
    if (stop != text::FullStop::kEndsSentence) return {.undecided = stop == text::FullStop::kUndecided};
  } else if (text.substr(at).starts_with(kEllipsis)) {
    end += kEllipsis.size();
  } else {
    while (const std::size_t more = wide_mark(text.substr(end))) end += more;
    if (end == at) return {};
    wide = true;
  }
  for (bool more = true; more;) {
    more = false;
    for (const std::string_view closing : {"\"", "'", ")", "]", "”", "’", "»", "」"}) {
      if (text.substr(end, closing.size()) != closing) continue;
      end += closing.size();
      more = true;
    }
  }
  return {.length = end - at, .wide = wide};
}

bool is_markup(const text::Markup& found) {
  return found.kind == text::Markup::Kind::kPause || found.kind == text::Markup::Kind::kLink;
}

}  // namespace

void SentenceBuffer::add(std::string_view piece) { text_ += piece; }

std::vector<std::string> SentenceBuffer::take_complete() {
  std::vector<std::string> out;
  std::size_t begin = 0;
  const std::string_view text = text_;
  scanned_ = std::max(markup_end_, scanned_ > kLookBack ? scanned_ - kLookBack : 0);
  for (std::size_t& i = scanned_; i < text.size(); ++i) {
    if (text[i] == '[') {
      const text::Markup found = text::markup_at(text, i);
      if (found.kind == text::Markup::Kind::kOpen) break;
      if (is_markup(found)) {
        markup_end_ = found.end;
        i = found.end - 1;
        continue;
      }
    }
    const EndMark mark = text[i] == '\n' && i + 1 < text.size() && text[i + 1] == '\n' ? EndMark{.length = 1}
                                                                                       : end_mark(text, i);
    if (mark.undecided) break;
    const std::size_t end = i + mark.length;
    if (mark.length > 0 && end < text.size() && (mark.wide || is_space(text[end]))) {
      out.emplace_back(text.substr(begin, end - begin));
      begin = end;
    } else if (i - begin >= kLongest && is_space(text[i])) {
      out.emplace_back(text.substr(begin, i - begin));
      begin = i;
    }
    if (mark.length > 0) i += mark.length - 1;
  }
  text_.erase(0, begin);
  scanned_ -= std::min(begin, scanned_);
  markup_end_ -= std::min(begin, markup_end_);
  std::erase_if(out, [](const std::string& sentence) {
    return std::all_of(sentence.begin(), sentence.end(), is_space);
  });
  return out;
}

std::string SentenceBuffer::take_rest() {
  scanned_ = markup_end_ = 0;
  return std::exchange(text_, {});
}

bool SentenceBuffer::inside_markup() const {
  for (std::size_t at = text_.find('[', scanned_); at != std::string::npos; at = text_.find('[', at)) {
    const text::Markup found = text::markup_at(text_, at);
    if (found.kind == text::Markup::Kind::kOpen) return true;
    at = is_markup(found) ? found.end : at + 1;
  }
  return false;
}

bool SentenceBuffer::ends_like_a_sentence() const {
  if (inside_markup()) return false;
  for (std::size_t i = text_.size() > 12 ? text_.size() - 12 : 0; i < text_.size(); ++i) {
    const std::size_t length = end_mark(text_, i).length;
    if (length > 0 && i + length == text_.size()) return true;
  }
  return false;
}

}  // namespace headroom::serve
