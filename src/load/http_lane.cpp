// Connections, requests and their time limits on one lane.
#include "load/http_lane.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <iterator>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <unistd.h>

namespace headroom::load {
namespace {

using base::SteadyTime;

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kWarmBatch = 64;  // connects at once: a listener's backlog is short
constexpr std::size_t kMostSpare = 4096;

SteadyTime now() { return std::chrono::steady_clock::now(); }

std::string errno_text(int error) { return std::generic_category().message(error); }

}  // namespace

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

std::shared_ptr<HttpConnection> HttpLane::connect(std::string& error) {
  const int fd = socket(peer_.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    error = "cannot open a socket: " + errno_text(errno);
    return nullptr;
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
  auto made = std::make_shared<HttpConnection>(*this, fd);
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
  loop_->at(now() + peer_.connect_timeout, [weak = std::weak_ptr<HttpConnection>(made)] {
    const auto still = weak.lock();
    if (still && still->fd() >= 0 && still->connecting()) still->connect_late();
  });
  return made;
}

// In its place by the end of its time, which is nearly always the last.
HttpLane::Jobs::iterator HttpLane::new_job(SteadyTime give_up) {
  auto place = jobs_.end();
  while (place != jobs_.begin() && std::prev(place)->give_up > give_up) --place;
  if (spare_.empty()) return jobs_.emplace(place);
  const auto job = spare_.begin();
  jobs_.splice(place, spare_, job);
  return job;
}

std::uint64_t HttpLane::start(aws::InvokeRequest request, aws::InvokeEvents events) {
  const std::uint64_t id = next_id_++;
  const SteadyTime begun = now();
  const auto place = new_job(begun + request.timeout);
  HttpJob& job = *place;
  job.id = id;
  job.events = std::move(events);
  job.begun = begun;
  job.give_up = begun + request.timeout;
  job.text = peer_.head;
  job.text.append("Content-Type: ").append(request.content_type).append("\r\n");
  if (!request.accept.empty()) job.text.append("Accept: ").append(request.accept).append("\r\n");
  job.text.append("Content-Length: ").append(std::to_string(request.body.size())).append("\r\n\r\n");
  job.text.append(request.body);
  by_id_.emplace(id, place);
  arm(job.give_up);
  if (!idle_.empty()) {
    HttpConnection* const free = idle_.back();
    idle_.pop_back();
    free->take(job);
  } else if (connections_.size() < most_) {
    std::string error;
    if (const auto fresh = connect(error)) {
      fresh->take(job);
    } else {
      job.facts.connection_error = error;
      loop_->post([this, id] {  // not inside start(): a caller that tries again at once would recurse
        const auto found = by_id_.find(id);
        if (found != by_id_.end()) end(*found->second, HttpEnd::kEnded, now());
      });
    }
  } else {
    waiting_.push_back(id);
  }
  return id;
}

HttpJob* HttpLane::next_waiting() {
  while (!waiting_.empty()) {
    const auto found = by_id_.find(waiting_.front());
    waiting_.pop_front();
    if (found != by_id_.end()) return &*found->second;
  }
  return nullptr;
}

void HttpLane::idle(HttpConnection& connection) {
  if (HttpJob* const next = next_waiting()) return connection.take(*next);
  idle_.push_back(&connection);
}

void HttpLane::drop(HttpConnection& connection) {
  std::erase(idle_, &connection);
  connection.close_socket();
  const auto found = connections_.find(&connection);
  if (found == connections_.end()) return;
  auto last = std::move(found->second);
  connections_.erase(found);
  // A callback of it may be on the stack.
  loop_->post([last = std::move(last)]() mutable { last.reset(); });
  while (connections_.size() < most_) {
    HttpJob* const next = next_waiting();
    if (next == nullptr) return;
    std::string error;
    if (const auto fresh = connect(error)) {
      fresh->take(*next);
    } else {
      next->facts.connection_error = error;
      end(*next, HttpEnd::kEnded, now());
    }
  }
}

std::optional<std::string_view> HttpLane::read(int fd, SteadyTime& at) {
  iovec into{buffer_.data(), buffer_.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(timespec))> control;
  msghdr message{};
  message.msg_iov = &into;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = recvmsg(fd, &message, 0);
  if (got < 0) return std::nullopt;
  std::optional<SteadyTime> arrived;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec stamp{};
    std::memcpy(&stamp, CMSG_DATA(part), sizeof stamp);
    const auto when = std::chrono::seconds(stamp.tv_sec) + std::chrono::nanoseconds(stamp.tv_nsec);
    arrived = arrival(loop_->look(), when, kOldestStamp);
    // The bytes came after the look, in the middle of a batch. What this does not mend was stamped before the
    // wall clock was set: then now is about when.
    if (!arrived) arrived = arrival(loop_->look_again(), when, kOldestStamp);
  }
  at = arrived ? *arrived : now();
  return std::string_view(buffer_.data(), static_cast<std::size_t>(got));
}

void HttpLane::end(HttpJob& job, HttpEnd how, SteadyTime at) {
  const auto found = by_id_.find(job.id);
  const auto place = found->second;
  by_id_.erase(found);
  Jobs mine;
  mine.splice(mine.begin(), jobs_, place);
  const auto result = aws::judge_answer(job.facts, how == HttpEnd::kTimedOut, how == HttpEnd::kCancelled);
  if (job.events.on_done) job.events.on_done(at, result);
  job.events = {};
  job.facts = {};
  job.connection = nullptr;
  if (spare_.size() < kMostSpare) spare_.splice(spare_.begin(), mine);
}

void HttpLane::end_cancelled(HttpConnection& connection) {
  HttpJob* const job = connection.job();
  connection.release();
  drop(connection);
  if (job != nullptr) end(*job, HttpEnd::kCancelled, now());
}

void HttpLane::cancel(std::uint64_t id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return;
  HttpJob& job = *found->second;
  if (job.connection == nullptr) return end(job, HttpEnd::kCancelled, now());
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
  while (!jobs_.empty() && jobs_.front().give_up <= at) {
    HttpJob& job = jobs_.front();
    if (HttpConnection* const busy = job.connection) {
      busy->release();
      drop(*busy);
    }
    end(job, HttpEnd::kTimedOut, now());
  }
  if (!jobs_.empty()) arm(jobs_.front().give_up);
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

void HttpLane::opened(const std::string& error) {
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
    HttpJob& job = jobs_.front();
    if (HttpConnection* const busy = job.connection) {
      busy->release();
      drop(*busy);
    }
    end(job, HttpEnd::kCancelled, now());
  }
}

}  // namespace headroom::load
