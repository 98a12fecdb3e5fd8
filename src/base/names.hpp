// Names and times as text: SageMaker's name pattern, safe path components, run ids, ISO 8601 in UTC, hosts in
// URLs.
//
// Pure, shared. A name that came from outside goes through one of the checks before it touches a path or a
// request.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace headroom::base {

// [a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}: endpoints, endpoint configs, models, variants (SageMaker API reference).
bool is_sagemaker_name(std::string_view name);
// The same as an error that names the value and says what is allowed. `what`: "endpoint name".
Result<void> check_sagemaker_name(std::string_view name, std::string_view what);

// One folder or file name: 1..128 of [A-Za-z0-9._-], not starting with a dot.
bool is_path_component(std::string_view name);

// 13 lower-case characters of [0-9a-z]: 9 of the time in ms, 4 random, so ids sort by age and fit a tag.
std::string make_run_id(WallTime now, std::uint64_t random);
bool is_run_id(std::string_view id);

// "2026-11-29T15:04:05.123Z"; parsing also takes times without fraction (up to 9 digits) and "+00:00".
std::string format_iso8601(WallTime time);
std::optional<WallTime> parse_iso8601(std::string_view text);

// A host as it stands in a URL or a Host header: an IPv6 address in brackets, anything else as it is.
std::string host_in_url(std::string_view host);

}  // namespace headroom::base
