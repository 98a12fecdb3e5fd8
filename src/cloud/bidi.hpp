// Bidi: InvokeEndpointWithBidirectionalStream. A client's stream of signed events over HTTP/2 becomes
// messages of the container's WebSocket, and the other way round.
//
// Client to container: the payload of a PayloadPart event is one message, or a piece of one while its
// CompletionState is PARTIAL; DataType UTF8 makes it text, BINARY binary, and without DataType it is text if
// it is UTF-8. Container to client: every message is one unsigned PayloadPart event, complete, with its
// DataType. A client that ends its input gets what the container still says until the container closes or is
// silent for 5 s, or 60 s while it owes an answer (ModelInvocationTimeExceeded then). Faults before the
// stream are a status with x-amzn-errortype, after it exception events (ModelStreamError,
// InputValidationError) or an error event for a wrong signature, since one client does not see a reset. A
// session counts as one concurrent request from its arrival to its end. Thread safe. Wire rules:
// docs/local-cloud.md, "Bidirectional stream".
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/clock.hpp"
#include "base/guarded.hpp"
#include "cloud/h2_server.hpp"
#include "cloud/signature.hpp"
#include "cloud/world.hpp"
#include "net/loop.hpp"

namespace headroom::cloud {

struct BidiSettings {
  std::optional<Credentials> credentials;  // absent: any signature is taken, the form of events is checked
  std::set<std::string> hosts;
  std::string region;
};

class Bidi {
 public:
  Bidi(base::Guarded<World>& world, net::Loop& loop, const base::Clock& clock, BidiSettings settings)
      : world_(world), loop_(loop), clock_(clock), settings_(std::move(settings)) {}

  H2Events open(const std::shared_ptr<H2Stream>& stream);  // for H2Server
  void end_silent_sessions() { *ending_ = true; }  // from now on as if every client had ended its input

 private:
  base::Guarded<World>& world_;
  net::Loop& loop_;  // of one thread
  const base::Clock& clock_;
  BidiSettings settings_;
  std::shared_ptr<std::atomic<bool>> ending_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace headroom::cloud
