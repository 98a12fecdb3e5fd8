// Cores against instances.
#include "bench/host.hpp"

#include <thread>

#include <fmt/format.h>

namespace headroom::bench {

bool host_is_contended(Session& session, bool paced, int instances) {
  const bool local = session.settings().endpoint(aws::Service::kSageMakerRuntime).loopback();
  return local && !paced && static_cast<int>(std::thread::hardware_concurrency()) < instances + 1;
}

void note_host(Session& session, artifact::Header& header, std::optional<bool>& contended, bool paced,
               int instances) {
  if (!session.settings().endpoint(aws::Service::kSageMakerRuntime).loopback()) return;
  contended = host_is_contended(session, paced, instances);
  if (!*contended) return;
  header.notes.push_back(
      fmt::format("host_contended: the driver and {} instance(s) share {} cores; on hosts of their own all "
                  "of it is faster",
                  instances, std::thread::hardware_concurrency()));
}

}  // namespace headroom::bench
