// Sending a request and reading its answer on one socket.
#include "load/http_connection.hpp"

#include <cerrno>
#include <utility>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load/http_lane.hpp"

namespace headroom::load {
namespace {

using base::SteadyTime;

constexpr std::size_t kLargestErrorBody = 64 * 1024;
constexpr std::uint32_t kReading = EPOLLIN | EPOLLRDHUP | EPOLLET;
constexpr std::uint32_t kClosing = EPOLLHUP | EPOLLERR | EPOLLRDHUP;

SteadyTime now() { return std::chrono::steady_clock::now(); }

}  // namespace

void HttpConnection::close_socket() {
  if (fd_ < 0) return;
  lane_.loop().forget(fd_, *this);
  close(fd_);
  fd_ = -1;
}

void HttpConnection::take(HttpJob& job) {
  job_ = &job;
  job.connection = this;
  answer_.reset();
  sent_ = 0;
  pieces_ = 0;
  one_piece_first_ = true;
  cancelled_ = false;
  if (!connecting_) send();
}

void HttpConnection::release() {
  if (job_ != nullptr) job_->connection = nullptr;
  job_ = nullptr;
}

void HttpConnection::ready(std::uint32_t events) {
  // It may be dropped below; the lane keeps the object until the loop's next turn.
  if (connecting_) return finish_connect();
  if ((events & EPOLLOUT) != 0 && job_ != nullptr && sent_ < job_->text.size()) send();
  if (fd_ >= 0 && (events & (EPOLLIN | kClosing)) != 0) receive((events & kClosing) != 0);
}

void HttpConnection::finish_connect() {
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
  connecting_ = false;
  if (error != 0) return fail("cannot connect: " + std::generic_category().message(error));
  lane_.loop().change(fd_, kReading, *this);
  lane_.opened("");
  if (job_ != nullptr) {
    send();
  } else {
    lane_.idle(*this);
  }
}

void HttpConnection::connect_late() { fail("cannot connect: no answer in time"); }

void HttpConnection::send() {
  if (sent_ == 0 && job_->events.on_connected) job_->events.on_connected(now());
  while (sent_ < job_->text.size()) {
    const auto done = ::send(fd_, job_->text.data() + sent_, job_->text.size() - sent_, MSG_NOSIGNAL);
    if (done < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) {
        lane_.loop().change(fd_, kReading | EPOLLOUT, *this);
        blocked_ = true;
        return;
      }
      return;  // an answer may have come before the connection broke: reading tells
    }
    sent_ += static_cast<std::size_t>(done);
  }
  if (blocked_) lane_.loop().change(fd_, kReading, *this);
  blocked_ = false;
}

void HttpConnection::receive(bool closing) {
  while (fd_ >= 0) {
    const auto bytes = lane_.read(fd_, arrived_);
    if (!bytes) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      if (job_ == nullptr) return lane_.drop(*this);
      return fail(errno == ECONNRESET ? "connection reset by the server"
                                      : std::generic_category().message(errno));
    }
    if (job_ == nullptr) return lane_.drop(*this);  // idle: closed by the server, or it talks unasked
    if (bytes->empty()) {
      answer_.peer_closed();
      return settle(false);
    }
    // Less than asked for: nothing is left, but the end where the peer has closed. Else there may be more,
    // and no event will tell.
    const bool more = bytes->size() >= lane_.read_size();
    feeding_ = true;
    const bool first = !job_->facts.got_bytes;
    const auto rest = answer_.feed(*bytes, *this);
    feeding_ = false;
    if (cancelled_) return lane_.end_cancelled(*this);
    if (first && job_->facts.got_bytes) one_piece_first_ = pieces_ == 1 && answer_.chunked();
    if (answer_.state() == HttpAnswer::State::kDone || answer_.state() == HttpAnswer::State::kBad)
      return settle(answer_.keep_alive() && rest.empty() && !more && !closing && sent_ == job_->text.size());
    if (!more && !closing) return;
  }
}

// The answer is over, whole or not.
void HttpConnection::settle(bool reuse) {
  if (answer_.state() != HttpAnswer::State::kDone) return fail(answer_.why());
  HttpJob& job = *job_;
  lane_.note_length(arrived_ - job.begun, one_piece_first_);
  release();
  reuse ? lane_.idle(*this) : lane_.drop(*this);
  lane_.end(job, HttpEnd::kEnded, arrived_);  // nothing of this connection is touched after it
}

void HttpConnection::fail(const std::string& why) {
  const bool was_connecting = why.starts_with("cannot connect");
  HttpJob* const job = job_;
  release();
  if (was_connecting) lane_.opened(why);
  lane_.drop(*this);
  if (job == nullptr) return;
  job->facts.connection_error = why;
  lane_.end(*job, HttpEnd::kEnded, now());
}

void HttpConnection::head() {
  job_->facts.status = answer_.status();
  job_->facts.headers = answer_.take_headers();
}

void HttpConnection::body(std::string_view piece) {
  if (cancelled_) return;
  auto& facts = job_->facts;
  if (facts.status >= 200 && facts.status < 300) {
    facts.got_bytes = true;
    ++pieces_;
    if (job_->events.on_data) job_->events.on_data(arrived_, piece);
  } else if (facts.body.size() < kLargestErrorBody) {
    facts.body += piece.substr(0, kLargestErrorBody - facts.body.size());
  }
}

}  // namespace headroom::load
