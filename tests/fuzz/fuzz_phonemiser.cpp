// Fuzzes the whole frontend with the small model directory of the tests: any bytes in, segments within their
// limits out, and the same ones when asked again.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "text/frontend.hpp"

namespace {

std::unique_ptr<headroom::text::Frontend> make(bool use_espeak) {
  headroom::text::FrontendOptions options;
  options.model_dir = HEADROOM_ROOT "/tests/golden/text/model";
  options.use_espeak = use_espeak;
  auto made = headroom::text::Frontend::create(options);
  if (!made) std::abort();
  return std::move(*made);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headroom::text;
  static const auto spelling = make(false);
  static const auto speaking = make(true);
  if (size < 1) return 0;
  constexpr Language kLanguages[] = {Language::kAmerican,  Language::kBritish, Language::kSpanish,
                                     Language::kFrench,    Language::kHindi,   Language::kItalian,
                                     Language::kPortuguese};
  // espeak-ng is slow beside the rest: one input in eight.
  const bool espeak = (data[0] & 7U) == 7U;
  const Language language = espeak ? kLanguages[(data[0] >> 3U) % 7U] : kLanguages[(data[0] >> 3U) % 2U];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto& frontend = espeak ? speaking : spelling;
  const auto first = frontend->segments(text, language);
  const auto again = frontend->segments(text, language);
  if (first.has_value() != again.has_value()) std::abort();
  if (!first) {
    if (first.error().context != "unspeakable_text" && first.error().context != "unsupported_language")
      std::abort();
    return 0;
  }
  if (first->empty() || first->size() != again->size()) std::abort();
  for (std::size_t i = 0; i < first->size(); ++i) {
    const TextSegment& s = (*first)[i];
    if (s.tokens.empty() || s.tokens.size() > 510 || s.tokens != (*again)[i].tokens) std::abort();
    if (!(s.pause_after_s >= 0) || !(s.pause_before_s >= 0)) std::abort();
  }
  return 0;
}
