// Sinks that answer over HTTP: plain bytes, and server-sent events in two dialects.
//
// A failure before the first audio is a status; after it the transfer breaks off without its final chunk
// (SSE says an `error` event first), so that nobody takes a broken answer for a short one.
#pragma once

#include <memory>

#include "net/server.hpp"
#include "serve/speech_sink.hpp"

namespace headroom::serve {

enum class HttpForm {
  kBytes,
  kEvents,        // ours: synthesis_start, audio, synthesis_complete
  kOpenAiEvents,  // speech.audio.delta, speech.audio.done
};

// The form of a request is known only after its body was read; begin() and whole() take the one set last.
class HttpSink : public SpeechSink {
 public:
  virtual void set_form(HttpForm form) = 0;
};

std::shared_ptr<HttpSink> make_http_sink(std::shared_ptr<net::Exchange> exchange);

}  // namespace headroom::serve
