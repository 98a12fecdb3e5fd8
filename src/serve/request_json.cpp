// A scan of the brackets, then the parser.
#include "serve/request_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace headroom::serve {
namespace {

using nlohmann::json;

// The byte behind the string that opens before `begin`: a quote behind an even number of backslashes ends it.
std::size_t skip_string(std::string_view text, std::size_t begin) {
  for (auto at = text.find('"', begin); at != std::string_view::npos; at = text.find('"', at + 1)) {
    std::size_t escape = at;
    while (escape > begin && text[escape - 1] == '\\') --escape;
    if ((at - escape) % 2 == 0) return at + 1;
  }
  return text.size();
}

// Of what is no JSON it says anything; the parser has the last word.
bool within_bounds(std::string_view text) {
  std::size_t depth = 0;
  std::size_t separators = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at++];
    if (c == '"') at = skip_string(text, at);
    if ((c == ']' || c == '}') && depth > 0) --depth;
    const bool opens = c == '[' || c == '{';
    if (opens && ++depth > kMostJsonDepth) return false;
    if ((opens || c == ',' || c == ':') && ++separators > kMostJsonValues) return false;
  }
  return true;
}

}  // namespace

tl::expected<json, ApiFailure> parse_object(std::string_view text, std::string_view what) {
  const auto invalid = [&](const std::string& why) {
    return tl::unexpected(ApiFailure{ApiError::kInvalidJson, fmt::format("{} {}", what, why)});
  };
  if (!within_bounds(text)) {
    return invalid(
        fmt::format("nests deeper than {} levels or holds more than {} values; send the fields alone",
                    kMostJsonDepth, kMostJsonValues));
  }
  json parsed = json::parse(text, nullptr, false);
  if (parsed.is_discarded()) return invalid("is not valid JSON in UTF-8; send {\"text\": \"...\"}");
  if (!parsed.is_object()) return invalid("must be a JSON object such as {\"text\": \"...\"}");
  return parsed;
}

}  // namespace headroom::serve
