// The lock and the file.
#include "cloud/state_file.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.hpp"

namespace headroom::cloud {

using base::ErrorCode;
using base::fail;

base::Result<std::unique_ptr<StateFile>> StateFile::open(const std::string& folder) {
  if (const auto made = base::make_directories(folder, 0700); !made) return tl::unexpected(made.error());
  const std::string path = folder + "/lock";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return fail(ErrorCode::kIo, fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    char pid[32] = {};
    const auto got = pread(fd, pid, sizeof pid - 1, 0);
    ::close(fd);
    return fail(ErrorCode::kConflict, fmt::format("the state folder {} is in use by another tts-local (pid "
                                                  "{}); stop that one or give another --state",
                                                  folder, got > 0 ? pid : "unknown"));
  }
  const std::string pid = fmt::format("{}", getpid());
  if (ftruncate(fd, 0) != 0 || pwrite(fd, pid.data(), pid.size(), 0) < 0) {
    ::close(fd);
    return fail(ErrorCode::kIo, fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  }
  return std::unique_ptr<StateFile>(new StateFile(folder, fd));
}

StateFile::~StateFile() { ::close(lock_); }

base::Result<std::vector<Orphan>> StateFile::load(World& world) const {
  const std::string path = folder_ + "/state.json";
  const auto text = base::read_file(path);
  if (!text) {
    if (text.error().code == ErrorCode::kNotFound) return std::vector<Orphan>{};
    return tl::unexpected(text.error());
  }
  const auto saved = parse_object(*text);
  if (!saved)
    return fail(ErrorCode::kInvalidData,
                fmt::format("{} is not readable; remove it or give another --state", path));
  auto orphans = load_world(*saved, world);
  if (!orphans) orphans.error().context = path;
  return orphans;
}

base::Result<void> StateFile::save(const base::Guarded<World>& world) {
  std::lock_guard order(order_);
  const std::string text = dump(world.with([](const World& w) { return save_world(w); }));
  return base::write_file_atomically(folder_ + "/state.json", text, 0600);
}

}  // namespace headroom::cloud
