// Limits of a segment.
#include "engine/segment_input.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace headroom::engine {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::int64_t kPad = 0;
constexpr std::int64_t kLargestToken = 177;  // the embedding has 178 rows; a larger id would read past them
constexpr float kMinSpeed = 0.25F;
constexpr float kMaxSpeed = 4.0F;

}  // namespace

base::Result<void> check_segment(const Segment& segment) {
  if (segment.tokens.empty() || segment.tokens.size() > static_cast<std::size_t>(kMaxTokens)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a segment has 1 to {} tokens, this one {}", kMaxTokens, segment.tokens.size()));
  }
  for (const auto token : segment.tokens) {
    if (token < 0 || token > kLargestToken) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("token {} is outside the vocabulary 0..{}", token, kLargestToken));
    }
  }
  if (!(segment.speed >= kMinSpeed && segment.speed <= kMaxSpeed)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("speed {} is outside {}..{}", segment.speed, kMinSpeed, kMaxSpeed));
  }
  return {};
}

std::vector<std::int64_t> padded_tokens(const Segment& segment) {
  std::vector<std::int64_t> padded;
  padded.reserve(segment.tokens.size() + 2);
  padded.push_back(kPad);
  padded.insert(padded.end(), segment.tokens.begin(), segment.tokens.end());
  padded.push_back(kPad);
  return padded;
}

base::Result<void> check_samples(const std::vector<float>& samples) {
  if (!std::all_of(samples.begin(), samples.end(), [](float v) { return std::isfinite(v); }))
    return fail(ErrorCode::kInternal, "the model gave a sample that is not a number");
  return {};
}

}  // namespace headroom::engine
