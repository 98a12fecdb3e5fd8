// The shortest of what two batches of answers allow.
#include "load/rest_rule.hpp"

#include <algorithm>
#include <utility>

namespace headroom::load {
namespace {

constexpr int kBatch = 64;
constexpr int kShare = 1000;

}  // namespace

base::Duration RestRule::note(base::Duration length, bool one_piece_first) {
  const base::Duration allowed =
      one_piece_first ? std::clamp<base::Duration>(length / kShare, kShortestRest, kLongestRest)
                      : kShortestRest;
  latest_ = std::min(latest_, allowed);
  if (++seen_ == kBatch) {
    before_ = std::exchange(latest_, kLongestRest);
    seen_ = 0;
  }
  return std::min(before_, latest_);
}

}  // namespace headroom::load
