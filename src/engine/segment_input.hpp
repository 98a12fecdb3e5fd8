// What every engine that runs Kokoro does with a segment before its runtime sees it: check, then pad the
// tokens.
//
// Pure. Thread safe. Errors: kInvalidArgument (see engine.hpp), each names the value and what is allowed.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "engine/engine.hpp"

namespace headroom::engine {

base::Result<void> check_segment(const Segment& segment);

// The tokens with a 0 at both ends, as the model was trained.
std::vector<std::int64_t> padded_tokens(const Segment& segment);

// kInternal where a sample is not a number: a broken sound never reaches a client.
base::Result<void> check_samples(const std::vector<float>& samples);

}  // namespace headroom::engine
