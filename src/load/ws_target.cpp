// Sessions and their requests, all on one loop thread.
#include "load/ws_target.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "aws/session_text.hpp"
#include "aws/settings.hpp"
#include "base/limits.hpp"
#include "load/resolve.hpp"
#include "net/loop.hpp"
#include "net/ws_client.hpp"

namespace headroom::load {
namespace {

using base::ErrorCode;
using base::fail;
using base::SteadyTime;

constexpr std::size_t kWarmBatch = 32;
constexpr base::Duration kConnectPatience = std::chrono::seconds{5};  // with each of several addresses

SteadyTime now() { return std::chrono::steady_clock::now(); }

struct Session;

struct Job {
  std::uint64_t id = 0;
  std::string body;
  aws::InvokeEvents events;
  bool got_bytes = false;
  Session* session = nullptr;
};

struct Session {
  std::shared_ptr<net::WebSocket> socket;
  bool open = false;
  Job* job = nullptr;
};

struct Warming {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::string error;
};

}  // namespace

struct WsTarget::Impl : std::enable_shared_from_this<Impl> {
  net::Loop loop{1};  // first: the sessions need it to the end
  std::string url, host, path;
  std::uint16_t port = 0;
  std::size_t most = 1;
  std::uint64_t next_id = 1;
  std::unordered_map<std::uint64_t, std::unique_ptr<Job>> jobs;
  std::unordered_map<Session*, std::shared_ptr<Session>> sessions;
  std::vector<Session*> idle;
  std::deque<std::uint64_t> waiting;
  std::shared_ptr<Warming> warming;
  std::size_t warm_wanted = 0;

  Session& connect() {
    auto session = std::make_shared<Session>();
    Session* const raw = session.get();
    sessions.emplace(raw, session);
    net::WsRequest request;
    request.host = host;
    request.port = port;
    request.target = path;
    net::WsEvents events;
    const auto self = weak_from_this();
    // The session is looked up: after it was let go of, nothing of it is touched.
    events.on_open = [self, raw] {
      if (const auto impl = self.lock(); impl && impl->sessions.contains(raw)) impl->opened(*raw);
    };
    events.on_message = [self, raw](const std::string& message, bool text) {
      if (const auto impl = self.lock(); impl && impl->sessions.contains(raw))
        impl->message(*raw, message, text);
    };
    events.on_close = [self, raw](const net::WsEnd& end) {
      if (const auto impl = self.lock(); impl && impl->sessions.contains(raw)) impl->closed(*raw, end);
    };
    session->socket = net::ws_connect(loop, std::move(request), std::move(events));
    return *raw;
  }

  void give(Session& session, Job& job) {
    session.job = &job;
    job.session = &session;
    if (session.open && job.events.on_connected) job.events.on_connected(now());
    session.socket->send_text(job.body);
  }

  void opened(Session& session) {
    session.open = true;
    if (session.job != nullptr) {
      if (session.job->events.on_connected) session.job->events.on_connected(now());
    } else {
      rest(session);
    }
    warm_more();
  }

  void message(Session& session, const std::string& bytes, bool text) {
    if (session.job == nullptr) return;
    Job& job = *session.job;
    if (!text) {
      job.got_bytes = true;
      if (job.events.on_data) job.events.on_data(now(), bytes);
      return;
    }
    const auto said = aws::read_session_text(bytes);
    if (said.kind == aws::SessionText::Kind::kOther) return;
    aws::InvokeResult result;
    if (said.kind == aws::SessionText::Kind::kError) {
      result = aws::session_error(said);
    } else if (job.got_bytes) {
      result.outcome = aws::Outcome::kOk;
      result.status = 200;
    } else {
      result.error = "empty answer: a success without audio";
    }
    session.job = nullptr;
    rest(session);
    end(job, result);
  }

  void closed(Session& session, const net::WsEnd& why) {
    Job* const job = session.job;
    const bool was_open = session.open;
    forget(session);
    const std::string text = why.error ? base::describe(*why.error)
                                       : "the session was closed with code " + std::to_string(why.code);
    if (warming && !was_open && warming->error.empty()) warming->error = text;
    warm_more();
    if (job == nullptr) return;
    aws::InvokeResult result;
    result.error = text;
    end(*job, result);
  }

  void rest(Session& session) {
    while (!waiting.empty()) {
      const auto found = jobs.find(waiting.front());
      waiting.pop_front();
      if (found != jobs.end()) return give(session, *found->second);
    }
    idle.push_back(&session);
  }

  void forget(Session& session) {
    std::erase(idle, &session);
    const auto found = sessions.find(&session);
    auto last = std::move(found->second);
    sessions.erase(found);
    loop.post([last = std::move(last)] {});  // one of its events may be on the stack
  }

  void end(Job& job, const aws::InvokeResult& result) {
    const auto found = jobs.find(job.id);
    const auto mine = std::move(found->second);
    jobs.erase(found);
    if (mine->events.on_done) mine->events.on_done(now(), result);
  }

  void stop(std::uint64_t id, aws::Outcome outcome, const std::string& why) {
    const auto found = jobs.find(id);
    if (found == jobs.end()) return;
    Job& job = *found->second;
    if (Session* const session = job.session) {
      const auto socket = session->socket;
      forget(*session);
      socket->cut();
    }
    aws::InvokeResult result;
    result.outcome = outcome;
    result.error = why;
    end(job, result);
  }

  std::uint64_t start(aws::InvokeRequest request, aws::InvokeEvents events) {
    auto made = std::make_unique<Job>();
    Job& job = *made;
    const std::uint64_t id = job.id = next_id++;
    job.body = std::move(request.body);
    job.events = std::move(events);
    jobs.emplace(id, std::move(made));
    loop.after(request.timeout, [self = weak_from_this(), id] {
      if (const auto impl = self.lock()) impl->stop(id, aws::Outcome::kTimedOut, "timed out");
    });
    if (!idle.empty()) {
      Session* const session = idle.back();
      idle.pop_back();
      give(*session, job);
    } else if (sessions.size() < most) {
      give(connect(), job);
    } else {
      waiting.push_back(id);
    }
    return id;
  }

  void warm_more() {
    if (!warming) return;
    std::size_t opening = 0;
    for (const auto& [session, owner] : sessions) opening += session->open ? 0 : 1;
    while (warming->error.empty() && opening < kWarmBatch && sessions.size() < warm_wanted) {
      connect();
      ++opening;
    }
    if (opening > 0 && warming->error.empty()) return;
    std::lock_guard lock(warming->mutex);
    warming->done = true;
    warming->changed.notify_all();
    warming.reset();
  }
};

base::Result<std::unique_ptr<WsTarget>> WsTarget::make(const WsTargetOptions& options) {
  auto url = aws::parse_endpoint_url(options.url);
  if (!url) return tl::unexpected(url.error());
  auto addresses = resolve(url->host, url->port);
  if (!addresses) return tl::unexpected(addresses.error());
  auto address = first_that_answers(*addresses, options.url, kConnectPatience);
  if (!address) return tl::unexpected(address.error());
  if (auto fits = base::check_limits(base::raise_limits(options.connections + 64), options.connections);
      !fits)
    return tl::unexpected(fits.error());
  auto impl = std::make_shared<Impl>();
  impl->url = options.url;
  impl->host = address->literal;
  impl->port = url->port;
  impl->path = url->path.empty() ? "/" : url->path;
  impl->most = std::max<std::size_t>(options.connections, 1);
  return std::unique_ptr<WsTarget>(new WsTarget(std::move(impl)));
}

WsTarget::~WsTarget() {
  std::promise<void> cut;
  impl_->loop.post([impl = impl_.get(), &cut] {
    const auto last = std::move(impl->sessions);
    impl->sessions.clear();
    for (const auto& [session, owner] : last) owner->socket->cut();
    cut.set_value();
  });
  cut.get_future().wait();
  impl_->loop.stop();
}

void WsTarget::post(std::size_t, Work work) { impl_->loop.post(std::move(work)); }

void WsTarget::at(std::size_t, SteadyTime when, Work work) {
  impl_->loop.after(std::max<base::Duration>(when - now(), base::Duration{}), std::move(work));
}

std::uint64_t WsTarget::start(std::size_t, aws::InvokeRequest request, aws::InvokeEvents events) {
  return impl_->start(std::move(request), std::move(events));
}

void WsTarget::cancel(std::size_t, std::uint64_t id) {
  // Later: it may be called from the request's own event.
  impl_->loop.post([impl = impl_.get(), id] { impl->stop(id, aws::Outcome::kAborted, "cancelled"); });
}

base::Result<void> WsTarget::warm(std::size_t count, base::Deadline deadline) {
  auto warming = std::make_shared<Warming>();
  impl_->loop.post([impl = impl_.get(), warming, count] {
    impl->warming = warming;
    impl->warm_wanted = std::min(count, impl->most);
    impl->warm_more();
  });
  std::unique_lock lock(warming->mutex);
  if (!warming->changed.wait_until(lock, deadline.at, [&] { return warming->done; })) {
    return fail(ErrorCode::kTimeout,
                "not all sessions to " + impl_->url + " stood in time; lower the load or wait");
  }
  if (!warming->error.empty()) {
    return fail(ErrorCode::kUnavailable,
                "cannot open a session at " + impl_->url + "; is it running, and is the URL right?",
                warming->error);
  }
  return {};
}

}  // namespace headroom::load
