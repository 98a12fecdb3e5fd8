// Whether the account's quota leaves room for the second instance that ttotal starts.
//
// Reads only. Instances of the endpoint's type are counted over all endpoints of the region, each variant as
// what it has or wants, whichever is more. What cannot be read, or would take over 100 calls, is unknown and
// stops nothing: the service itself refuses what is too much, and the freeze is taken back. Errors: kRefused.
#pragma once

#include "base/result.hpp"
#include "bench/live.hpp"
#include "bench/session.hpp"

namespace headroom::bench {

base::Result<void> room_for_two(Session& session, const LiveEndpoint& live);

}  // namespace headroom::bench
