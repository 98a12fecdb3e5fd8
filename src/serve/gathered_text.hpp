// GatheredText: one request's text as it comes in pieces: its sentences, its length, and whether it has
// stopped coming.
//
// Who holds it says what the time is and looks again when patience() is over. Single threaded; pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "serve/api_error.hpp"
#include "serve/request_fields.hpp"
#include "serve/sentence_buffer.hpp"

namespace headroom::serve {

class GatheredText {
 public:
  // Why the request ends, if this piece makes it longer than `most_characters`.
  std::optional<ApiFailure> add(const TextPiece& piece, base::SteadyTime now, std::size_t most_characters);
  // The last piece has come, though the text is of no use any more.
  void note_final(bool final) { final_ = final; }
  bool final() const { return final_; }
  bool begun() const { return first_piece_.has_value(); }

  // It may end here, but only a pause after this many pieces will tell.
  bool may_end_here() const { return !final_ && buffer_.ends_like_a_sentence(); }
  std::uint64_t pieces() const { return pieces_; }
  bool end_after(std::uint64_t pieces);  // false: more has come, or nothing is left
  std::vector<std::string> take_sentences();
  bool has_sentences() const { return !sentences_.empty(); }

  // Why it is given up: no text came for `max_age`, or it has been coming for several times as long.
  std::optional<ApiFailure> stale(base::SteadyTime now, base::Duration max_age) const;
  base::Duration patience(base::SteadyTime now, base::Duration max_age) const;  // until it may be stale

 private:
  bool final_ = false;
  std::size_t characters_ = 0;
  std::uint64_t pieces_ = 0;
  std::optional<base::SteadyTime> first_piece_;
  base::SteadyTime last_words_{};  // when the last piece with text in it came
  SentenceBuffer buffer_;
  std::vector<std::string> sentences_;  // complete, and not yet taken
};

}  // namespace headroom::serve
