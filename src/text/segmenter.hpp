// Segmenter: units become segments of at most 510 tokens, cut where a speaker would breathe.
//
// Internal to text. Sentence ends first, then clauses, then conjunctions and prepositions, then words, then
// characters. The first segment is short, so that audio starts early; tiny sentences join their neighbour.
// Pure, linear, no errors.
#pragma once

#include <cstddef>
#include <vector>

#include "text/frontend.hpp"
#include "text/units.hpp"
#include "text/vocab.hpp"

namespace headroom::text {

// `dropped` grows by the symbols the vocabulary lacks. Empty result: there is nothing to speak.
std::vector<TextSegment> cut_into_segments(const Units& units, const Vocab& vocab,
                                           const SegmentLimits& limits, std::size_t& dropped);

}  // namespace headroom::text
