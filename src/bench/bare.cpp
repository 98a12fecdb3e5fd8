// Options of bare servers.
#include "bench/bare.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

#include "aws/settings.hpp"

namespace headroom::bench {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kLongestName = 63;  // SageMaker's

std::string name_of(const aws::EndpointUrl& url) {
  std::string out = "http-" + url.host + "-" + std::to_string(url.port);
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '-');
  out.resize(std::min(out.size(), kLongestName));
  while (out.back() == '-') out.pop_back();
  return out;
}

base::Result<std::string> read_template(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf()))
    return fail(ErrorCode::kIo, "cannot read the body template '" + path + "'; check the path");
  if (text.str().find("{{text}}") == std::string::npos) {
    return fail(ErrorCode::kInvalidArgument,
                "the body template '" + path + "' has no {{text}}; write it where the text to speak goes");
  }
  return text.str();
}

base::Result<std::pair<std::string, std::string>> read_header(const std::string& line) {
  const auto colon = line.find(':');
  const auto broken = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (colon == std::string::npos || colon == 0 || std::any_of(line.begin(), line.end(), broken)) {
    return fail(ErrorCode::kInvalidArgument, "--header '" + line + "' is none; write \"Name: value\"");
  }
  const auto value = line.find_first_not_of(' ', colon + 1);
  return std::pair(line.substr(0, colon), value == std::string::npos ? "" : line.substr(value));
}

}  // namespace

std::vector<base::Option> BareOptions::table() {
  return {
      {.name = "http",
       .help = "measure this bare server instead of an AWS endpoint; ws://... for its WebSocket sessions",
       .target = &http,
       .value_name = "URL"},
      {.name = "api",
       .help = "with --http: how its requests look",
       .target = &api,
       .choices = {"sagemaker", "openai"}},
      {.name = "body-template",
       .help = "with --http: a file with the request body, {{text}} for the text and {{voice}} for the voice",
       .target = &body_template,
       .value_name = "FILE"},
      {.name = "content-type",
       .help = "with --body-template: its content type; default application/json",
       .target = &content_type},
      {.name = "header",
       .help = "with --http: sent with every request, \"Name: value\"; repeatable",
       .target = &headers,
       .secret = true},
      {.name = "format",
       .help = "with --http: audio that is asked for, or that the template's server sends",
       .target = &format,
       .choices = {"pcm", "wav", "mp3", "opus"}},
      {.name = "pcm-rate",
       .help = "with --http: samples a second of pcm",
       .target = &pcm_rate,
       .min = 8000,
       .max = 192'000},
      {.name = "driver-threads",
       .help = "with --http: event loops of the load driver, one thread each",
       .target = &driver_threads,
       .min = 1,
       .max = 64},
  };
}

base::Result<std::optional<BareServer>> read_bare(const BareOptions& options) {
  if (options.http.empty()) {
    if (!options.body_template.empty())
      return fail(ErrorCode::kInvalidArgument,
                  "--body-template is for a bare server; name it with --http URL");
    return std::nullopt;
  }
  const bool web_socket = options.http.starts_with("ws://");
  const std::string http = web_socket ? "http" + options.http.substr(2) : options.http;
  auto url = aws::parse_endpoint_url(http);
  if (!url) return tl::unexpected(url.error());
  BareServer out;
  out.tls = url->tls;
  out.name = name_of(*url);
  out.web_socket = web_socket;
  out.form = !options.body_template.empty() ? "template" : web_socket ? "session" : options.api;
  out.url = http;
  if (url->path.empty() || url->path == "/") {
    while (!out.url.empty() && out.url.back() == '/') out.url.pop_back();
    if (out.form == "sagemaker") out.url += "/invocations";
    if (out.form == "openai") out.url += "/v1/audio/speech";
    if (web_socket) out.url += "/invocations-bidirectional-stream";
  }
  for (const std::string& line : options.headers) {
    auto header = read_header(line);
    if (!header) return tl::unexpected(header.error());
    out.headers.push_back(std::move(*header));
  }
  if ((out.tls || web_socket) && !out.headers.empty())
    return fail(ErrorCode::kInvalidArgument, "--header works with http:// only");
  if (!options.body_template.empty()) {
    auto text = read_template(options.body_template);
    if (!text) return tl::unexpected(text.error());
    out.body_template = std::move(*text);
  }
  return out;
}

base::Result<load::BodyFormat> bare_body(const BareOptions& options, const BareServer& server,
                                         const std::string& voice) {
  if (!server.body_template) {
    auto body = load::body_format(server.form, voice, options.format);
    if (body && body->pcm_sample_rate > 0) body->pcm_sample_rate = options.pcm_rate;
    return body;
  }
  load::BodyFormat body;
  body.content_type = options.content_type.empty() ? "application/json" : options.content_type;
  body.text_template = *server.body_template;
  constexpr std::string_view kPlace = "{{voice}}";
  for (auto at = body.text_template.find(kPlace); at != std::string::npos;
       at = body.text_template.find(kPlace, at + voice.size()))  // a voice may itself read like the place
    body.text_template.replace(at, kPlace.size(), voice);
  body.pcm_sample_rate = options.format == "pcm" ? options.pcm_rate : 0;
  return body;
}

}  // namespace headroom::bench
