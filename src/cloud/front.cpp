// Dispatch.
#include "cloud/front.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error_table.hpp"
#include "cloud/control.hpp"
#include "cloud/gzip.hpp"
#include "cloud/status_page.hpp"
#include "cloud/wire_cbor.hpp"
#include "cloud/wire_query.hpp"

namespace headroom::cloud {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kMaxOperationBody = 4U << 20U;  // all but invocations
constexpr std::size_t kMaxInflated = 8U << 20U;
constexpr std::string_view kCborPath = "/service/GraniteServiceVersion20100801/operation/";

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

struct Invoked {
  std::string endpoint;
  bool streaming = false;
};

// "/endpoints/NAME/invocations" and "/endpoints/NAME/invocations-response-stream"
std::optional<Invoked> parse_invocation(const std::string& path) {
  constexpr std::string_view kBegin = "/endpoints/", kSync = "/invocations",
                             kStream = "/invocations-response-stream";
  if (path.rfind(kBegin, 0) != 0) return std::nullopt;
  const bool streaming = ends_with(path, kStream);
  if (!streaming && !ends_with(path, kSync)) return std::nullopt;
  const std::size_t tail = streaming ? kStream.size() : kSync.size();
  if (path.size() < kBegin.size() + tail) return std::nullopt;
  return Invoked{
      net::percent_decode(std::string_view(path).substr(kBegin.size(), path.size() - kBegin.size() - tail)),
      streaming};
}

const Service* find_service(std::string_view prefix) {
  for (const Service& service : services()) {
    if (service.target_prefix == prefix) return &service;
  }
  return nullptr;
}

bool is_form(const net::Request& request) {
  return request.headers.get("content-type").substr(0, 33) == "application/x-www-form-urlencoded";
}

// "" for a member that is absent or is no text, as "Version.a=1" makes it.
std::string text_member(const Json& form, const char* name) {
  const auto member = form.find(name);
  return member != form.end() && member->is_string() ? member->get<std::string>() : std::string{};
}

struct Parsed {
  CallInfo call;
  base::Result<Json> in;
};

// By X-Amz-Target (JSON), by path (CBOR) or by Action and Version (query).
std::optional<Parsed> parse_call(const net::Request& request, const std::string& body) {
  CallInfo call;
  call.request_id = request.id;
  if (request.path.rfind(kCborPath, 0) == 0) {
    call.service = find_service("GraniteServiceVersion20100801");
    call.protocol = Protocol::kCbor;
    call.operation = request.path.substr(kCborPath.size());
    return Parsed{call, decode_cbor(body).and_then(typed_members)};
  }
  if (request.path != "/") return std::nullopt;
  const std::string_view target = request.headers.get("x-amz-target");
  if (const auto dot = target.find('.'); dot != std::string_view::npos) {
    call.service = find_service(target.substr(0, dot));
    call.operation = target.substr(dot + 1);
    if (call.service == nullptr) return std::nullopt;
    return Parsed{call, parse_object(body).and_then(typed_members)};
  }
  if (!is_form(request)) return std::nullopt;
  auto form = parse_query_form(body);
  const std::string version = form ? text_member(*form, "Version") : "";
  for (const Service& service : services()) {
    if (!service.query_version.empty() && service.query_version == version) call.service = &service;
  }
  if (call.service == nullptr) return std::nullopt;
  call.protocol = Protocol::kQuery;
  call.operation = text_member(*form, "Action");
  return Parsed{call, std::move(form)};
}

// The service that the signature must be for, told without reading the body where possible.
std::string signing_name(const net::Request& request) {
  if (parse_invocation(request.path)) return "sagemaker";
  const Service* service = nullptr;
  const std::string_view target = request.headers.get("x-amz-target");
  if (request.path.rfind(kCborPath, 0) == 0)
    service = find_service("GraniteServiceVersion20100801");
  else if (!target.empty())
    service = find_service(target.substr(0, target.find('.')));
  else if (const auto parsed = parse_call(request, request.body))
    service = parsed->call.service;
  return service == nullptr ? "" : std::string(service->name);
}

// A refusal in the form that the client of this request can read.
net::Response refusal(const net::Request& request, const base::Error& error) {
  const std::string exception = error.context.empty() ? "AccessDeniedException" : error.context;
  if (parse_invocation(request.path)) return runtime_error(403, exception, error.message);
  const auto parsed = parse_call(request, request.body);
  return parsed ? error_reply(parsed->call, error) : plain_error(403, exception, error.message);
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 100)) out += c > 0x20 && c < 0x7f ? c : '?';
  return out;
}

}  // namespace

std::string host_of(std::string_view authority) {
  if (const auto scheme = authority.find("://"); scheme != std::string_view::npos)
    authority.remove_prefix(scheme + 3);
  std::string host;
  if (!authority.empty() && authority.front() == '[')
    host = authority.substr(1, authority.find(']') - 1);
  else
    host = authority.substr(0, authority.find(':'));
  std::transform(host.begin(), host.end(), host.begin(), [](unsigned char c) { return std::tolower(c); });
  return host;
}

base::Result<void> Front::admit(const net::Request& request) const {
  const std::string host = host_of(request.headers.get("host"));
  // A page in a browser that reaches this address under another name, or from another origin, is not a
  // client.
  if (settings_.hosts.count(host) == 0)
    return fail(
        ErrorCode::kForbidden,
        fmt::format("Host '{}' is not answered here; use 127.0.0.1 or localhost, or start with --host-name",
                    printable(host)));
  const auto origin = request.headers.find("origin");
  if (origin && settings_.hosts.count(host_of(*origin)) == 0)
    return fail(ErrorCode::kForbidden, "requests of other origins are not answered");
  // These have their token instead.
  if (!settings_.credentials || request.path == kControlPath || is_for_people(request)) return {};
  const auto skew = world_.with([](const World& world) { return world.faults.skew; });
  const auto verified = verify_signature(request, *settings_.credentials, clock_.wall() + skew,
                                         {settings_.region, signing_name(request)});
  if (!verified) return tl::unexpected(verified.error());
  return {};
}

bool Front::is_for_people(const net::Request& request) const {
  return request.method == "GET" && (request.path == "/" || request.path == "/events");
}

bool Front::knows_token(const net::Request& request) const {
  constexpr std::string_view kQuery = "token=";
  std::string given(request.headers.get("x-tts-local-token"));
  if (given.empty() && is_for_people(request) && request.query.rfind(kQuery, 0) == 0)
    given = net::percent_decode(std::string_view(request.query).substr(kQuery.size()));
  return !settings_.control_token.empty() && equal_in_constant_time(given, settings_.control_token);
}

// The status page and its feed. A browser cannot sign, so where signatures are checked the token opens them.
void Front::show(const std::shared_ptr<net::Exchange>& exchange) {
  if (settings_.credentials && !knows_token(exchange->request()))
    return exchange->respond(plain_error(
        403, "AccessDeniedException",
        "signatures are checked here: start tts-local with --control-token TOKEN and open /?token=TOKEN"));
  if (exchange->request().path == "/events") {
    exchange->begin(200, {{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}});
    return feed(exchange);
  }
  const std::string nonce = random_hex(24);
  exchange->respond(
      {200,
       {{"Content-Type", "text/html; charset=utf-8"},
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"Content-Security-Policy",
         fmt::format(
             "default-src 'none'; connect-src 'self'; img-src data:; base-uri 'none'; frame-ancestors "
             "'none'; style-src 'nonce-{0}'; script-src 'nonce-{0}'",
             nonce)}},
       status_page(nonce)});
}

void Front::feed(const std::shared_ptr<net::Exchange>& exchange) {
  if (ending_) return exchange->finish();
  if (exchange->gone()) return;
  if (exchange->buffered_bytes() == 0) {  // a reader that sleeps gets the next one
    const Json snapshot =
        world_.with([&](const World& world) { return status_snapshot(world, clock_.wall()); });
    exchange->write("data: " + dump(snapshot) + "\n\n");
  }
  control_.after(std::chrono::seconds{1}, [this, exchange] { feed(exchange); });
}

net::Response Front::control(const net::Request& request) {
  if (!knows_token(request))
    return plain_error(403, "AccessDeniedException",
                       settings_.control_token.empty()
                           ? "the control route is off; start tts-local with --control-token TOKEN"
                           : "the control route needs its token in the header x-tts-local-token");
  if (request.method == "POST") {
    const auto in = parse_object(request.body);
    if (!in) return plain_error(400, "ValidationException", in.error().message);
    const auto applied = world_.with([&](World& world) { return apply_faults(world, *in); });
    if (!applied) return plain_error(400, "ValidationException", applied.error().message);
    changed_();
  }
  return {200,
          {{"Content-Type", "application/json"}},
          dump(world_.with([](const World& world) { return show_faults(world); }))};
}

base::Result<Json> Front::execute(const Service&, const OperationRow& row, const Json& in) {
  auto result = world_.with([&](World& world) -> base::Result<Json> {
    try {
      Api api{world, clock_.wall()};
      return row.run(api, in);
    } catch (const Json::exception& e) {  // a member of a type that no reader checked
      return fail(ErrorCode::kInvalidData, fmt::format("a member has the wrong type: {}", e.what()),
                  "SerializationException");
    }
  });
  if (result && row.changes) {
    if (const auto saved = state_.save(world_); !saved)
      return fail(ErrorCode::kInternal, "the state cannot be saved: " + base::describe(saved.error()));
    changed_();
  }
  return result;
}

base::Result<Json> Front::run(std::string_view service, std::string_view operation, const Json& in) {
  for (const Service& candidate : services()) {
    if (candidate.name != service) continue;
    const OperationRow* row = find_operation(candidate, operation);
    if (row != nullptr) return execute(candidate, *row, in);
  }
  return fail(ErrorCode::kInternal, fmt::format("no operation {}.{}", service, operation));
}

net::Response Front::call(const net::Request& request) {
  if (request.body.size() > kMaxOperationBody) return early(413, request);
  std::string body = request.body;
  if (request.headers.get("content-encoding") == "gzip") {
    auto inflated = gunzip(body, kMaxInflated);
    if (!inflated) return plain_error(400, "SerializationException", inflated.error().message);
    body = std::move(*inflated);
  }
  const auto parsed = parse_call(request, body);
  if (!parsed) {
    return plain_error(
        request.path == "/" ? 400 : 404, "UnknownOperationException",
        fmt::format("{} {} with target '{}' is no operation of this cloud", printable(request.method),
                    printable(request.path), printable(request.headers.get("x-amz-target"))));
  }
  const CallInfo& info = parsed->call;
  const OperationRow* row = find_operation(*info.service, info.operation);
  if (row == nullptr)
    return error_reply(info, {ErrorCode::kNotFound,
                              fmt::format("operation '{}' of {} is not offered by this cloud",
                                          printable(info.operation), info.service->name),
                              "UnknownOperationException"});
  if (!parsed->in) return error_reply(info, parsed->in.error());
  if (world_.with([&](World& world) { return take_throttle(world, info.operation); }))
    return error_reply(info, {ErrorCode::kThrottled, "Rate exceeded", ""});
  const auto result = execute(*info.service, *row, *parsed->in);
  return result ? success_reply(info, *result) : error_reply(info, result.error());
}

void Front::handle(const std::shared_ptr<net::Exchange>& exchange) {
  const net::Request& request = exchange->request();
  if (const auto admitted = admit(request); !admitted)
    return exchange->respond(refusal(request, admitted.error()));
  if (is_for_people(request)) return control_.post([this, exchange] { show(exchange); });
  if (request.method == "GET" && request.path == "/health")
    return exchange->respond(
        {200, {{"Content-Type", "application/json"}}, R"({"service":"tts-local","status":"ok"})"});
  if (request.path == kControlPath)
    return control_.post([this, exchange] { exchange->respond(control(exchange->request())); });
  if (request.method != "POST")
    return exchange->respond(
        plain_error(405, "UnknownOperationException",
                    fmt::format("{} is not used by this cloud", printable(request.method))));
  if (const auto invoked = parse_invocation(request.path)) {
    const char* operation = invoked->streaming ? "InvokeEndpointWithResponseStream" : "InvokeEndpoint";
    if (world_.with([&](World& world) { return take_throttle(world, operation); }))
      return exchange->respond(runtime_error(400, "ThrottlingException", "Rate exceeded"));
    return relay_.invoke(exchange, invoked->endpoint, invoked->streaming);
  }
  control_.post([this, exchange] { exchange->respond(call_guarded(exchange->request())); });
}

// On the control thread nobody else would catch what no check foresaw.
net::Response Front::call_guarded(const net::Request& request) {
  try {
    return call(request);
  } catch (const std::exception& e) {
    return plain_error(500, "InternalFailure", fmt::format("this request cannot be answered: {}", e.what()));
  }
}

net::Response Front::early(int status, const net::Request&) {
  return plain_error(status, status == 413 ? "RequestEntityTooLargeException" : "SerializationException",
                     status == 413 ? "the request is larger than 4 MiB (25 MiB for invocations)"
                                   : "the request is not valid HTTP or came too slowly");
}

}  // namespace headroom::cloud
