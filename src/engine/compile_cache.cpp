// Sums beside compiled graphs.
#include "engine/compile_cache.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/atomic_file.hpp"
#include "base/sha256.hpp"

namespace headroom::engine {
namespace {

namespace fs = std::filesystem;

std::string sum_path(const fs::path& graph) { return graph.string() + ".sha256"; }

std::vector<fs::path> graphs_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code failed;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    if (it->path().extension() == ".blob") found.push_back(it->path());
  }
  return found;
}

bool is_whole(const fs::path& graph) {
  const auto meant = base::read_file(sum_path(graph));
  if (!meant) return false;
  const auto sum = base::sha256_file(graph.string());
  return sum && *sum == *meant;
}

}  // namespace

CompileCache::CompileCache(fs::path folder) : folder_(std::move(folder)) {
  std::error_code ignored;
  fs::create_directories(folder_, ignored);
  lock_ = ::open((folder_ / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  while (lock_ >= 0 && ::flock(lock_, LOCK_EX) != 0 && errno == EINTR) {
  }
}

CompileCache::~CompileCache() {
  if (lock_ >= 0) ::close(lock_);
}

CompileCache::State CompileCache::state_of(const fs::path& graph) {
  std::error_code time_failed;
  std::error_code size_failed;
  return {fs::last_write_time(graph, time_failed), fs::file_size(graph, size_failed)};
}

std::vector<std::string> CompileCache::drop_damaged() {
  std::vector<std::string> dropped;
  for (const auto& graph : graphs_in(folder_)) {
    if (is_whole(graph)) {
      whole_[graph] = state_of(graph);
      continue;
    }
    std::error_code failed;
    fs::remove(graph, failed);
    if (failed) usable_ = false;
    static_cast<void>(base::remove_file(sum_path(graph)));  // one without its graph does no harm
    dropped.push_back(graph.string());
  }
  return dropped;
}

// A sum that cannot be written is missing at the next start, which then compiles anew.
void CompileCache::seal() const {
  for (const auto& graph : graphs_in(folder_)) {
    // The runtime also rewrites what another version of it has left, under the same name.
    if (const auto known = whole_.find(graph); known != whole_.end() && known->second == state_of(graph))
      continue;
    if (const auto sum = base::sha256_file(graph.string()))
      static_cast<void>(base::write_file_atomically(sum_path(graph), *sum));
  }
}

}  // namespace headroom::engine
