// tts-serve: one speech instance behind SageMaker's container contract. Options, wiring, exit code.
#include <algorithm>
#include <cstdio>
#include <future>
#include <thread>

#include <sched.h>
#include <signal.h>
#include <spdlog/spdlog.h>

#include "base/error_table.hpp"
#include "base/options.hpp"
#include "engine/model_engine.hpp"
#include "engine/paced_engine.hpp"
#include "net/server.hpp"
#include "serve/log_words.hpp"
#include "serve/planner.hpp"
#include "serve/service.hpp"
#include "serve/stage_log.hpp"
#include "text/frontend.hpp"

using namespace headroom;

namespace {

// A worker needs 21 MB for each second of a segment: about 13 s of speech at most, whatever the speed, and a
// sentence of more than 11 s is cut at a clause.
constexpr text::SegmentLimits kSegmentLimits{.most = 200, .aim = 160};

constexpr auto kDrainLimit =
    std::chrono::seconds(30);  // SPEC 1: what is in flight at SIGTERM may take this long

struct Settings {
  std::string host = "0.0.0.0";
  int port = 8080;
  std::string engine = "openvino";
  std::string device = "cpu";
  std::string onnxruntime_library;
  std::string model_dir = "/opt/ml/model";
  std::string cache_dir;
  int max_queue_depth = 0;
  base::Duration max_request_age = std::chrono::seconds(56);
  int max_text = 10'000;
  int max_answer_bytes = 64 << 20;
  int max_unsent_bytes = 0;
  double slo_ms = 3000;
  std::string schedule = "edf";
  int workers = 0;
  int threads = 0;
  std::string calibrate = "auto";
  std::string precision = "auto";
  double service_ms = 55.9;
  double overhead_ms = 4.1;
  double jitter = 0.01;
  std::string paced_unit = "request";
  base::Duration session_idle_limit = std::chrono::seconds(300);
  bool emf = false;
  double emf_fast = 1;
  std::string endpoint_name;
  std::string variant_name;
  std::string api_key_file;
  std::string tls_cert;
  std::string tls_key;
  std::vector<std::string> cors_origin;
  std::string log_level = "info";
  bool log_text = false;
};

base::Program make_program(Settings& s) {
  base::Program program;
  program.name = "tts-serve";
  program.help = "Kokoro-82M as one instance behind SageMaker's container contract.";
  program.commands = {{"serve", "serve requests (the default)", {}}};
  program.default_command = "serve";
  program.options = {
      {.name = "host", .help = "address to listen on", .target = &s.host},
      {.name = "port",
       .help = "port to listen on; 0 takes a free one",
       .target = &s.port,
       .env = {"SAGEMAKER_BIND_TO_PORT"},
       .min = 0,
       .max = 65535},
      {.name = "engine",
       .help = "what speaks; paced is a tone for capacity experiments",
       .target = &s.engine,
       .choices = {"openvino", "onnxruntime", "paced"}},
      {.name = "device",
       .help = "where the model runs; cuda: an NVIDIA GPU, with --engine onnxruntime",
       .target = &s.device,
       .choices = {"cpu", "cuda"}},
      {.name = "onnxruntime-library",
       .help = "libonnxruntime.so for --engine onnxruntime; empty: the loader's, or that of ./dev setup",
       .target = &s.onnxruntime_library},
      {.name = "model-dir",
       .help = "the prepared model directory (./dev setup makes one)",
       .target = &s.model_dir},
      {.name = "cache-dir",
       .help = "compiled models are kept here for the next start; empty: not kept",
       .target = &s.cache_dir},
      {.name = "max-queue-depth",
       .help = "most outstanding requests, the next gets 503 queue_saturated; 0: no limit",
       .target = &s.max_queue_depth,
       .env = {"MAX_QUEUE_DEPTH"},
       .min = 0,
       .max = 1'000'000},
      {.name = "max-request-age",
       .help = "a request that waited longer gets 408 request_stale",
       .target = &s.max_request_age,
       .env = {"MAX_REQUEST_AGE_S"}},
      {.name = "max-text",
       .help = "most characters in one request",
       .target = &s.max_text,
       .min = 1,
       .max = 1'000'000},
      {.name = "max-answer-bytes",
       .help = "largest answer that is not streamed, the next gets 413 answer_too_large",
       .target = &s.max_answer_bytes,
       .min = 1024,
       .max = 1 << 30},
      {.name = "max-unsent-bytes",
       .help = "most that finished answers may hold together until their clients have taken them; then "
               "the slowest is cut; 0: eight times --max-answer-bytes",
       .target = &s.max_unsent_bytes,
       .min = 0,
       .max = 2'000'000'000},
      {.name = "slo-ms",
       .help = "promised time to first audio byte; the deadline of first segments",
       .target = &s.slo_ms,
       .min = 1,
       .max = 600'000},
      {.name = "schedule",
       .help = "order of segments",
       .target = &s.schedule,
       .choices = {"edf", "fifo", "fifo-requests"}},
      {.name = "workers",
       .help = "segments synthesised at once; 0: chosen (see --calibrate)",
       .target = &s.workers,
       .min = 0,
       .max = 256},
      {.name = "threads",
       .help = "threads per worker; 0: chosen (see --calibrate)",
       .target = &s.threads,
       .min = 0,
       .max = 256},
      {.name = "calibrate",
       .help = "measure the best workers and threads; auto: on the first start with a --cache-dir, in 6 s",
       .target = &s.calibrate,
       .choices = {"auto", "off", "force"}},
      {.name = "precision",
       .help = "of the vocoder; auto: bf16 where the processor multiplies it in hardware",
       .target = &s.precision,
       .choices = {"auto", "f32", "bf16"}},
      {.name = "service-ms",
       .help = "paced engine: service time of one request",
       .target = &s.service_ms,
       .min = 0,
       .max = 600'000},
      {.name = "overhead-ms",
       .help = "paced engine: time outside the serial section",
       .target = &s.overhead_ms,
       .min = 0,
       .max = 600'000},
      {.name = "jitter",
       .help = "paced engine: coefficient of variation of the service time",
       .target = &s.jitter,
       .min = 0,
       .max = 1},
      {.name = "paced-unit",
       .help = "paced engine: one service per request, or per sentence as a real engine works",
       .target = &s.paced_unit,
       .choices = {"request", "sentence"}},
      {.name = "session-idle-limit",
       .help = "a WebSocket without a message either way for this long is closed",
       .target = &s.session_idle_limit,
       .min = 1},
      {.name = "emf",
       .help = "print the load every 10 s in CloudWatch embedded metric format",
       .target = &s.emf},
      {.name = "emf-fast",
       .help = "10 s of --emf pass this much faster, as in tts-local --fast, which sets it; counts are those "
               "of 10 s at the same load",
       .target = &s.emf_fast,
       .min = 1,
       .max = 1000},
      {.name = "endpoint-name",
       .help = "dimension EndpointName of --emf; the deployment sets it",
       .target = &s.endpoint_name},
      {.name = "variant-name",
       .help = "dimension VariantName of --emf; the deployment sets it",
       .target = &s.variant_name},
      {.name = "api-key-file",
       .help = "file with one API key a line; every route but /ping and /health then asks for one",
       .target = &s.api_key_file},
      {.name = "tls-cert", .help = "PEM certificate chain; with --tls-key: https", .target = &s.tls_cert},
      {.name = "tls-key", .help = "PEM private key of --tls-cert", .target = &s.tls_key},
      {.name = "cors-origin",
       .help = "web origins whose pages may use the API; '*': all; none by default",
       .target = &s.cors_origin},
      {.name = "log-text", .help = "log what users say; off by default", .target = &s.log_text},
      {.name = "log-level",
       .help = "what is logged",
       .target = &s.log_level,
       .choices = {"debug", "info", "warn", "error"}},
  };
  return program;
}

struct Loaded {
  std::unique_ptr<engine::Engine> engine;
  serve::Planner planner;
};

// SIGTERM or SIGINT came and waits, blocked, for the end of the start.
bool asked_to_stop() {
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  return sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1;
}

base::Result<Loaded> load(const Settings& s, serve::StageLog& stages) {
  if (s.engine == "paced") {
    spdlog::warn(
        "engine=paced: no model is loaded and a tone is spoken; figures are for capacity experiments only");
    stages.mark("weights_fetched");
    stages.mark("framework_init");
    stages.mark("weights_ready");
    return Loaded{engine::make_paced_engine({s.service_ms, s.overhead_ms, s.jitter, 1}),
                  serve::paced_planner(s.paced_unit == "sentence" ? serve::PacedUnit::kSentence
                                                                  : serve::PacedUnit::kRequest)};
  }
  // Beside the engine's start: reading the lexicons takes a third of a second.
  auto reading = std::async(std::launch::async, [&] {
    return text::Frontend::create({.model_dir = s.model_dir, .limits = kSegmentLimits});
  });
  engine::ModelEngineOptions options;
  options.engine = s.engine;
  options.device = s.device == "cuda" ? engine::Device::kCuda : engine::Device::kCpu;
  options.onnxruntime_library = s.onnxruntime_library;
  options.model_dir = s.model_dir;
  options.cache_dir = s.cache_dir;
  options.workers = s.workers;
  options.threads = s.threads;
  options.precision = engine::parse_precision(s.precision);
  options.calibrate = engine::parse_calibrate(s.calibrate);
  options.on_stage = [&stages](std::string_view stage) { stages.mark(stage); };
  options.on_warning = [](std::string_view what) { spdlog::warn("{}", what); };
  options.stop_asked = asked_to_stop;
  auto made = engine::make_model_engine(options);
  auto frontend = reading.get();
  if (!made) return tl::unexpected(made.error());
  if (!frontend) return tl::unexpected(frontend.error());
  spdlog::info("{}", (*frontend)->status());
  spdlog::info("engine={} voices={}", made->summary, made->engine->voices().size());
  return Loaded{std::move(made->engine), serve::text_planner(std::move(*frontend))};
}

// /ping turns 200 only after one sentence was spoken through the whole chain.
base::Result<void> warm_up(const Loaded& loaded) {
  serve::SpeechRequest request;
  request.text = "Ready to speak.";
  request.characters = request.text.size();
  request.voice = {{loaded.engine->voices().front(), 1.0F}};
  request.voice_name = loaded.engine->voices().front();
  auto plan = loaded.planner(request);
  if (!plan) return tl::unexpected(plan.error());
  auto samples = loaded.engine->synthesize(plan->segments.front().segment);
  if (!samples) return tl::unexpected(samples.error());
  return {};
}

// Stops the loop first: it may be calling into the service, which goes away before it.
int fail_start(net::Loop& loop, const base::Error& error) {
  loop.stop();
  spdlog::error("cannot start: {}", base::describe(error));
  return base::error_row(error.code).exit_code;
}

int stop_start(net::Loop& loop) {
  loop.stop();
  spdlog::info("stopped while starting: nothing was in flight");
  return 0;
}

serve::Order order_of(const std::string& schedule) {
  if (schedule == "fifo") return serve::Order::kFifo;
  return schedule == "fifo-requests" ? serve::Order::kFifoRequests : serve::Order::kEarliestDeadline;
}

std::shared_ptr<net::UnsentAnswers> unsent_answers(const Settings& s) {
  const auto given = static_cast<std::size_t>(s.max_unsent_bytes);
  const auto largest = static_cast<std::size_t>(s.max_answer_bytes);
  return std::make_shared<net::UnsentAnswers>(given > 0 ? given : 8 * largest);
}

base::Result<serve::ServiceOptions> service_options(const Settings& s) {
  if (s.tls_cert.empty() != s.tls_key.empty()) {
    return base::fail(base::ErrorCode::kInvalidArgument,
                      "--tls-cert and --tls-key belong together; give both");
  }
  serve::ServiceOptions options;
  options.max_queue_depth = static_cast<std::size_t>(s.max_queue_depth);
  options.max_characters = static_cast<std::size_t>(s.max_text);
  options.max_answer_bytes = static_cast<std::size_t>(s.max_answer_bytes);
  options.slo = base::from_ms(s.slo_ms);
  options.max_age = s.max_request_age;
  options.order = order_of(s.schedule);
  options.log_text = s.log_text;
  options.cors = serve::Cors(s.cors_origin);
  options.session_idle_limit = std::chrono::duration_cast<std::chrono::milliseconds>(s.session_idle_limit);
  if (s.api_key_file.empty()) return options;
  auto keys = serve::ApiKeys::read(s.api_key_file);
  if (!keys) return tl::unexpected(keys.error());
  options.keys = std::move(*keys);
  return options;
}

int run(const Settings& settings) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals,
                  nullptr);  // before any thread: all of them leave the signals to this one
  signal(SIGPIPE, SIG_IGN);

  const auto& clock = base::SystemClock::instance();
  serve::StageLog stages(clock);
  stages.mark("container_start");

  net::Loop loop(1);
  auto service_settings = service_options(settings);
  if (!service_settings) return fail_start(loop, service_settings.error());
  const auto unsent = unsent_answers(settings);
  service_settings->unsent_answers = unsent;
  serve::Service service(loop, clock, *service_settings);
  net::ServerOptions options;
  options.address = settings.host;
  options.port = static_cast<std::uint16_t>(settings.port);
  options.server_name = "tts-serve";
  options.unsent_answers = unsent;
  options.early_answer = serve::early_response;
  options.tls_certificate_file = settings.tls_cert;
  options.tls_key_file = settings.tls_key;
  options.decorate = [cors = service_settings->cors](const net::Request& request, net::Headers& answer) {
    cors.decorate(request, answer);
  };
  auto server = net::Server::start(
      loop, options, [&service](std::shared_ptr<net::Exchange> e) { service.handle(std::move(e)); });
  if (!server) return fail_start(loop, server.error());
  spdlog::info("listening on {}:{} engine={}", settings.host, (*server)->port(), settings.engine);

  auto loaded = load(settings, stages);
  const bool failed = !loaded && loaded.error().code != base::ErrorCode::kCancelled;
  if (failed) return fail_start(loop, loaded.error());
  if (!loaded || asked_to_stop()) return stop_start(loop);
  if (auto warm = warm_up(*loaded); !warm) return fail_start(loop, warm.error());
  if (asked_to_stop()) return stop_start(loop);
  stages.mark("warmup_done");
  service.become_ready(std::move(loaded->engine), std::move(loaded->planner), stages.elapsed_s());
  stages.mark("ready");
  if (settings.emf) service.start_emf({settings.endpoint_name, settings.variant_name}, settings.emf_fast);

  int signal_number = 0;
  sigwait(&signals, &signal_number);
  spdlog::info("signal {}: finishing what is in flight", signal_number);
  const auto until = clock.steady() + kDrainLimit;
  const bool idle = service.drain(kDrainLimit);
  (*server)->stop_accepting();
  while ((*server)->active_requests() > 0 && clock.steady() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  spdlog::info("drained: {}", serve::drained_words(idle, (*server)->active_requests()));
  if (!idle) std::_Exit(0);  // jobs still hold the service; the process ends without unwinding them
  loop.stop();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  engine::bound_kept_memory();
  Settings settings;
  const auto outcome = base::parse_options(make_program(settings), argc, argv);
  if (outcome.exit_code) {
    std::fputs(outcome.text.c_str(), *outcome.exit_code == 0 ? stdout : stderr);
    return *outcome.exit_code;
  }
  spdlog::set_level(spdlog::level::from_str(settings.log_level));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
  spdlog::flush_on(spdlog::level::info);
  for (const std::string& warning : outcome.warnings) spdlog::warn("{}", warning);
  const int code = run(settings);
  spdlog::shutdown();
  return code;
}
