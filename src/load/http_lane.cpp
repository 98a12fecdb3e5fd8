// Connections, requests and their time limits on one lane.
#include "load/http_lane.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <unistd.h>

namespace headroom::load {
namespace {

using base::SteadyTime;

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kLargestErrorBody = 64 * 1024;
constexpr base::Duration kOldestStamp = std::chrono::seconds{10};
constexpr std::size_t kWarmBatch = 64;  // connects at once: a listener's backlog is short

SteadyTime now() { return std::chrono::steady_clock::now(); }

std::string errno_text(int error) { return std::generic_category().message(error); }

}  // namespace

// One socket and, while it is busy, the request on it.
class HttpLane::Connection final : public EventLane::Watcher, private HttpAnswer::Sink {
 public:
  Connection(HttpLane& lane, int fd) : lane_(lane), fd_(fd) {}
  ~Connection() override { close_socket(); }

  void close_socket() {
    if (fd_ < 0) return;
    lane_.loop_->forget(fd_, *this);
    close(fd_);
    fd_ = -1;
  }
  int fd() const { return fd_; }
  bool connecting() const { return connecting_; }
  bool feeding() const { return feeding_; }
  void mark_cancelled() { cancelled_ = true; }
  Job* job() { return job_; }

  void take(Job& job) {
    job_ = &job;
    job.connection = this;
    answer_.reset();
    sent_ = 0;
    cancelled_ = false;
    if (!connecting_) send();
  }
  void release() {
    if (job_ != nullptr) job_->connection = nullptr;
    job_ = nullptr;
  }

  void ready(std::uint32_t events) override {
    // It may be dropped below; drop() keeps the object until the loop's next turn.
    if (connecting_) return finish_connect();
    if ((events & EPOLLOUT) != 0 && job_ != nullptr && sent_ < job_->text.size()) send();
    if (fd_ >= 0 && (events & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP)) != 0) receive();
  }

  // Also called when the connect was at once complete.
  void finish_connect() {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
    connecting_ = false;
    if (error != 0) return fail("cannot connect: " + errno_text(error));
    lane_.loop_->change(fd_, EPOLLIN | EPOLLRDHUP, *this);
    lane_.opened(*this, "");
    if (job_ != nullptr) {
      send();
    } else {
      lane_.idle(*this);
    }
  }

  void connect_late() { fail("cannot connect: no answer in time"); }

 private:
  void send() {
    if (sent_ == 0 && job_->events.on_connected) job_->events.on_connected(now());
    while (sent_ < job_->text.size()) {
      const auto done = ::send(fd_, job_->text.data() + sent_, job_->text.size() - sent_, MSG_NOSIGNAL);
      if (done < 0) {
        if (errno == EINTR) continue;
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
          lane_.loop_->change(fd_, EPOLLIN | EPOLLOUT | EPOLLRDHUP, *this);
          blocked_ = true;
          return;
        }
        return;  // an answer may have come before the connection broke: reading tells
      }
      sent_ += static_cast<std::size_t>(done);
    }
    if (blocked_) lane_.loop_->change(fd_, EPOLLIN | EPOLLRDHUP, *this);
    blocked_ = false;
  }

  void receive() {
    while (fd_ >= 0) {
      const auto got = lane_.read(fd_, arrived_);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
      if (job_ == nullptr) return lane_.drop(*this);  // idle: closed by the server, or it talks unasked
      if (got < 0) return fail(errno == ECONNRESET ? "connection reset by the server" : errno_text(errno));
      if (got == 0) {
        answer_.peer_closed();
        return settle(false);
      }
      const auto size = static_cast<std::size_t>(got);
      feeding_ = true;
      const auto rest = answer_.feed({lane_.buffer_.data(), size}, *this);
      feeding_ = false;
      if (cancelled_) return lane_.end_cancelled(*this);
      if (answer_.state() == HttpAnswer::State::kDone || answer_.state() == HttpAnswer::State::kBad)
        return settle(answer_.keep_alive() && rest.empty() && sent_ == job_->text.size());
      if (size < lane_.buffer_.size()) return;
    }
  }

  // The answer is over, whole or not.
  void settle(bool reuse) {
    if (answer_.state() != HttpAnswer::State::kDone) return fail(answer_.why());
    Job& job = *job_;
    release();
    reuse ? lane_.idle(*this) : lane_.drop(*this);
    lane_.end(job, false, false, arrived_);  // nothing of this connection is touched after it
  }

  void fail(const std::string& why) {
    const bool was_connecting = why.starts_with("cannot connect");
    Job* const job = job_;
    release();
    if (was_connecting) lane_.opened(*this, why);
    lane_.drop(*this);
    if (job == nullptr) return;
    job->facts.connection_error = why;
    lane_.end(*job, false, false, now());
  }

  void head() override {
    job_->facts.status = answer_.status();
    job_->facts.headers = answer_.headers();
  }
  void body(std::string_view piece) override {
    if (cancelled_) return;
    auto& facts = job_->facts;
    if (facts.status >= 200 && facts.status < 300) {
      facts.got_bytes = true;
      if (job_->events.on_data) job_->events.on_data(arrived_, piece);
    } else if (facts.body.size() < kLargestErrorBody) {
      facts.body += piece.substr(0, kLargestErrorBody - facts.body.size());
    }
  }

  HttpLane& lane_;
  int fd_;
  bool connecting_ = true;
  bool blocked_ = false;
  bool feeding_ = false;    // a callback may be running: nothing is destroyed now
  bool cancelled_ = false;  // from inside a callback
  Job* job_ = nullptr;
  std::size_t sent_ = 0;
  SteadyTime arrived_{};
  HttpAnswer answer_;
};

HttpLane::~HttpLane() {
  if (loop_) loop_->stop();
  idle_.clear();
  connections_.clear();
}

base::Result<void> HttpLane::begin(std::optional<int> core) {
  buffer_.resize(kReadBytes);
  auto loop = EventLane::make(core);
  if (!loop) return tl::unexpected(loop.error());
  loop_ = std::move(*loop);
  return {};
}

std::shared_ptr<HttpLane::Connection> HttpLane::connect(std::string& error) {
  const int fd = socket(peer_.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    error = "cannot open a socket: " + errno_text(errno);
    return nullptr;
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
  auto made = std::make_shared<Connection>(*this, fd);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&peer_.address), peer_.length) != 0 &&
      errno != EINPROGRESS) {
    error = "cannot connect: " + errno_text(errno);
    return nullptr;
  }
  if (!loop_->watch(fd, EPOLLOUT, *made)) {
    error = "cannot watch a socket: " + errno_text(errno);
    return nullptr;
  }
  connections_.emplace(made.get(), made);
  loop_->at(now() + peer_.connect_timeout, [weak = std::weak_ptr<Connection>(made)] {
    const auto still = weak.lock();
    if (still && still->fd() >= 0 && still->connecting()) still->connect_late();
  });
  return made;
}

std::uint64_t HttpLane::start(aws::InvokeRequest request, aws::InvokeEvents events) {
  const std::uint64_t id = next_id_++;
  auto made = std::make_unique<Job>();
  Job& job = *made;
  job.id = id;
  job.events = std::move(events);
  job.give_up = now() + request.timeout;
  job.text = peer_.head + "Content-Type: " + request.content_type + "\r\n";
  if (!request.accept.empty()) job.text += "Accept: " + request.accept + "\r\n";
  job.text += "Content-Length: " + std::to_string(request.body.size()) + "\r\n\r\n" + request.body;
  jobs_.emplace(id, std::move(made));
  deadlines_.emplace(job.give_up, id);
  arm(job.give_up);
  if (!idle_.empty()) {
    Connection* const free = idle_.back();
    idle_.pop_back();
    free->take(job);
  } else if (connections_.size() < most_) {
    std::string error;
    if (const auto fresh = connect(error)) {
      fresh->take(job);
    } else {
      job.facts.connection_error = error;
      loop_->post([this, id] {  // not inside start(): a caller that tries again at once would recurse
        const auto found = jobs_.find(id);
        if (found != jobs_.end()) end(*found->second, false, false, now());
      });
    }
  } else {
    waiting_.push_back(id);
  }
  return id;
}

void HttpLane::idle(Connection& connection) {
  while (!waiting_.empty()) {
    const auto found = jobs_.find(waiting_.front());
    waiting_.pop_front();
    if (found != jobs_.end()) return connection.take(*found->second);
  }
  idle_.push_back(&connection);
}

void HttpLane::drop(Connection& connection) {
  std::erase(idle_, &connection);
  connection.close_socket();
  const auto found = connections_.find(&connection);
  if (found == connections_.end()) return;
  auto last = std::move(found->second);
  connections_.erase(found);
  // A callback of it may be on the stack.
  loop_->post([last = std::move(last)]() mutable { last.reset(); });
  while (!waiting_.empty() && connections_.size() < most_) {
    const auto next = jobs_.find(waiting_.front());
    waiting_.pop_front();
    if (next == jobs_.end()) continue;
    std::string error;
    if (const auto fresh = connect(error)) {
      fresh->take(*next->second);
    } else {
      next->second->facts.connection_error = error;
      end(*next->second, false, false, now());
    }
  }
}

ssize_t HttpLane::read(int fd, SteadyTime& at) {
  iovec into{buffer_.data(), buffer_.size()};
  alignas(cmsghdr) std::array<char, 64> control{};
  msghdr message{};
  message.msg_iov = &into;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = recvmsg(fd, &message, 0);
  at = now();
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec stamp{}, wall{};
    std::memcpy(&stamp, CMSG_DATA(part), sizeof stamp);
    clock_gettime(CLOCK_REALTIME, &wall);
    const base::Duration age = std::chrono::seconds(wall.tv_sec - stamp.tv_sec) +
                               std::chrono::nanoseconds(wall.tv_nsec - stamp.tv_nsec);
    if (age.count() > 0 && age < kOldestStamp) at -= age;  // else the wall clock was set meanwhile
  }
  return got;
}

void HttpLane::end(Job& job, bool timed_out, bool cancelled, SteadyTime at) {
  const auto found = jobs_.find(job.id);
  const std::unique_ptr<Job> mine = std::move(found->second);
  jobs_.erase(found);
  deadlines_.erase({mine->give_up, mine->id});
  const auto result = aws::judge_answer(mine->facts, timed_out, cancelled);
  if (mine->events.on_done) mine->events.on_done(at, result);
}

void HttpLane::end_cancelled(Connection& connection) {
  Job* const job = connection.job();
  connection.release();
  drop(connection);
  if (job != nullptr) end(*job, false, true, now());
}

void HttpLane::cancel(std::uint64_t id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  Job& job = *found->second;
  if (job.connection == nullptr) return end(job, false, true, now());
  if (job.connection->feeding()) return job.connection->mark_cancelled();
  end_cancelled(*job.connection);
}

void HttpLane::arm(SteadyTime when) {
  if (armed_ && *armed_ <= when) return;
  armed_ = when;
  loop_->at(when, [this, when] {
    if (armed_ != when) return;
    armed_.reset();
    expire();
  });
}

void HttpLane::expire() {
  const SteadyTime at = now();
  while (!deadlines_.empty() && deadlines_.begin()->first <= at) {
    const auto found = jobs_.find(deadlines_.begin()->second);
    if (found == jobs_.end()) {
      deadlines_.erase(deadlines_.begin());
      continue;
    }
    Job& job = *found->second;
    if (Connection* const busy = job.connection) {
      busy->release();
      drop(*busy);
    }
    end(job, true, false, now());
  }
  if (!deadlines_.empty()) arm(deadlines_.begin()->first);
}

void HttpLane::warm(std::size_t count, std::function<void(std::string)> done) {
  warming_ = Warming{std::min(count, most_), 0, "", std::move(done)};
  warm_more();
}

void HttpLane::warm_more() {
  while (warming_->error.empty() && warming_->opening < kWarmBatch &&
         connections_.size() < warming_->wanted) {
    std::string error;
    if (connect(error)) {
      ++warming_->opening;
    } else {
      warming_->error = error;
    }
  }
  const bool enough = connections_.size() >= warming_->wanted || !warming_->error.empty();
  if (!enough || warming_->opening > 0) return;
  const auto finished = std::move(*warming_);
  warming_.reset();
  finished.done(finished.error);
}

void HttpLane::opened(Connection&, const std::string& error) {
  if (!warming_) return;
  if (warming_->error.empty()) warming_->error = error;
  if (warming_->opening > 0) --warming_->opening;
  // Later: the connection that called is not yet settled.
  loop_->post([this] {
    if (warming_) warm_more();
  });
}

void HttpLane::close_all() {
  while (!jobs_.empty()) {
    Job& job = *jobs_.begin()->second;
    if (Connection* const busy = job.connection) {
      busy->release();
      drop(*busy);
    }
    end(job, false, true, now());
  }
}

}  // namespace headroom::load
