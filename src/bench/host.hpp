// Whether the load driver and the instances share this machine's cores, which makes both slower than they
// would be apart.
#pragma once

#include <optional>

#include "artifact/header.hpp"
#include "bench/session.hpp"

namespace headroom::bench {

// True when the endpoint is on this machine, speaks with a real model, and fewer than `instances` + 1 cores
// are there.
bool host_is_contended(Session& session, bool paced, int instances);
// Adds the note "host_contended: ..." and sets `contended`; unknown stays nullopt where the endpoint is
// elsewhere.
void note_host(Session& session, artifact::Header& header, std::optional<bool>& contended, bool paced = false,
               int instances = 2);

}  // namespace headroom::bench
