// Loop: an io_context and its threads.
#include "net/loop.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "net/loop_impl.hpp"

namespace headroom::net {

Loop::Loop(int threads) : impl_(std::make_unique<Impl>(threads)) {
  for (int i = 0; i < threads; ++i) {
    impl_->threads.emplace_back([context = &impl_->context] { context->run(); });
  }
}

Loop::~Loop() { stop(); }

void Loop::stop() {
  impl_->work.reset();
  impl_->context.stop();
  impl_->threads.clear();
}

void Loop::post(std::function<void()> work) { boost::asio::post(impl_->context, std::move(work)); }

void Loop::after(std::chrono::nanoseconds delay, std::function<void()> work) {
  auto timer = std::make_shared<boost::asio::steady_timer>(impl_->context, delay);
  timer->async_wait([timer, work = std::move(work)](const boost::system::error_code& error) {
    if (!error) work();
  });
}

}  // namespace headroom::net
