// The JSON object that a body or a message must be, bounded before it is parsed; internal to serve.
//
// A megabyte of nested arrays costs some fifty times what a megabyte of text does, and more while it is
// freed: a quick look at the brackets refuses what no request looks like. Unknown fields may hold anything
// within the bounds. Pure. Error: invalid_json, with what is wrong.
#pragma once

#include <cstddef>
#include <string_view>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include "serve/api_error.hpp"

namespace headroom::serve {

inline constexpr std::size_t kMostJsonDepth = 16;
inline constexpr std::size_t kMostJsonValues = 1000;  // names and values, counted by their separators

// `what`: "the body", "a message".
tl::expected<nlohmann::json, ApiFailure> parse_object(std::string_view text, std::string_view what);

}  // namespace headroom::serve
