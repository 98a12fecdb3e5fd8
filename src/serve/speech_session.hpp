// SpeechSession: one WebSocket of /invocations-bidirectional-stream (SPEC 1.1).
//
// In: `{text, voice, speed, request_id, ...}`, `{type:"text", request_id, text, final, ...}`,
// `{type:"cancel", request_id}`, `{type:"close"}`, each a JSON object in a text (or binary) message. Out:
// synthesis_start, binary audio, synthesis_complete, error. Requests may be pipelined; they are answered one
// after another in order of arrival, so that audio needs no label. Each is admitted when its first message
// comes and counts from then on; a session without requests counts nothing. Its clock (deadline, staleness,
// timings) starts when its turn comes. Thread safe; nothing here blocks.
#pragma once

#include <functional>
#include <memory>

#include "net/loop.hpp"
#include "net/websocket.hpp"
#include "serve/speech_job.hpp"

namespace headroom::serve {

// What a session needs of the service; outlives every session.
struct SessionContext {
  JobContext& jobs;
  Admission& admission;
  net::Loop& text_loop;                               // jobs are planned there
  std::function<std::uint64_t()> next_number;         // arrival number of a request
  std::function<std::optional<ApiFailure>()> barred;  // why no request is taken now: starting, draining
};

class SpeechSession {
 public:
  virtual ~SpeechSession() = default;
  virtual void leave_when_idle() = 0;  // draining: ends with 1001 once nothing is left to answer
};

// To be called when the socket opens; `events` is filled in. The socket keeps the session.
std::shared_ptr<SpeechSession> make_session(SessionContext& context, std::shared_ptr<net::WebSocket> socket,
                                            std::string session_id, net::WsEvents& events);

}  // namespace headroom::serve
