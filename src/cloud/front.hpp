// Front: the HTTP door of the local cloud. Checks Host and signature, finds protocol, service and operation,
// runs it on the world, saves what it changed before it answers. Also the control route (control.hpp) and
// the status page (status_page.hpp).
//
// Invocations are relayed on the thread that calls handle(), the server's loop. Everything else that touches
// the world is answered, in order of arrival, on a thread of its own: an operation that changes something
// waits for the disk, and no stream may wait with it. Destroy it after the server and before the supervisor.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/clock.hpp"
#include "base/guarded.hpp"
#include "cloud/relay.hpp"
#include "cloud/reply.hpp"
#include "cloud/signature.hpp"
#include "cloud/state_file.hpp"
#include "cloud/world.hpp"
#include "net/loop.hpp"
#include "net/server.hpp"

namespace headroom::cloud {

struct FrontSettings {
  std::optional<Credentials> credentials;  // absent: any signature, or none, is taken
  std::set<std::string> hosts;             // Host header values without port that are answered
  std::string region;                      // that signatures must be for
  std::string control_token;               // of the control route; empty: there is none
};

class Front {
 public:
  Front(base::Guarded<World>& world, StateFile& state, Relay& relay, const base::Clock& clock,
        FrontSettings settings, std::function<void()> changed)
      : world_(world),
        state_(state),
        relay_(relay),
        clock_(clock),
        settings_(std::move(settings)),
        changed_(std::move(changed)) {}

  void handle(const std::shared_ptr<net::Exchange>& exchange);
  // One operation, as if it had come by HTTP: for `tts-local up`.
  base::Result<Json> run(std::string_view service, std::string_view operation, const Json& in);
  const FrontSettings& settings() const { return settings_; }
  void end_event_streams() { ending_ = true; }  // those of open status pages, within a second
  static net::Response early(int status, const net::Request& seen);

 private:
  base::Result<void> admit(const net::Request& request) const;
  net::Response call_guarded(const net::Request& request);
  net::Response call(const net::Request& request);
  net::Response control(const net::Request& request);
  bool knows_token(const net::Request& request) const;
  bool is_for_people(const net::Request& request) const;
  void show(const std::shared_ptr<net::Exchange>& exchange);
  void feed(const std::shared_ptr<net::Exchange>& exchange);
  base::Result<Json> execute(const Service& service, const OperationRow& row, const Json& in);

  base::Guarded<World>& world_;
  StateFile& state_;
  Relay& relay_;
  const base::Clock& clock_;
  FrontSettings settings_;
  std::function<void()> changed_;
  std::atomic<bool> ending_ = false;
  net::Loop control_{1};  // last: its thread ends before anything it uses goes
};

// The host of "name:port", "[::1]:port" or a URL's authority, without port and brackets, lower case.
std::string host_of(std::string_view authority);

}  // namespace headroom::cloud
