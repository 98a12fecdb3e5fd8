// Wiring of the load driver.
#include "bench/rig.hpp"

namespace headroom::bench {

std::vector<base::Option> LoadOptions::table() {
  return {
      {.name = "workload",
       .help = "short, agent or file:PATH; default: the model file's, else short",
       .target = &workload},
      {.name = "transport",
       .help = "response-stream or buffered; default: the model file's, else response-stream",
       .target = &transport},
      {.name = "voice", .help = "voice that is asked for", .target = &voice},
      {.name = "seed", .help = "order of the texts", .target = &seed, .min = 0, .max = 1'000'000'000},
      {.name = "request-timeout",
       .help = "a request older than this is counted as timed out",
       .target = &request_timeout,
       .min = 1,
       .max = 3600},
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
  auto body = load::body_format("sagemaker", options.voice, "pcm");
  if (!body) return tl::unexpected(body.error());
  auto kind = aws::parse_invoke_transport(transport);
  if (!kind) return tl::unexpected(kind.error());
  if (*kind == aws::InvokeTransport::kHttp) {
    return base::fail(
        base::ErrorCode::kUnsupported,
        "transport http measures a bare server and has no endpoint; use response-stream or buffered");
  }
  LoadPlan plan{std::move(*workload), std::move(*body), *kind, {}};
  plan.hash = plan.workload.hash(plan.body);
  return plan;
}

base::Result<std::unique_ptr<Rig>> Rig::make(Session& session, LoadPlan plan, const LoadOptions& options,
                                             int most_outstanding) {
  std::unique_ptr<Rig> rig(new Rig(std::move(plan)));
  aws::InvokerOptions invoker;
  invoker.transport = rig->plan_.transport;
  invoker.endpoint = session.endpoint();
  invoker.target_variant = session.variant();
  invoker.connections = static_cast<std::size_t>(most_outstanding) + 4;
  auto made = aws::Invoker::make(session.runtime(), session.settings(), session.credentials(), invoker);
  if (!made) return tl::unexpected(made.error());
  rig->invoker_ = std::move(*made);
  rig->target_ = std::make_unique<load::InvokerTarget>(*rig->invoker_);
  load::DriverOptions driver;
  driver.request_timeout = options.request_timeout;
  rig->driver_ = std::make_unique<load::Driver>(*rig->target_, rig->plan_.workload, rig->plan_.body,
                                                session.clock(), driver);
  rig->driver_->start();
  return rig;
}

Rig::~Rig() {
  if (driver_) driver_->stop(base::Duration{});
}

base::Result<void> Rig::warm(int n, Session& session) {
  return invoker_->warm(static_cast<std::size_t>(n), session.soon());
}

}  // namespace headroom::bench
