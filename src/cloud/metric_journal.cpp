// Reading, compacting and appending.
#include "cloud/metric_journal.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/atomic_file.hpp"

namespace headroom::cloud {

using base::ErrorCode;
using base::fail;

namespace {

constexpr std::size_t kMaxFile = 32U << 20U;

// Why it could not, "" if all is written.
std::string write_all(int fd, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const auto wrote = ::write(fd, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return std::strerror(errno);
    done += static_cast<std::size_t>(wrote);
  }
  return "";
}

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
  world.with([](World& w) { w.metrics.restart_journal(); });
  size_ = 0;
  torn_ = false;
  return {};
}

void MetricJournal::take(base::Guarded<World>& world) {
  std::string lines = world.with([](World& w) { return w.metrics.take_journal(); });
  if (!lines.empty()) waiting_.push_back(std::move(lines));
}

// All that waits in one piece: it is in the file as a whole or not at all.
base::Result<void> MetricJournal::write_waiting(const std::string& first) {
  const int fd = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return fail(ErrorCode::kIo, fmt::format("cannot open {}: {}", path_, std::strerror(errno)));
  const off_t before = ::lseek(fd, 0, SEEK_END);
  std::string out = before == 0 ? first : torn_ ? "\n" : "";
  for (const std::string& lines : waiting_) out += lines;
  const std::string why = write_all(fd, out);
  if (!why.empty()) torn_ = ::ftruncate(fd, before) != 0;
  ::close(fd);
  if (!why.empty()) return fail(ErrorCode::kIo, fmt::format("cannot write {}: {}", path_, why));
  size_ = static_cast<std::size_t>(before) + out.size();
  torn_ = false;
  waiting_.clear();
  return {};
}

void MetricJournal::forget_oldest() {
  std::size_t bytes = 0;
  for (const std::string& lines : waiting_) bytes += lines.size();
  while (bytes > max_waiting_) {
    bytes -= waiting_.front().size();
    waiting_.pop_front();
  }
}

base::Result<void> MetricJournal::append(base::Guarded<World>& world) {
  // What waits may rest on names in this file, so it has to be in it before the next begins.
  if (size_ > kMaxFile && waiting_.empty()) {
    if (const auto done = rotate(world); !done) return done;
  }
  take(world);
  if (waiting_.empty()) return {};
  const auto written = write_waiting(world.with([](World& w) { return header(w); }));
  if (!written) {
    // Later lines must not rest on names that may be forgotten.
    world.with([](World& w) { w.metrics.restart_journal(); });
    forget_oldest();
  }
  return written;
}

}  // namespace headroom::cloud
