// Sentences planned one by one, with the pauses of the whole text.
#include "serve/piece_planner.hpp"

#include <utility>

#include "serve/request_fields.hpp"
#include "text/frontend.hpp"

namespace headroom::serve {
namespace {

// Between sentences whose neighbour was not known when they were planned: as in a whole text
// (docs/quality.md).
constexpr double kSentencePause = 0.40;

}  // namespace

base::Result<std::vector<PlannedSegment>> plan_text(const SpeechRequest& request, const Planner& planner,
                                                    Metrics& metrics) {
  auto plan = planner(request);
  if (!plan) return tl::unexpected(plan.error());
  if (plan->dropped_symbols > 0) metrics.dropped_symbols(plan->dropped_symbols);
  return std::move(plan->segments);
}

base::Result<std::vector<PlannedSegment>> PiecePlanner::plan(const SpeechRequest& sentence, bool final) {
  std::vector<PlannedSegment> planned;
  if (!is_blank(sentence.text)) {
    auto made = plan_text(sentence, planner_, metrics_);
    if (made) {
      planned = std::move(*made);
      pauses_.place(planned, final ? 0.0 : kSentencePause / sentence.speed);
    } else if (made.error().context == "unspeakable_text") {
      pauses_.wait(text::asked_pauses(sentence.text));
    } else {
      return made;
    }
  }
  if (const double rest = final ? pauses_.rest() : 0.0; rest > 0.0) {
    PlannedSegment silence;
    silence.pause_after_s = rest;
    silence.silent = true;
    planned.push_back(std::move(silence));
  }
  return planned;
}

}  // namespace headroom::serve
