// Reading, compacting and appending.
#include "cloud/metric_journal.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/atomic_file.hpp"

namespace headroom::cloud {

using base::ErrorCode;
using base::fail;

base::Result<void> MetricJournal::load(World& world) {
  const auto text = base::read_file(path_);
  const std::string first = fmt::format(
      "{{\"schema\":\"headroom/local-metrics\",\"version\":1,\"fast\":{}}}\n", world.settings.fast);
  if (text && text->rfind(first, 0) == 0) world.metrics.replay(std::string_view(*text).substr(first.size()));
  return base::write_file_atomically(path_, first + world.metrics.take_journal(), 0600);
}

base::Result<void> MetricJournal::append(base::Guarded<World>& world) {
  const std::string lines = world.with([](World& w) { return w.metrics.take_journal(); });
  if (lines.empty()) return {};
  const int fd = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return fail(ErrorCode::kIo, fmt::format("cannot open {}: {}", path_, std::strerror(errno)));
  std::size_t done = 0;
  while (done < lines.size()) {
    const auto wrote = ::write(fd, lines.data() + done, lines.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) break;
    done += static_cast<std::size_t>(wrote);
  }
  const std::string why = done < lines.size() ? std::strerror(errno) : "";
  ::close(fd);
  if (!why.empty()) return fail(ErrorCode::kIo, fmt::format("cannot write {}: {}", path_, why));
  return {};
}

}  // namespace headroom::cloud
