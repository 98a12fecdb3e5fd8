// Internal to src/aws: InvokeEndpointWithBidirectionalStream as an Invoker: one stream a request.
//
// HTTP/2 over TLS (ALPN h2), many streams a connection, connections made on demand: warm() opens none, and
// the first requests of a connection pay for it. A request sends its body as one signed UTF8 event, takes
// BINARY events as audio and UTF8 events as the session's messages, and after synthesis_complete or error
// ends its input; on_done comes when the server has ended the stream. Callbacks run on the first event loop.
// Endpoint: AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME_HTTP2, else the runtime host on port 8443; where the general
// redirect names this machine over plain http, the same host over https on the next port (tts-local's). Its
// certificate is trusted through AWS_CA_BUNDLE or SSL_CERT_FILE.
#pragma once

#include <memory>

#include "aws/invoke.hpp"
#include "aws/settings.hpp"

namespace headroom::aws {

EndpointUrl bidi_endpoint(const Settings& settings, const Environment& environment);
base::Result<std::unique_ptr<Invoker>> make_bidi_invoker(Runtime& runtime, const Settings& settings,
                                                         std::shared_ptr<Credentials> credentials,
                                                         InvokerOptions options);

}  // namespace headroom::aws
