// Parser of metric-math expressions; for metric_math.cpp alone.
//
// Depth and length are bounded: the text comes from a peer. Thread safety: immutable results. Errors:
// kInvalidArgument with the position.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace headroom::capacity::detail {

struct MathNode {
  enum class Kind { kNumber, kText, kName, kList, kCall, kUnary, kBinary } kind = Kind::kNumber;
  double number = 0;
  std::string text;  // a name, a function, an operator or a quoted text
  std::vector<MathNode> parts;
};

base::Result<MathNode> parse_math(const std::string& text);

}  // namespace headroom::capacity::detail
