// Wiring of the load driver.
#include "bench/rig.hpp"

#include "base/atomic_file.hpp"
#include "base/error_table.hpp"

namespace headroom::bench {
namespace {

constexpr auto kWarmSlice = std::chrono::seconds(2);

}  // namespace

std::vector<base::Option> LoadOptions::table() {
  return {
      {.name = "workload",
       .help = "short, agent or file:PATH; default: the model file's, else short",
       .target = &workload},
      {.name = "transport",
       .help = "response-stream, bidirectional or buffered; default: the model file's, else response-stream",
       .target = &transport},
      {.name = "voice", .help = "voice that is asked for", .target = &voice},
      {.name = "seed", .help = "order of the texts", .target = &seed, .min = 0, .max = 1'000'000'000},
      {.name = "request-timeout",
       .help = "a request older than this is counted as timed out",
       .target = &request_timeout,
       .min = 1,
       .max = 3600},
      {.name = "ramp",
       .help = "a new count of outstanding requests is reached within this time",
       .target = &ramp},
      {.name = "cancel-share",
       .help = "share of the requests that are cancelled when their first audio comes",
       .target = &cancel_share,
       .min = 0,
       .max = 1},
      {.name = "records",
       .help = "file for every single request (JSON lines, gzip), or none; see tts-bench export",
       .target = &records,
       .default_text = "requests-<run id>.jsonl.gz in --out"},
  };
}

base::Result<LoadPlan> plan_load(const LoadOptions& options, const Session& session) {
  const auto& model = session.model_file();
  const std::string spec = !options.workload.empty() ? options.workload : model ? model->workload : "short";
  const std::string transport = !options.transport.empty() ? options.transport
                                : model                    ? model->transport
                                                           : "response-stream";
  auto workload = load::Workload::make(spec, static_cast<std::uint64_t>(options.seed));
  if (!workload) return tl::unexpected(workload.error());
  const auto& bare = session.bare();
  auto body =
      bare ? bare_body(session.options().bare, *bare, options.voice)
           : load::body_format(transport == "bidirectional" ? "session" : "sagemaker", options.voice, "pcm");
  if (!body) return tl::unexpected(body.error());
  auto kind = bare ? aws::InvokeTransport::kHttp : aws::parse_invoke_transport(transport);
  if (!kind) return tl::unexpected(kind.error());
  if (!bare && *kind == aws::InvokeTransport::kHttp) {
    return base::fail(
        base::ErrorCode::kUnsupported,
        "transport http measures a bare server and has no endpoint; name the server with --http URL, "
        "or use response-stream, bidirectional or buffered");
  }
  LoadPlan plan{std::move(*workload), std::move(*body), *kind, {}};
  plan.hash = plan.workload.hash(plan.body);
  return plan;
}

base::Result<void> Rig::connect(Session& session, int most_outstanding) {
  const auto connections = static_cast<std::size_t>(most_outstanding) + 4;
  const auto& bare = session.bare();
  if (bare && bare->web_socket) {
    auto made = load::WsTarget::make({bare->url, connections});
    if (!made) return tl::unexpected(made.error());
    sessions_ = std::move(*made);
    return {};
  }
  if (bare && !bare->tls) {
    load::HttpTargetOptions http;
    http.url = bare->url;
    http.headers = bare->headers;
    http.connections = connections;
    http.lanes = static_cast<std::size_t>(session.options().bare.driver_threads);
    auto made = load::HttpTarget::make(http);
    if (!made) return tl::unexpected(made.error());
    http_ = std::move(*made);
    return {};
  }
  aws::InvokerOptions invoker;
  invoker.transport = plan_.transport;
  if (bare) {
    invoker.url = bare->url;
  } else {
    invoker.endpoint = session.endpoint();
    invoker.target_variant = session.variant();
  }
  invoker.connections = connections;
  auto made = aws::Invoker::make(session.runtime(), session.settings(), session.credentials(), invoker);
  if (!made) return tl::unexpected(made.error());
  invoker_ = std::move(*made);
  target_ = std::make_unique<load::InvokerTarget>(*invoker_);
  return {};
}

base::Result<void> Rig::keep_records(Session& session, const LoadOptions& options) {
  if (options.records == "none") return {};
  records_path_ = options.records;
  if (records_path_.empty()) {
    if (auto made = base::make_directories(session.folder()); !made) return made;
    records_path_ = session.folder() + "/requests-" + session.run_id() + ".jsonl.gz";
  }
  const std::string about = "\"run_id\":\"" + session.run_id() + "\",\"workload_hash\":\"" + plan_.hash +
                            "\",\"transport\":\"" + std::string(aws::name_of(plan_.transport)) + "\"";
  auto file = load::RecordFile::create(records_path_, session.clock(), about);
  if (!file) return tl::unexpected(file.error());
  records_ = std::move(*file);
  return {};
}

base::Result<std::unique_ptr<Rig>> Rig::make(Session& session, LoadPlan plan, const LoadOptions& options,
                                             int most_outstanding) {
  std::unique_ptr<Rig> rig(new Rig(std::move(plan)));
  if (auto connected = rig->connect(session, most_outstanding); !connected)
    return tl::unexpected(connected.error());
  load::Target& target = rig->http_       ? static_cast<load::Target&>(*rig->http_)
                         : rig->sessions_ ? static_cast<load::Target&>(*rig->sessions_)
                                          : *rig->target_;
  if (auto kept = rig->keep_records(session, options); !kept) return tl::unexpected(kept.error());
  load::DriverOptions driver;
  driver.cancel_share = options.cancel_share;
  driver.longest_ramp = options.ramp;
  if (rig->records_)
    driver.on_record = [file = rig->records_.get()](const load::Record& record) { file->add(record); };
  if (rig->http_) driver.event_loops = static_cast<int>(rig->http_->lanes());
  driver.request_timeout = options.request_timeout;
  rig->driver_ =
      std::make_unique<load::Driver>(target, rig->plan_.workload, rig->plan_.body, session.clock(), driver);
  rig->driver_->start();
  return rig;
}

Rig::~Rig() {
  if (driver_) driver_->stop(base::Duration{});
  if (records_) static_cast<void>(records_->close());
}

base::Result<std::string> Rig::close(base::Duration grace) {
  driver_->stop(grace);
  if (!records_) return std::string{};
  if (auto closed = records_->close(); !closed) return tl::unexpected(closed.error());
  return records_path_;
}

std::optional<std::string> Rig::close_or_warn(const Session& session) {
  const auto closed = close({});
  if (closed) return std::nullopt;
  const std::string note = base::describe(closed.error());
  session.complain("warning: " + note);
  return note;
}

base::Result<void> warm_missing(aws::Invoker& invoker, int n, const std::function<int()>& in_flight,
                                const std::function<bool()>& interrupted, const base::Clock& clock,
                                base::Deadline whole) {
  while (true) {
    const int missing = n - in_flight();
    if (missing <= 0) return {};
    const auto slice = base::Deadline::after(clock, kWarmSlice);
    auto warmed = invoker.warm(static_cast<std::size_t>(missing), slice.at < whole.at ? slice : whole);
    if (warmed || warmed.error().code != base::ErrorCode::kTimeout || whole.passed(clock)) return warmed;
    if (interrupted()) return base::fail(base::ErrorCode::kCancelled, "interrupted");
  }
}

base::Result<void> Rig::warm(int n, Session& session) {
  const auto count = static_cast<std::size_t>(n);
  if (sessions_) return sessions_->warm(count, session.soon());
  if (http_) return http_->warm(count, session.soon());
  return warm_missing(
      *invoker_, n, [this] { return driver_->live().in_flight; },
      [&session] { return session.interrupt().requested(); }, session.clock(), session.soon());
}

}  // namespace headroom::bench
