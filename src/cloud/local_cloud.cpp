// Wiring of world, state, supervisor, relay and front; `up`.
#include "cloud/local_cloud.hpp"

#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "base/atomic_file.hpp"
#include "base/error_table.hpp"
#include "base/sha256.hpp"
#include "cloud/bidi.hpp"
#include "cloud/certificate.hpp"
#include "cloud/front.hpp"
#include "cloud/h2_server.hpp"
#include "cloud/metric_journal.hpp"
#include "cloud/process.hpp"
#include "cloud/supervisor.hpp"
#include "model/model_file.hpp"
#include "net/client.hpp"
#include "net/server.hpp"

namespace headroom::cloud {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kMaxBody = 25U << 20U;  // InvokeEndpoint's limit; the container has its own
constexpr auto kRequestsMayFinish = std::chrono::seconds{30};

bool is_loopback(const std::string& address) { return address == "::1" || address.rfind("127.", 0) == 0; }

base::Result<std::optional<Credentials>> parse_credentials(const LocalCloudOptions& options) {
  if (options.credentials.empty()) {
    if (is_loopback(options.address)) return std::nullopt;
    return fail(ErrorCode::kInvalidArgument, fmt::format("listening on {} needs --credentials AKID:SECRET, "
                                                         "else anyone could use it; or listen on 127.0.0.1",
                                                         options.address));
  }
  const auto colon = options.credentials.find(':');
  if (colon == std::string::npos || colon < 1 || colon + 1 == options.credentials.size())
    return fail(ErrorCode::kInvalidArgument, "--credentials must have the form AKID:SECRET");
  return Credentials{options.credentials.substr(0, colon), options.credentials.substr(colon + 1)};
}

std::string tls_folder(const LocalCloudOptions& options) { return options.state_folder + "/tls"; }

std::vector<std::string> certificate_names(const LocalCloudOptions& options) {
  std::vector<std::string> names{options.address};
  for (const std::string& name : options.host_names) names.push_back(host_of(name));
  return names;
}

}  // namespace

struct LocalCloud::Impl {
  const base::Clock& clock = base::SystemClock::instance();
  LocalCloudOptions options;
  std::unique_ptr<StateFile> state;
  std::unique_ptr<MetricJournal> journal;
  base::Guarded<World> world{World(base::SystemClock::instance())};
  net::Loop loop{1};  // relay and front rely on one thread
  net::Client client{loop};
  Relay relay{world, client, clock};
  std::unique_ptr<Supervisor> supervisor;
  std::unique_ptr<Front> front;
  std::unique_ptr<net::Server> server;
  CertificateFiles certificate;
  std::unique_ptr<Bidi> bidi;
  std::unique_ptr<H2Server> h2;
  bool stopped = false;

  void log(std::string_view line) const {
    if (options.log) options.log(line);
  }

  void keep_metrics() {
    if (const auto kept = journal->append(world); !kept)
      log("cannot keep the metrics: " + base::describe(kept.error()));
  }

  base::Result<void> prepare_world() {
    if (access(options.serve_binary.c_str(), X_OK) != 0)
      return fail(ErrorCode::kNotFound,
                  fmt::format("{} is not an executable program; build tts-serve or give --serve-binary",
                              options.serve_binary));
    const auto digest = base::sha256_file(options.serve_binary);
    if (!digest) return tl::unexpected(digest.error());
    std::vector<Orphan> orphans;
    const auto loaded = world.with([&](World& w) -> base::Result<void> {
      w.settings = {options.region,          "000000000000", options.quota,
                    options.provision_delay, options.fast,   *digest};
      w.settings.manifest_digest = [](const std::string& folder) {
        return base::sha256_file(folder + "/manifest.json").value_or("");
      };
      w.metrics.run_faster(options.fast);
      w.scaling.settings = {
          options.scale_on_desired ? capacity::CapacityBase::kDesired : capacity::CapacityBase::kInService,
          options.scale_while_updating};
      auto found = state->load(w);
      if (!found) return tl::unexpected(found.error());
      orphans = std::move(*found);
      journal = std::make_unique<MetricJournal>(options.state_folder);
      return journal->load(w);
    });
    if (!loaded) return loaded;
    for (const Orphan& orphan : orphans) {
      if (kill_recorded(orphan.pid, orphan.started))
        log(fmt::format("ended instance process {} that an earlier tts-local left", orphan.pid));
    }
    return state->save(world);
  }

  base::Result<void> begin(std::optional<Credentials> credentials) {
    supervisor = std::make_unique<Supervisor>(world, *state, client, clock,
                                              SupervisorSettings{options.serve_binary, options.instance_cores,
                                                                 options.log, [this] { keep_metrics(); }});
    FrontSettings settings{
        std::move(credentials), {"127.0.0.1", "localhost", "::1"}, options.region, options.control_token};
    settings.hosts.insert(host_of(options.address));
    for (const auto& name : options.host_names) settings.hosts.insert(host_of(name));
    front = std::make_unique<Front>(world, *state, relay, clock, std::move(settings),
                                    [this] { supervisor->wake(); });
    net::ServerOptions http;
    http.address = options.address;
    http.port = options.port;
    http.max_body_bytes = kMaxBody;
    http.server_name = "tts-local";
    http.early_answer = &Front::early;
    auto started = net::Server::start(
        loop, http, [this](std::shared_ptr<net::Exchange> exchange) { front->handle(exchange); });
    if (!started) return tl::unexpected(started.error());
    server = std::move(*started);
    return begin_bidi({front->settings().credentials, front->settings().hosts, options.region});
  }

  base::Result<void> begin_bidi(BidiSettings settings) {
    auto made = ensure_certificate(tls_folder(options), certificate_names(options), clock.wall());
    if (!made) return tl::unexpected(made.error());
    certificate = std::move(*made);
    bidi = std::make_unique<Bidi>(world, loop, clock, std::move(settings));
    const auto open = [this](std::uint16_t port) {
      return H2Server::start({options.address, port, certificate.server, certificate.key},
                             [this](const std::shared_ptr<H2Stream>& stream) { return bidi->open(stream); });
    };
    const bool chosen = options.bidi_port != 0;
    const bool beside = !chosen && options.port != 0;
    auto started = open(beside ? static_cast<std::uint16_t>(options.port + 1) : options.bidi_port);
    if (!started && beside) started = open(0);  // nobody asked for that port; the first line names the other
    if (!started) return tl::unexpected(started.error());
    h2 = std::move(*started);
    return {};
  }

  std::size_t active() const { return server->active_requests() + (h2 ? h2->active_streams() : 0); }

  void stop() {
    if (std::exchange(stopped, true)) return;
    if (front) front->end_event_streams();
    if (bidi) bidi->end_silent_sessions();
    if (h2) h2->stop_accepting();
    if (server) {
      server->stop_accepting();
      const auto limit = clock.steady() + kRequestsMayFinish;
      while (active() > 0 && clock.steady() < limit)
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    if (supervisor) supervisor->stop();
    h2.reset();
    server.reset();
    loop.stop();
  }

  base::Result<Json> run(std::string_view operation, const Json& in) {
    return front->run("sagemaker", operation, in);
  }

  // Waits for a status, "" for its end; kCancelled when no longer wanted, kNotFound for an endpoint that
  // somebody deleted meanwhile.
  base::Result<void> wait_for(const std::string& endpoint, std::string_view status,
                              const std::function<bool()>& wanted) {
    while (true) {
      const auto described = run("DescribeEndpoint", {{"EndpointName", endpoint}});
      if (!described) {
        if (status.empty() && described.error().code == ErrorCode::kNotFound) return {};
        return tl::unexpected(described.error());
      }
      const std::string now = (*described)["EndpointStatus"];
      if (now == status) return {};
      if (now == "Failed" && status == "InService")
        return fail(ErrorCode::kUnavailable,
                    fmt::format("endpoint {} failed: {}", endpoint, described->value("FailureReason", "")));
      if (!wanted()) return fail(ErrorCode::kCancelled, "interrupted");
      std::this_thread::sleep_for(std::chrono::milliseconds{50});
    }
  }

  // Deletes what is there; that somebody else was faster is fine.
  base::Result<void> remove(const char* operation, const Json& in) {
    const auto done = run(operation, in);
    if (!done && done.error().code != ErrorCode::kNotFound) return tl::unexpected(done.error());
    return {};
  }

  base::Result<void> remove_all(const std::string& name, bool endpoint, const std::function<bool()>& wanted) {
    if (endpoint) {
      log(fmt::format("replacing endpoint {}: the model file says something else than what runs", name));
      if (const auto told = remove("DeleteEndpoint", {{"EndpointName", name}}); !told) return told;
      if (const auto gone = wait_for(name, "", wanted); !gone) return gone;
    }
    if (const auto gone = remove("DeleteEndpointConfig", {{"EndpointConfigName", name}}); !gone) return gone;
    return remove("DeleteModel", {{"ModelName", name}});
  }

  base::Result<std::string> up(const UpRequest& request, const std::function<bool()>& wanted);
};

base::Result<std::string> LocalCloud::Impl::up(const UpRequest& request,
                                               const std::function<bool()>& wanted) {
  const auto file = model::load_model_file(request.model_file);
  if (!file) return tl::unexpected(file.error());
  const std::string& name = file->endpoint;
  auto environment = file->environment;
  if (const auto device = environment.find("TTS_DEVICE");
      device != environment.end() && device->second == "cuda") {
    log(fmt::format("the machines of this cloud have no GPU: {} speaks with OpenVINO on the CPU", name));
    environment.erase(device);
    environment["TTS_ENGINE"] = "openvino";
  }
  Json container{{"Image", file->image.empty() ? "tts-serve" : file->image},
                 {"Environment", environment},
                 {"Mode", "SingleModel"}};
  if (!request.model_folder.empty()) container["ModelDataUrl"] = "file://" + request.model_folder;
  const Json variant{{"VariantName", "AllTraffic"},
                     {"ModelName", name},
                     {"InstanceType", file->instance_type.empty() ? "ml.g5.xlarge" : file->instance_type},
                     {"InitialInstanceCount", file->min_instances},
                     {"InitialVariantWeight", 1.0},
                     {"RoutingConfig", {{"RoutingStrategy", "LEAST_OUTSTANDING_REQUESTS"}}}};
  const auto model = run("DescribeModel", {{"ModelName", name}});
  const auto config = run("DescribeEndpointConfig", {{"EndpointConfigName", name}});
  const auto endpoint = run("DescribeEndpoint", {{"EndpointName", name}});
  const bool same = model && (*model)["PrimaryContainer"] == container && config &&
                    (*config)["ProductionVariants"] == Json::array({variant}) && endpoint &&
                    (*endpoint)["EndpointStatus"] != "Failed" && (*endpoint)["EndpointStatus"] != "Deleting";
  if (!same) {
    if (const auto gone = remove_all(name, endpoint.has_value(), wanted); !gone)
      return tl::unexpected(gone.error());
    for (const auto& [operation, in] : std::initializer_list<std::pair<const char*, Json>>{
             {"CreateModel", {{"ModelName", name}, {"PrimaryContainer", container}}},
             {"CreateEndpointConfig",
              {{"EndpointConfigName", name}, {"ProductionVariants", Json::array({variant})}}},
             {"CreateEndpoint", {{"EndpointName", name}, {"EndpointConfigName", name}}}}) {
      if (const auto done = run(operation, in); !done) return tl::unexpected(done.error());
    }
  }
  if (const auto ready = wait_for(name, "InService", wanted); !ready) return tl::unexpected(ready.error());
  return name;
}

LocalCloud::LocalCloud(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LocalCloud::~LocalCloud() { stop(); }

base::Result<std::unique_ptr<LocalCloud>> LocalCloud::start(LocalCloudOptions options) {
  auto credentials = parse_credentials(options);
  if (!credentials) return tl::unexpected(credentials.error());
  auto state = StateFile::open(options.state_folder);
  if (!state) return tl::unexpected(state.error());
  auto impl = std::make_unique<Impl>();
  impl->options = std::move(options);
  impl->state = std::move(*state);
  if (const auto ready = impl->prepare_world(); !ready) return tl::unexpected(ready.error());
  auto cloud = std::unique_ptr<LocalCloud>(new LocalCloud(std::move(impl)));
  if (const auto begun = cloud->impl_->begin(std::move(*credentials)); !begun)
    return tl::unexpected(begun.error());
  return cloud;
}

base::Result<std::string> LocalCloud::prepare_trust(const LocalCloudOptions& options) {
  const auto made = ensure_certificate(tls_folder(options), certificate_names(options),
                                       base::SystemClock::instance().wall());
  if (!made) return tl::unexpected(made.error());
  return made->ca;
}

std::uint16_t LocalCloud::bidi_port() const { return impl_->h2->port(); }
std::string LocalCloud::ca_file() const { return impl_->certificate.ca; }
std::uint16_t LocalCloud::port() const { return impl_->server->port(); }
bool LocalCloud::checks_signatures() const { return !impl_->options.credentials.empty(); }
base::Result<std::string> LocalCloud::up(const UpRequest& request, const std::function<bool()>& wanted) {
  return impl_->up(request, wanted);
}
void LocalCloud::stop() { impl_->stop(); }

}  // namespace headroom::cloud
