// The lanes behind one URL.
#include "load/http_target.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "aws/settings.hpp"
#include "base/limits.hpp"
#include "load/http_lane.hpp"
#include "load/resolve.hpp"

namespace headroom::load {
namespace {

using base::ErrorCode;
using base::fail;

struct WarmState {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t left = 0;
  std::string error;
};

}  // namespace

struct HttpTarget::Impl {
  HttpPeer peer;
  std::string url;
  std::vector<std::unique_ptr<HttpLane>> lanes;
};

HttpTarget::HttpTarget(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpTarget::~HttpTarget() {
  for (auto& lane : impl_->lanes) {
    lane->loop().post([one = lane.get()] { one->close_all(); });
    lane->loop().stop();
  }
}

base::Result<std::unique_ptr<HttpTarget>> HttpTarget::make(HttpTargetOptions options) {
  auto url = aws::parse_endpoint_url(options.url);
  if (!url) return tl::unexpected(url.error());
  if (url->tls)
    return fail(ErrorCode::kInvalidArgument, "'" + options.url + "' is https; this transport is plain");
  auto impl = std::make_unique<Impl>();
  impl->url = options.url;
  auto addresses = resolve(url->host, url->port);
  if (!addresses) return tl::unexpected(addresses.error());
  auto address = first_that_answers(*addresses, options.url, options.connect_timeout);
  if (!address) return tl::unexpected(address.error());
  impl->peer.address = address->address;
  impl->peer.length = address->length;
  impl->peer.connect_timeout = options.connect_timeout;
  impl->peer.head = "POST " + (url->path.empty() ? "/" : url->path) +
                    " HTTP/1.1\r\nHost: " + url->host_header() +
                    "\r\nUser-Agent: headroom/" HEADROOM_VERSION "\r\n";
  for (const auto& [name, value] : options.headers) impl->peer.head += name + ": " + value + "\r\n";
  const std::size_t lanes = std::max<std::size_t>(options.lanes, 1);
  const std::size_t each = (std::max<std::size_t>(options.connections, 1) + lanes - 1) / lanes;
  if (auto fits = base::check_limits(base::raise_limits(lanes * each + 64), lanes * each); !fits)
    return tl::unexpected(fits.error());
  for (std::size_t i = 0; i < lanes; ++i) {
    auto lane = std::make_unique<HttpLane>(impl->peer, each);
    const auto core =
        options.cores.empty() ? std::nullopt : std::optional(options.cores[i % options.cores.size()]);
    if (auto begun = lane->begin(core); !begun) return tl::unexpected(begun.error());
    impl->lanes.push_back(std::move(lane));
  }
  return std::unique_ptr<HttpTarget>(new HttpTarget(std::move(impl)));
}

std::size_t HttpTarget::lanes() const { return impl_->lanes.size(); }

void HttpTarget::post(std::size_t lane, Work work) { impl_->lanes[lane]->loop().post(std::move(work)); }

void HttpTarget::at(std::size_t lane, base::SteadyTime when, Work work) {
  impl_->lanes[lane]->loop().at(when, std::move(work));
}

std::uint64_t HttpTarget::start(std::size_t lane, aws::InvokeRequest request, aws::InvokeEvents events) {
  return impl_->lanes[lane]->start(std::move(request), std::move(events));
}

void HttpTarget::cancel(std::size_t lane, std::uint64_t id) { impl_->lanes[lane]->cancel(id); }

base::Result<void> HttpTarget::warm(std::size_t count, base::Deadline deadline) {
  auto state = std::make_shared<WarmState>();
  state->left = impl_->lanes.size();
  const std::size_t each = (count + impl_->lanes.size() - 1) / impl_->lanes.size();
  for (auto& lane : impl_->lanes) {
    lane->loop().post([one = lane.get(), each, state] {
      one->warm(each, [state](const std::string& error) {
        std::lock_guard lock(state->mutex);
        if (state->error.empty()) state->error = error;
        --state->left;
        state->changed.notify_all();
      });
    });
  }
  std::unique_lock lock(state->mutex);
  const bool in_time = state->changed.wait_until(lock, deadline.at, [&] { return state->left == 0; });
  if (!state->error.empty()) {
    return fail(ErrorCode::kUnavailable,
                "cannot connect to " + impl_->url + "; is it running, and is the URL right?", state->error);
  }
  if (!in_time) {
    return fail(ErrorCode::kTimeout, "not all of " + std::to_string(count) + " connections to " + impl_->url +
                                         " stood in time; lower the load or wait");
  }
  return {};
}

double HttpTarget::cpu_seconds() const {
  double sum = 0;
  for (const auto& lane : impl_->lanes) sum += lane->loop().cpu_seconds();
  return sum;
}

}  // namespace headroom::load
