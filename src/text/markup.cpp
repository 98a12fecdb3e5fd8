// The grammar of the markup.
#include "text/markup.hpp"

namespace headroom::text {

Markup markup_at(std::string_view text, std::size_t at) {
  constexpr std::string_view kPause = "[pause:";
  const std::string_view window = text.substr(at, kLongestMarkup);
  const auto undecided = window.size() < kLongestMarkup ? Markup::Kind::kOpen : Markup::Kind::kNone;
  const auto close = window.find(']');
  if (close == std::string_view::npos) return {.kind = undecided};
  if (window.starts_with(kPause)) {
    return {Markup::Kind::kPause, window.substr(kPause.size(), close - kPause.size()), {}, at + close + 1};
  }
  if (close + 1 == window.size()) return {.kind = undecided};
  if (window[close + 1] != '(') return {};
  const auto end = window.find(')', close);
  if (end == std::string_view::npos) return {.kind = undecided};
  return {Markup::Kind::kLink, window.substr(1, close - 1), window.substr(close + 2, end - close - 2),
          at + end + 1};
}

}  // namespace headroom::text
