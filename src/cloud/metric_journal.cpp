// Reading, compacting and appending.
#include "cloud/metric_journal.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/atomic_file.hpp"

namespace headroom::cloud {

using base::ErrorCode;
using base::fail;

namespace {

constexpr std::size_t kMaxFile = 32U << 20U;

}  // namespace

std::string MetricJournal::header(const World& world) {
  return fmt::format("{{\"schema\":\"headroom/local-metrics\",\"version\":1,\"fast\":{}}}\n",
                     world.settings.fast);
}

base::Result<void> MetricJournal::load(World& world) {
  const std::string first = header(world);
  for (const auto& path : {older_path_, path_}) {
    const auto text = base::read_file(path);
    if (text && text->rfind(first, 0) == 0)
      world.metrics.replay(std::string_view(*text).substr(first.size()));
  }
  const std::string all = first + world.metrics.take_journal();
  size_ = all.size();
  if (const auto written = base::write_file_atomically(path_, all, 0600); !written) return written;
  ::unlink(older_path_.c_str());
  return {};
}

base::Result<void> MetricJournal::rotate(base::Guarded<World>& world) {
  if (::rename(path_.c_str(), older_path_.c_str()) != 0)
    return fail(ErrorCode::kIo, fmt::format("cannot rename {}: {}", path_, std::strerror(errno)));
  const std::string first = world.with([&](World& w) {
    w.metrics.restart_journal();
    return header(w);
  });
  size_ = first.size();
  return base::write_file_atomically(path_, first, 0600);
}

base::Result<void> MetricJournal::append(base::Guarded<World>& world) {
  if (size_ > kMaxFile) {
    if (const auto done = rotate(world); !done) return done;
  }
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
  size_ += done;
  const std::string why = done < lines.size() ? std::strerror(errno) : "";
  ::close(fd);
  if (!why.empty()) return fail(ErrorCode::kIo, fmt::format("cannot write {}: {}", path_, why));
  return {};
}

}  // namespace headroom::cloud
