// Supervisor: one thread that makes processes follow the world: starts and ends instances, pings new ones,
// reads their output into the log store, notices exits.
//
// It decides nothing: fleet.hpp does. Children are started from its thread alone (see process.hpp).
// Thread safe: wake(), stop(). Destroy it before the loop and the world.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/guarded.hpp"
#include "cloud/state_file.hpp"
#include "cloud/world.hpp"
#include "net/client.hpp"

namespace headroom::cloud {

struct SupervisorSettings {
  std::string serve_binary;
  int instance_cores = 1;
  std::function<void(std::string_view)> log;  // one line for the operator
  std::function<void()> keep;                 // called every ten seconds and at the end, if set
};

class Supervisor {
 public:
  Supervisor(base::Guarded<World>& world, StateFile& state, net::Client& client, const base::Clock& clock,
             SupervisorSettings settings);
  ~Supervisor();  // stop()
  void wake();    // something changed: look now
  // Ends every instance: SIGTERM, 35 s to finish, SIGKILL. Returns when all are gone.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headroom::cloud
