// Fuzzes the markup: pieces, pauses and ready-made phonemes, and the tokens of what is plain text.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "text/clean.hpp"
#include "text/tokens.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headroom::text;
  const CleanText cleaned = clean({reinterpret_cast<const char*>(data), size});
  double pauses = 0;
  std::vector<Token> tokens;
  for (const Piece& piece : split_markup(cleaned.text)) {
    if (piece.kind == Token::Kind::kPause) pauses += piece.pause_s;
    if (piece.kind == Token::Kind::kWord) tokenise(piece.text, tokens);
  }
  if (!(pauses >= 0 && pauses <= kLongestTotalPauseS + 1e-9)) std::abort();
  std::size_t bytes = 0;
  for (const Token& t : tokens) bytes += t.text.size();
  if (bytes > 4 * cleaned.text.size() + 16) std::abort();
  return 0;
}
