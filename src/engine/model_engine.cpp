// Chooses shares of the cores and makes the engine.
#include "engine/model_engine.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <sched.h>

#include "engine/openvino_engine.hpp"

namespace headroom::engine {
namespace {

// Those that this process may run on: fewer than the machine's where it is pinned or in a container.
int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

}  // namespace

Shares choose_shares(int cores, int workers, int threads) {
  const int chosen = workers > 0 ? workers : std::min(2, std::max(1, cores));
  return {chosen, threads > 0 ? threads : std::max(1, cores / chosen)};
}

base::Result<ModelEngine> make_model_engine(const ModelEngineOptions& options) {
  const auto shares = choose_shares(usable_cores(), options.workers, options.threads);
  auto engine = make_openvino_engine({options.model_dir, options.cache_dir, shares.workers, shares.threads,
                                      options.precision, options.on_stage});
  if (!engine) return tl::unexpected(engine.error());
  const auto precision = resolve_precision(options.precision, cpu_features());
  return ModelEngine{std::move(*engine),
                     fmt::format("openvino precision={} workers={} threads={}", precision_name(precision),
                                 shares.workers, shares.threads)};
}

}  // namespace headroom::engine
