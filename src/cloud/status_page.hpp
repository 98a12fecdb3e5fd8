// The status page: what people see of the cloud at `/`, and the snapshot that feeds it.
//
// Pure. The page is one HTML file that follows `/events` (server-sent events, one snapshot a second); it
// shows every text as text, never as markup, and draws the concurrency of the last two minutes against the
// lines of the variant's scaling policies.
#pragma once

#include <string>

#include "cloud/world.hpp"

namespace headroom::cloud {

// `nonce`: of the Content-Security-Policy that allows the page's own script and style.
std::string status_page(const std::string& nonce);
Json status_snapshot(const World& world, base::WallTime now);

}  // namespace headroom::cloud
