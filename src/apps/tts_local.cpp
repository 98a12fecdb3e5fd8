// tts-local: the cloud on one machine. Options, wiring, exit code.
#include <cstdio>

#include <fmt/format.h>
#include <signal.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "base/atomic_file.hpp"
#include "base/error_table.hpp"
#include "base/names.hpp"
#include "base/options.hpp"
#include "cloud/local_cloud.hpp"

using namespace headroom;

namespace {

struct Settings {
  cloud::LocalCloudOptions cloud;
  std::string host = "127.0.0.1";
  int port = 4599;
  int bidi_port = 0;
  std::string scale_on = "in-service";
  std::string model;
  std::string models_folder;
  std::string model_dir;
};

std::string environment_or(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

// The folder of this program, "." if it cannot be told.
std::string program_folder() {
  char path[4096];
  const auto size = readlink("/proc/self/exe", path, sizeof path);
  const std::string text(path, size > 0 ? static_cast<std::size_t>(size) : 0);
  const auto slash = text.rfind('/');
  return slash == std::string::npos ? "." : text.substr(0, slash);
}

void set_defaults(Settings& s) {
  const std::string home = environment_or("HOME", "/tmp");
  s.cloud.state_folder = environment_or("XDG_STATE_HOME", home + "/.local/state") + "/headroom/tts-local";
  s.cloud.serve_binary = program_folder() + "/tts-serve";
  s.cloud.region = environment_or("AWS_REGION", environment_or("AWS_DEFAULT_REGION", "us-east-1"));
  // From a build folder (build/PRESET/bin) the models of the repository, else those below the working folder.
  const std::string beside = program_folder() + "/../../../models";
  s.models_folder = base::file_exists(beside) && !base::file_exists("models") ? beside : "models";
  const std::string cache =
      environment_or("HEADROOM_CACHE", environment_or("XDG_CACHE_HOME", home + "/.cache") + "/headroom");
  s.model_dir = cache + "/models/kokoro-82m";
}

std::vector<base::Option> common_options(Settings& s) {
  return {
      {.name = "host",
       .help = "address to listen on; other than loopback only with --credentials",
       .target = &s.host},
      {.name = "port",
       .help = "port to listen on; 0 takes a free one",
       .target = &s.port,
       .min = 0,
       .max = 65535},
      {.name = "bidi-port",
       .help = "port of the bidirectional stream (HTTP/2 over TLS); 0 takes the next after --port, or a free "
               "one where that is taken or 0",
       .target = &s.bidi_port,
       .min = 0,
       .max = 65535},
      {.name = "state",
       .help = "folder of the saved state; one tts-local at a time",
       .target = &s.cloud.state_folder,
       .value_name = "DIR"},
      {.name = "serve-binary",
       .help = "program that instances run",
       .target = &s.cloud.serve_binary,
       .value_name = "FILE"},
      {.name = "instance-cores",
       .help = "cores of its own for each instance, while there are enough",
       .target = &s.cloud.instance_cores,
       .min = 0,
       .max = 1024},
      {.name = "provision-delay",
       .help = "wait before a new instance's process starts",
       .target = &s.cloud.provision_delay},
      {.name = "quota",
       .help = "most instances over all endpoints",
       .target = &s.cloud.quota,
       .min = 1,
       .max = 1000},
      {.name = "fast",
       .help = "provisioning delays, periods and cooldowns run this much faster",
       .target = &s.cloud.fast,
       .min = 1,
       .max = 1000},
      {.name = "scale-on",
       .help = "what scaling policies multiply: AWS documents neither",
       .target = &s.scale_on,
       .choices = {"in-service", "desired"}},
      {.name = "scale-while-updating",
       .help = "scaling policies act while an earlier change is still being carried out",
       .target = &s.cloud.scale_while_updating},
      {.name = "region", .help = "region in ARNs", .target = &s.cloud.region},
      {.name = "credentials",
       .help = "AKID:SECRET that requests must be signed with; without, any signature is taken",
       .target = &s.cloud.credentials,
       .secret = true},
      {.name = "control-token",
       .help = "opens the route /_local/faults to whoever knows the token; for tests",
       .target = &s.cloud.control_token,
       .secret = true},
      {.name = "host-name",
       .help = "further name that clients may use in the Host header",
       .target = &s.cloud.host_names},
  };
}

base::Program make_program(Settings& s) {
  base::Program program;
  program.name = "tts-local";
  program.help =
      "The cloud on one machine: SageMaker, Application Auto Scaling, CloudWatch and Logs, with real "
      "tts-serve processes as instances.";
  program.env_prefix = "TTS_LOCAL_";
  program.options = common_options(s);
  program.commands = {
      {"serve", "answer requests until SIGTERM (the default)", {}},
      {"trust", "print how clients of the bidirectional stream come to trust its certificate", {}},
      {"up",
       "serve, create the endpoint of a model file and print how to reach it",
       {{.name = "model",
         .help = "name of a file in the models folder, or a path",
         .target = &s.model,
         .positional = true,
         .required = true},
        {.name = "models", .help = "folder of model files", .target = &s.models_folder, .value_name = "DIR"},
        {.name = "model-dir",
         .help = "prepared model folder for the instances (./dev setup makes one)",
         .target = &s.model_dir,
         .value_name = "DIR"}}}};
  program.default_command = "serve";
  return program;
}

int failed(const base::Error& error) {
  std::fprintf(stderr, "tts-local: %s\n", base::describe(error).c_str());
  return base::error_row(error.code).exit_code;
}

// "kokoro-82m" in the models folder, or a path to a .toml file. A name is checked before it becomes part of a
// path.
base::Result<std::string> model_path(const Settings& s) {
  if (s.model.find('/') != std::string::npos || s.model.rfind(".toml") != std::string::npos) return s.model;
  if (!base::is_path_component(s.model))
    return base::fail(
        base::ErrorCode::kInvalidArgument,
        fmt::format("'{}' is not a name of a model file; give NAME or a path to a .toml file", s.model));
  return fmt::format("{}/{}.toml", s.models_folder, s.model);
}

// Where a client on this machine finds what listens there; `usual` is a name of 127.0.0.1.
std::string reached_at(const std::string& host, const char* usual) {
  const bool everywhere = host == "0.0.0.0" || host == "::";
  return everywhere || host == "127.0.0.1" || host == "localhost" ? usual : base::host_in_url(host);
}

int up(cloud::LocalCloud& local, const Settings& s, const sigset_t& signals, bool& interrupted) {
  const auto path = model_path(s);
  if (!path) return failed(path.error());
  char absolute[PATH_MAX];
  const std::string folder = realpath(s.model_dir.c_str(), absolute) != nullptr ? absolute : "";
  if (folder.empty())
    spdlog::warn("no model folder {}: instances look where tts-serve looks by itself", s.model_dir);
  const auto name = local.up({*path, folder}, [&] {
    const timespec now{};
    interrupted = interrupted || sigtimedwait(&signals, nullptr, &now) > 0;
    return !interrupted;
  });
  if (!name) return failed(name.error());
  fmt::print(
      "endpoint {} is InService. In another terminal:\n\n"
      "  export AWS_ENDPOINT_URL=http://{}:{} AWS_REGION={}\n"
      "  export AWS_ACCESS_KEY_ID={} AWS_SECRET_ACCESS_KEY={}\n"
      "  tts-bench drift --endpoint {}\n\n"
      "The status page is http://{}:{}/; bidirectional streams need what `tts-local trust` "
      "prints.\n\n",
      *name, reached_at(s.host, "127.0.0.1"), local.port(), s.cloud.region,
      s.cloud.credentials.empty() ? "local" : s.cloud.credentials.substr(0, s.cloud.credentials.find(':')),
      s.cloud.credentials.empty() ? "local" : "...", *name, reached_at(s.host, "127.0.0.1"), local.port());
  std::fflush(stdout);
  return base::kExitGood;
}

int trust(const Settings& s) {
  const auto ca = cloud::LocalCloud::prepare_trust(s.cloud);
  if (!ca) return failed(ca.error());
  const int port = s.bidi_port != 0 ? s.bidi_port : s.port == 0 ? 0 : s.port + 1;
  fmt::print(
      "# The certificate authority of this tts-local; its private key was never kept.\n"
      "export SSL_CERT_FILE={}\n"
      "# Where clients of InvokeEndpointWithBidirectionalStream find it{}:\n"
      "export AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME_HTTP2=https://{}:{}\n",
      *ca, port == 0 ? " (the first line of tts-local names the port)" : "", reached_at(s.host, "localhost"),
      port == 0 ? std::string("PORT") : std::to_string(port));
  return base::kExitGood;
}

int run(Settings& s, const std::string& command) {
  s.cloud.address = s.host;
  s.cloud.scale_on_desired = s.scale_on == "desired";
  s.cloud.port = static_cast<std::uint16_t>(s.port);
  s.cloud.bidi_port = static_cast<std::uint16_t>(s.bidi_port);
  if (command == "trust") return trust(s);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals,
                  nullptr);  // before any thread: all of them leave the signals to this one
  signal(SIGPIPE, SIG_IGN);
  signal(SIGCHLD, SIG_DFL);  // inherited as ignored it would hide how instances ended

  s.cloud.log = [](std::string_view line) { spdlog::info("{}", line); };
  auto local = cloud::LocalCloud::start(s.cloud);
  if (!local) return failed(local.error());
  fmt::print("tts-local: listening on http://{}:{}, {}; bidirectional streams on https://{}:{}\n",
             base::host_in_url(s.host), (*local)->port(),
             (*local)->checks_signatures() ? "signatures are checked"
                                           : "any signature is taken (--credentials AKID:SECRET checks them)",
             reached_at(s.host, "localhost"), (*local)->bidi_port());
  std::fflush(stdout);

  bool interrupted = false;
  int code = base::kExitGood;
  if (command == "up") code = up(**local, s, signals, interrupted);
  int number = 0;
  if (code == base::kExitGood && !interrupted) sigwait(&signals, &number);
  spdlog::info(
      "stopping: running requests may finish, then the instances end; a second signal ends all at once");
  signal(SIGTERM, SIG_DFL);
  signal(SIGINT, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  (*local)->stop();
  return interrupted ? base::kExitInterrupted : code;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  set_defaults(settings);
  const auto outcome = base::parse_options(make_program(settings), argc, argv);
  if (outcome.exit_code) {
    std::fputs(outcome.text.c_str(), *outcome.exit_code == 0 ? stdout : stderr);
    return *outcome.exit_code;
  }
  spdlog::set_default_logger(spdlog::stderr_color_mt("tts-local"));  // stdout is for what a script reads
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
  spdlog::flush_on(spdlog::level::info);
  for (const std::string& warning : outcome.warnings) spdlog::warn("{}", warning);
  const int code = run(settings, outcome.command);
  spdlog::shutdown();
  return code;
}
