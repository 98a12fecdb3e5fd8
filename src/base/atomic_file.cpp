// Temporary name, fsync, rename, fsync of the folder; reading with a limit.
#include "base/atomic_file.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headroom::base {
namespace {

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { close(); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }
  int close() {
    const int rc = fd_ >= 0 ? ::close(fd_) : 0;
    fd_ = -1;
    return rc;
  }

 private:
  int fd_;
};

tl::unexpected<Error> io_error(const char* what, const std::string& path) {
  const int code = errno;
  return fail(code == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
              fmt::format("cannot {} '{}': {}", what, path, std::strerror(code)));
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<void> sync_folder(const std::string& path) {
  const std::string folder = folder_of(path);
  const Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0) return io_error("open folder", folder);
  // Some file systems cannot sync a folder (EINVAL); the rename is then as durable as they allow.
  if (::fsync(fd.get()) != 0 && errno != EINVAL) return io_error("sync folder", folder);
  return {};
}

Result<void> write_all(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error("write", path);
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

}  // namespace

Result<void> write_file_atomically(const std::string& path, std::string_view content, mode_t mode) {
  static std::atomic<unsigned> serial{0};
  const std::string temporary = fmt::format("{}.{}.{}.tmp", path, ::getpid(), serial++);
  Fd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  if (fd.get() < 0) return io_error("create", temporary);
  auto done = write_all(fd.get(), content, temporary);
  if (done && ::fchmod(fd.get(), mode) != 0)
    done = io_error("set the mode of", temporary);  // whatever the umask
  if (done && ::fsync(fd.get()) != 0) done = io_error("sync", temporary);
  if (done && fd.close() != 0) done = io_error("close", temporary);
  if (done && ::rename(temporary.c_str(), path.c_str()) != 0) done = io_error("rename into place", path);
  if (!done) {
    ::unlink(temporary.c_str());
    return done;
  }
  return sync_folder(path);
}

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) return io_error("read", path);
  std::string content;
  char buffer[65536];
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error("read", path);
    if (n == 0) return content;
    if (content.size() + static_cast<std::size_t>(n) > max_bytes)
      return fail(ErrorCode::kResourceExhausted,
                  fmt::format("'{}' is larger than {} bytes; is it the right file?", path, max_bytes));
    content.append(buffer, static_cast<std::size_t>(n));
  }
}

Result<void> make_directories(const std::string& path, mode_t mode) {
  for (std::size_t at = 1; at <= path.size(); ++at) {
    if (at != path.size() && path[at] != '/') continue;
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), mode) == 0) continue;
    struct stat info {};
    if (errno != EEXIST) return io_error("create folder", part);
    if (::stat(part.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
      return fail(ErrorCode::kIo,
                  fmt::format("cannot create folder '{}': a file of that name is in the way", part));
  }
  return {};
}

Result<void> remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0) {
    if (errno == ENOENT) return {};
    return io_error("remove", path);
  }
  return sync_folder(path);
}

bool file_exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

}  // namespace headroom::base
