// BareServer: a speech server that is measured without AWS: its URL, request form and name for artifacts.
//
// From the options --http, --api, --body-template, --content-type, --header and --format. Nothing of it can
// be frozen, pinned or scaled; its stages are unknown. Reads the template file; makes no request. Immutable.
// Errors: kInvalidArgument (a URL that is none, options that contradict each other), kIo (template file).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"
#include "load/workload.hpp"

namespace headroom::bench {

struct BareOptions {
  std::string http;  // empty: an AWS endpoint is measured
  std::string api = "sagemaker";
  std::string body_template;
  std::string content_type;
  std::vector<std::string> headers;  // "Name: value"
  std::string format = "pcm";
  int pcm_rate = 24'000;
  int driver_threads = 1;
  std::vector<base::Option> table();
};

struct BareServer {
  std::string url;          // of the route
  bool web_socket = false;  // ws://: sessions instead of requests
  bool tls = false;         // then the AWS client's transport carries it
  std::string name;         // a SageMaker name made of host and port: "http-127-0-0-1-8080"
  std::string form;         // sagemaker, openai, session or template
  std::vector<std::pair<std::string, std::string>> headers;
  std::optional<std::string> body_template;
};

base::Result<std::optional<BareServer>> read_bare(const BareOptions& options);
// How a text becomes a request for this server.
base::Result<load::BodyFormat> bare_body(const BareOptions& options, const BareServer& server,
                                         const std::string& voice);

}  // namespace headroom::bench
