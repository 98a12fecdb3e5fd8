// The supervisor's loop.
#include "cloud/supervisor.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <map>
#include <thread>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error_table.hpp"
#include "cloud/fleet.hpp"
#include "cloud/metric_emf.hpp"
#include "cloud/metric_usage.hpp"
#include "cloud/process.hpp"

namespace headroom::cloud {
namespace {

constexpr auto kTick = std::chrono::milliseconds{50};
constexpr auto kPingEvery = std::chrono::milliseconds{100};
constexpr auto kKeepEvery = std::chrono::seconds(10);
constexpr std::size_t kMaxLine = 64U << 10U;

struct Running {
  std::string endpoint, instance, group, stream;
  Child child;
  int port = 0;
  std::vector<int> cores;
  std::string partial;  // of the last line
  bool serving = false;
  base::SteadyTime next_ping;
  std::shared_ptr<std::atomic<bool>> pinging = std::make_shared<std::atomic<bool>>(false);
};

// What reaches a child from our own environment: where things lie, and what sanitizers are told. The rest is
// the model's, from the allow-list that CreateModel checks.
std::vector<std::string> base_environment() {
  std::vector<std::string> out;
  for (const char* name : {"PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME", "LANG", "ASAN_OPTIONS", "TSAN_OPTIONS",
                           "UBSAN_OPTIONS"}) {
    if (const char* value = std::getenv(name)) out.push_back(fmt::format("{}={}", name, value));
  }
  return out;
}

}  // namespace

struct Supervisor::Impl {
  base::Guarded<World>& world;
  StateFile& state;
  net::Client& client;
  const base::Clock& clock;
  SupervisorSettings settings;
  CorePool cores;
  std::map<std::string, Running> running;  // by instance id; only the thread touches it
  UsageSampler usage;
  base::SteadyTime next_usage{}, next_keep{};
  std::string told;  // the last fault of looking after the fleet
  int wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  std::jthread thread;

  Impl(base::Guarded<World>& w, StateFile& s, net::Client& c, const base::Clock& k, SupervisorSettings set)
      : world(w), state(s), client(c), clock(k), settings(std::move(set)) {}
  ~Impl() { ::close(wake_fd); }

  void log(std::string_view line) const {
    if (settings.log) settings.log(line);
  }

  void wake() const {
    const std::uint64_t one = 1;
    if (::write(wake_fd, &one, sizeof one) < 0) return;  // full: it will look anyway
  }

  void save() {
    if (const auto saved = state.save(world); !saved)
      log("cannot save the state: " + base::describe(saved.error()));
  }

  void wait() {
    std::vector<pollfd> fds{{wake_fd, POLLIN, 0}};
    for (const auto& [id, r] : running) {
      if (r.child.output >= 0) fds.push_back({r.child.output, POLLIN, 0});
    }
    poll(fds.data(), fds.size(), static_cast<int>(kTick.count()));
    std::uint64_t count = 0;
    while (::read(wake_fd, &count, sizeof count) > 0) {
    }
  }

  void take_line(const Running& r, std::string line) {
    while (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) return;
    const auto now = epoch_ms(clock.wall());
    world.with([&](World& w) {
      take_embedded_metrics(w.metrics, line);
      w.logs.append(r.group, r.stream, now, std::move(line));
    });
  }

  void read_output(Running& r) {
    char buffer[16384];
    while (r.child.output >= 0) {
      const auto got = ::read(r.child.output, buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) {
        ::close(r.child.output);
        r.child.output = -1;
        break;
      }
      r.partial.append(buffer, static_cast<std::size_t>(got));
      std::size_t begin = 0;
      for (std::size_t end = 0; (end = r.partial.find('\n', begin)) != std::string::npos; begin = end + 1)
        take_line(r, r.partial.substr(begin, end - begin));
      r.partial.erase(0, begin);
      if (r.partial.size() > kMaxLine) take_line(r, std::exchange(r.partial, {}));
    }
  }

  void reap() {
    for (auto it = running.begin(); it != running.end();) {
      Running& r = it->second;
      read_output(r);
      int status = 0;
      const pid_t got = waitpid(r.child.pid, &status, WNOHANG);
      const bool lost = got < 0 && errno == ECHILD;  // ended, and nobody kept how
      if (got != r.child.pid && !lost) {
        ++it;
        continue;
      }
      read_output(r);  // what came between the last read and the end
      if (!r.partial.empty()) take_line(r, std::exchange(r.partial, {}));
      if (r.child.output >= 0) ::close(r.child.output);
      cores.give_back(r.cores);
      usage.forget(r.child.pid);
      client.forget(static_cast<std::uint16_t>(r.port));
      const std::string reason = lost ? "its exit status is not known" : describe_exit(status);
      world.with([&](World& w) {
        Instance* instance = w.instance(r.endpoint, r.instance);
        if (instance == nullptr) return;
        instance->exited = true;
        instance->exit_reason = reason;
      });
      log(fmt::format("instance {} of {} ended: {}", r.instance, r.endpoint, reason));
      it = running.erase(it);
    }
  }

  SpawnRequest prepare(const World& w, const Instance& instance, int port) {
    SpawnRequest request{settings.serve_binary, {"serve"}, base_environment(), {}};
    request.environment.push_back(fmt::format("SAGEMAKER_BIND_TO_PORT={}", port));
    request.environment.push_back("TTS_HOST=127.0.0.1");
    const auto model = w.models.find(instance.model);
    if (model == w.models.end()) return request;
    const Json& container = model->second.at("PrimaryContainer");
    const Json environment = container.value("Environment", Json::object());
    for (const auto& [name, value] : environment.items()) {
      if (name != "TTS_HOST" && name != "TTS_PORT")
        request.environment.push_back(name + "=" + value.get<std::string>());
    }
    const std::string url = container.value("ModelDataUrl", "");
    if (url.rfind("file://", 0) == 0 && !environment.contains("TTS_MODEL_DIR"))
      request.environment.push_back("TTS_MODEL_DIR=" + url.substr(7));
    // A paced engine only waits: a core of its own would be wasted on it.
    if (environment.value("TTS_ENGINE", "") != "paced") request.cores = cores.take(settings.instance_cores);
    return request;
  }

  void start(const Order& order) {
    const auto port = free_port();
    Running r;
    r.endpoint = order.endpoint;
    r.instance = order.instance;
    SpawnRequest request;
    const bool known = world.with([&](World& w) {
      Instance* instance = w.instance(order.endpoint, order.instance);
      if (instance == nullptr || !port) return false;
      r.group = endpoint_log_group(order.endpoint);
      r.stream = log_stream_name(*instance);
      r.port = instance->port = *port;
      request = prepare(w, *instance, *port);
      // What embedded metrics are named by; a model that names them itself comes first.
      request.environment.push_back("TTS_ENDPOINT_NAME=" + order.endpoint);
      request.environment.push_back("TTS_VARIANT_NAME=" + instance->variant);
      // Its periods are of the cloud's time, so that alarms see as many of them as they count on.
      if (w.settings.fast > 1) request.environment.push_back(fmt::format("TTS_EMF_FAST={}", w.settings.fast));
      return true;
    });
    const auto child =
        known ? spawn(request) : base::Result<Child>(base::fail(base::ErrorCode::kIo, "no free port"));
    if (!child) {
      cores.give_back(request.cores);
      log(fmt::format("cannot start instance {}: {}", order.instance, base::describe(child.error())));
      world.with([&](World& w) {
        if (Instance* instance = w.instance(order.endpoint, order.instance)) instance->exited = true;
      });
      return;
    }
    r.child = *child;
    r.cores = request.cores;
    r.next_ping = clock.steady();
    world.with([&](World& w) {
      if (Instance* instance = w.instance(order.endpoint, order.instance)) {
        instance->pid = child->pid;
        instance->pid_started = child->started;
      }
    });
    log(fmt::format("instance {} of {} started: pid {}, port {}, {}", r.instance, r.endpoint, r.child.pid,
                    r.port, r.cores.empty() ? "any core" : fmt::format("core {}", fmt::join(r.cores, ","))));
    running[order.instance] = std::move(r);
    save();  // so that a successor finds the process
  }

  void carry_out(const Order& order) {
    if (order.kind == Order::Kind::kStart) return start(order);
    const auto it = running.find(order.instance);
    if (it != running.end()) {
      ::kill(it->second.child.pid, order.kind == Order::Kind::kKill ? SIGKILL : SIGTERM);
    } else {
      world.with([&](World& w) {
        if (Instance* instance = w.instance(order.endpoint, order.instance)) instance->exited = true;
      });
    }
  }

  void ping(Running& r) {
    const auto now = clock.steady();
    if (r.serving || r.pinging->load() || now < r.next_ping) return;
    r.next_ping = now + kPingEvery;
    r.pinging->store(true);
    net::ClientRequest request;
    request.port = static_cast<std::uint16_t>(r.port);
    request.target = "/ping";
    request.answer_timeout = std::chrono::seconds{2};
    net::ClientEvents events;
    auto status = std::make_shared<int>(0);
    events.on_headers = [status](int code, const net::Headers&) { *status = code; };
    events.on_data = [](std::string_view) {};
    events.on_end = [this, status, busy = r.pinging, endpoint = r.endpoint,
                     id = r.instance](const auto& error) {
      if (!error && *status == 200) {
        world.with([&](World& w) {
          if (Instance* instance = w.instance(endpoint, id)) instance->answered_ping = true;
        });
        wake();
      }
      busy->store(false);
    };
    client.start(std::move(request), std::move(events));
  }

  // Processor and memory of each instance, once a minute of cloud time but at most once a second.
  void sample_usage() {
    const auto now = clock.steady();
    if (now < next_usage) return;
    std::vector<std::tuple<const Running*, Usage>> samples;
    for (const auto& [id, r] : running) samples.emplace_back(&r, usage.sample(r.child.pid, now));
    world.with([&](World& w) {
      next_usage = now + base::from_s(std::max(1.0, 60 / w.settings.fast));
      for (const auto& [r, sample] : samples) {
        const auto variant = r->stream.substr(0, r->stream.find('/'));
        for (const auto& [name, value] : {std::pair("CPUUtilization", sample.cpu_percent),
                                          std::pair("MemoryUtilization", sample.memory_percent)}) {
          if (!value) continue;
          const auto key = make_key("/aws/sagemaker/Endpoints", name,
                                    {{"EndpointName", r->endpoint}, {"VariantName", variant}});
          w.metrics.put(key, one_reading(*value), clock.wall(), "Percent");
        }
      }
    });
  }

  void keep(bool now_in_any_case) {
    const auto now = clock.steady();
    if (!settings.keep || (!now_in_any_case && now < next_keep)) return;
    next_keep = now + kKeepEvery;
    settings.keep();
  }

  // A record that cannot be acted on must not end the cloud: what it stops is told, and tried again.
  Step advanced() {
    try {
      return world.with([&](World& w) { return advance(w, clock.wall()); });
    } catch (const std::exception& error) {
      if (std::exchange(told, error.what()) != error.what())
        log(fmt::format("the fleet cannot be looked after: {}; is the state directory of another version?",
                        told));
      return {};
    }
  }

  void look() {
    reap();
    sample_usage();
    keep(false);
    const Step step = advanced();
    for (const Order& order : step.orders) carry_out(order);
    for (const SignalOrder& order : world.with([](World& w) { return std::exchange(w.signals, {}); })) {
      const auto it = running.find(order.instance);
      if (it != running.end()) ::kill(it->second.child.pid, order.signal);
    }
    if (step.changed) save();
    for (auto& [id, r] : running) {
      r.serving = r.serving || world.with([&](World& w) {
        const Instance* instance = w.instance(r.endpoint, id);
        return instance == nullptr || instance->state != InstanceState::kStarting;
      });
      ping(r);
    }
  }

  void end_all() {
    for (const auto& [id, r] : running) ::kill(r.child.pid, SIGTERM);
    const auto limit = clock.steady() + std::chrono::seconds{kStopLimitSeconds};
    bool killed = false;
    while (!running.empty()) {
      if (!killed && clock.steady() >= limit) {
        killed = true;
        for (const auto& [id, r] : running) ::kill(r.child.pid, SIGKILL);
      }
      wait();
      reap();
    }
    keep(true);
    save();
  }

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      look();
      wait();
    }
    end_all();
  }
};

Supervisor::Supervisor(base::Guarded<World>& world, StateFile& state, net::Client& client,
                       const base::Clock& clock, SupervisorSettings settings)
    : impl_(std::make_unique<Impl>(world, state, client, clock, std::move(settings))) {
  impl_->thread = std::jthread([impl = impl_.get()](const std::stop_token& stop) { impl->run(stop); });
}

Supervisor::~Supervisor() { stop(); }

void Supervisor::wake() { impl_->wake(); }

void Supervisor::stop() {
  impl_->thread.request_stop();
  impl_->wake();
  if (impl_->thread.joinable()) impl_->thread.join();
}

}  // namespace headroom::cloud
