// Parts of read_live() (session.hpp) that can be tested without an endpoint.
//
// Pure.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace headroom::bench {

// The container's queue limit as tts-serve reads it: TTS_MAX_QUEUE_DEPTH, and MAX_QUEUE_DEPTH only where that
// is unset or empty. nullopt: no limit (unset or 0), or not a number, with which the container does not
// start.
std::optional<int> queue_limit_of(const std::map<std::string, std::string>& environment);

}  // namespace headroom::bench
