// Pieces become sentences; time passes.
#include "serve/gathered_text.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "serve/speech_request.hpp"

namespace headroom::serve {
namespace {

// From its first piece to its last a text may take this many times what it may stay silent: with the defaults
// 11 minutes, as long as the longest text is spoken.
constexpr int kMostSilences = 12;

}  // namespace

std::optional<ApiFailure> GatheredText::add(const TextPiece& piece, base::SteadyTime now,
                                            std::size_t most_characters) {
  final_ = piece.final;
  if (piece.text.empty() && !final_) return std::nullopt;
  characters_ += count_characters(piece.text);
  if (characters_ > most_characters) {
    return ApiFailure{ApiError::kTextTooLong,
                      fmt::format("the pieces have {} characters and the limit is {}; send less per request",
                                  characters_, most_characters)};
  }
  if (!is_blank(piece.text)) last_words_ = now;
  if (!first_piece_) first_piece_ = now;
  ++pieces_;
  buffer_.add(piece.text);
  for (auto& sentence : buffer_.take_complete()) sentences_.push_back(std::move(sentence));
  if (final_) sentences_.push_back(buffer_.take_rest());
  return std::nullopt;
}

bool GatheredText::end_after(std::uint64_t pieces) {
  if (final_ || pieces_ != pieces || buffer_.empty()) return false;
  sentences_.push_back(buffer_.take_rest());
  return true;
}

std::vector<std::string> GatheredText::take_sentences() { return std::exchange(sentences_, {}); }

std::optional<ApiFailure> GatheredText::stale(base::SteadyTime now, base::Duration max_age) const {
  if (final_ || !first_piece_) return std::nullopt;
  const auto silent = now - last_words_;
  const auto taken = now - *first_piece_;
  if (silent >= max_age) {
    return ApiFailure{
        ApiError::kRequestStale,
        fmt::format("no text came for {:.1f} s; end a request with \"final\": true", base::to_s(silent))};
  }
  if (taken < max_age * kMostSilences) return std::nullopt;
  return ApiFailure{ApiError::kRequestStale,
                    fmt::format("its text has been coming for {:.1f} s; end a request with \"final\": true "
                                "and begin another",
                                base::to_s(taken))};
}

base::Duration GatheredText::patience(base::SteadyTime now, base::Duration max_age) const {
  if (!first_piece_) return max_age;
  return std::min<base::Duration>(last_words_ + max_age - now, *first_piece_ + max_age * kMostSilences - now);
}

}  // namespace headroom::serve
