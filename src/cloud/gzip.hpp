// Bounded gunzip: PutMetricData bodies above 10 KB come compressed. Pure. kInvalidData for broken or
// oversized input.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace headroom::cloud {

base::Result<std::string> gunzip(std::string_view bytes, std::size_t max_size);

}  // namespace headroom::cloud
