// The queue behind an exchange, and the handle that fills it.
#include "net/outbox.hpp"

#include <algorithm>

namespace headroom::net {

void Outbox::respond(Response response) {
  std::lock_guard lock(mutex_);
  if (answered_) return;
  answered_ = finished_ = true;
  whole_ = std::move(response);
}

void Outbox::begin(int status, Headers headers) {
  std::lock_guard lock(mutex_);
  if (answered_) return;
  answered_ = true;
  head_.emplace(status, std::move(headers));
}

void Outbox::write(std::string chunk) {
  std::lock_guard lock(mutex_);
  if (chunk.empty() || gone_ || finished_ || aborted_) return;  // an empty chunk would end the body
  buffered_ += chunk.size();
  chunks_.push_back(std::move(chunk));
}

void Outbox::finish() {
  std::lock_guard lock(mutex_);
  if (aborted_) return;  // a failed stream never ends well
  finished_ = true;
}

void Outbox::abort() {
  std::lock_guard lock(mutex_);
  aborted_ = true;
}

void Outbox::upgrade(Upgrade to) {
  std::lock_guard lock(mutex_);
  if (answered_) return;
  answered_ = finished_ = true;
  upgrade_ = std::move(to);
}

std::optional<Outbox::Upgrade> Outbox::take_upgrade() {
  std::lock_guard lock(mutex_);
  return std::exchange(upgrade_, std::nullopt);
}

bool Outbox::answered() const {
  std::lock_guard lock(mutex_);
  return answered_;
}

bool Outbox::ended() const {
  std::lock_guard lock(mutex_);
  return finished_ || aborted_;
}

bool Outbox::gone() const {
  std::lock_guard lock(mutex_);
  return gone_;
}

std::size_t Outbox::buffered_bytes() const {
  std::lock_guard lock(mutex_);
  return buffered_;
}

void Outbox::on_gone(std::function<void()> callback) {
  {
    std::lock_guard lock(mutex_);
    if (!gone_) {
      on_gone_ = std::move(callback);
      return;
    }
  }
  callback();
}

void Outbox::on_drained(std::size_t limit, std::function<void()> callback) {
  {
    std::lock_guard lock(mutex_);
    if (!gone_ && buffered_ > limit) {
      on_drained_.emplace_back(limit, std::move(callback));
      return;
    }
  }
  callback();
}

Outbox::Output Outbox::take() {
  std::lock_guard lock(mutex_);
  Output out;
  if (gone_) {
    out.broken = true;
    return out;
  }
  out.whole.swap(whole_);
  out.head.swap(head_);
  if (out.whole || out.head) return out;
  if (!chunks_.empty()) {
    out.chunk = std::move(chunks_.front());
    chunks_.pop_front();
    return out;
  }
  out.broken = aborted_;  // after what was written before it
  out.finished = finished_;
  return out;
}

bool Outbox::empty() const {
  std::lock_guard lock(mutex_);
  return !whole_ && !head_ && chunks_.empty() && !finished_ && !aborted_ && !gone_;
}

// Callbacks whose limit is reached, all of them once the client is gone. The lock is held.
Outbox::Callbacks Outbox::take_drained() {
  Callbacks ready;
  std::erase_if(on_drained_, [&](auto& row) {
    if (!gone_ && buffered_ > row.first) return false;
    ready.push_back(std::move(row.second));
    return true;
  });
  return ready;
}

void Outbox::sent(std::size_t bytes) {
  Callbacks ready;
  {
    std::lock_guard lock(mutex_);
    buffered_ -= std::min(buffered_, bytes);
    ready = take_drained();
  }
  for (auto& callback : ready) callback();
}

void Outbox::mark_gone() {
  std::function<void()> left;
  Callbacks ready;
  {
    std::lock_guard lock(mutex_);
    if (gone_) return;
    gone_ = true;
    chunks_.clear();
    buffered_ = 0;
    left = std::move(on_gone_);
    ready = take_drained();
  }
  if (left) left();
  for (auto& callback : ready) callback();
}

void Outbox::close() {
  std::function<void()> left;  // destroyed without the lock: it may hold the handle
  std::lock_guard lock(mutex_);
  left.swap(on_gone_);
}

namespace {

class ExchangeHandle final : public Exchange {
 public:
  ExchangeHandle(std::shared_ptr<Outbox> outbox, std::shared_ptr<const Request> request,
                 std::function<void()> wake)
      : outbox_(std::move(outbox)), request_(std::move(request)), wake_(std::move(wake)) {}
  ~ExchangeHandle() override {
    if (!outbox_->answered()) {
      respond({500,
               {{"content-type", "application/json"}},
               R"({"error":{"code":"internal","message":"the request was dropped"}})"});
    } else if (!outbox_->ended()) {
      abort();
    }
  }
  const Request& request() const override { return *request_; }
  void respond(Response response) override {
    outbox_->respond(std::move(response));
    wake_();
  }
  void begin(int status, Headers headers) override {
    outbox_->begin(status, std::move(headers));
    wake_();
  }
  void write(std::string chunk) override {
    outbox_->write(std::move(chunk));
    wake_();
  }
  void finish() override {
    outbox_->finish();
    wake_();
  }
  void abort() override {
    outbox_->abort();
    wake_();
  }
  bool gone() const override { return outbox_->gone(); }
  std::size_t buffered_bytes() const override { return outbox_->buffered_bytes(); }
  void on_gone(std::function<void()> callback) override { outbox_->on_gone(std::move(callback)); }
  void on_drained(std::size_t limit, std::function<void()> callback) override {
    outbox_->on_drained(limit, std::move(callback));
  }
  void accept_websocket(WsLimits limits,
                        std::function<WsEvents(std::shared_ptr<WebSocket>)> opened) override {
    outbox_->upgrade({limits, std::move(opened)});
  }

 private:
  std::shared_ptr<Outbox> outbox_;
  std::shared_ptr<const Request> request_;
  std::function<void()> wake_;
};

}  // namespace

std::shared_ptr<Exchange> make_exchange(std::shared_ptr<Outbox> outbox,
                                        std::shared_ptr<const Request> request, std::function<void()> wake) {
  return std::make_shared<ExchangeHandle>(std::move(outbox), std::move(request), std::move(wake));
}

}  // namespace headroom::net
