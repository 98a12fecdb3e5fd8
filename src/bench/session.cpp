// Opening a session, consent, and headers.
#include "bench/session.hpp"

#include <cstdio>
#include <random>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/names.hpp"

namespace headroom::bench {
namespace {

std::optional<std::string> given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

// One line from the terminal; a signal ends the wait.
base::Result<std::string> read_answer(Interrupt& interrupt) {
  std::string line;
  while (!interrupt.requested()) {
    pollfd waiting{STDIN_FILENO, POLLIN, 0};
    if (poll(&waiting, 1, 200) <= 0) continue;
    char byte = 0;
    if (::read(STDIN_FILENO, &byte, 1) != 1 || byte == '\n') return line;
    line.push_back(byte);
  }
  return base::fail(base::ErrorCode::kCancelled, "interrupted; nothing was changed");
}

}  // namespace

std::vector<base::Option> CommonOptions::table() {
  std::vector<base::Option> rows{
      {.name = "endpoint", .help = "the endpoint; default: the model file's", .target = &endpoint},
      {.name = "variant", .help = "its production variant", .target = &variant},
      {.name = "region", .help = "AWS region; default: environment, then profile", .target = &region},
      {.name = "profile", .help = "AWS profile", .target = &profile},
      {.name = "endpoint-url",
       .help = "send every AWS call there, e.g. http://127.0.0.1:4599",
       .target = &endpoint_url},
      {.name = "model", .help = "model file: a name under models/ or a path", .target = &model},
      {.name = "out", .help = "folder for artifacts; default: artifacts/<endpoint>", .target = &out},
      {.name = "json", .help = "print the artifact instead of text", .target = &json},
      {.name = "quiet", .help = "print results only", .target = &quiet},
      {.name = "yes", .help = "do not ask before changing state", .target = &yes},
  };
  const auto own = bare.table();
  rows.insert(rows.end(), own.begin(), own.end());
  return rows;
}

Session::Session(const CommonOptions& options, Interrupt& interrupt)
    : options_(options), interrupt_(interrupt) {}
Session::~Session() = default;

base::Result<std::unique_ptr<Session>> Session::open(const CommonOptions& options,
                                                     std::vector<base::Setting> settings,
                                                     Interrupt& interrupt) {
  std::unique_ptr<Session> session(new Session(options, interrupt));
  session->requested_ = std::move(settings);
  session->run_id_ = base::make_run_id(session->clock_.wall(), std::random_device{}());
  if (!options.model.empty()) {
    auto model = model::load_model_file(options.model);
    if (!model) return tl::unexpected(model.error());
    session->model_file_ = std::move(*model);
  }
  auto bare = read_bare(options.bare);
  if (!bare) return tl::unexpected(bare.error());
  session->bare_ = std::move(*bare);
  session->endpoint_ = !options.endpoint.empty() ? options.endpoint
                       : session->bare_          ? session->bare_->name
                       : session->model_file_    ? session->model_file_->endpoint
                                                 : std::string{};
  if (session->endpoint_.empty()) {
    return base::fail(base::ErrorCode::kInvalidArgument,
                      "no endpoint is named; pass --endpoint NAME or --model NAME");
  }
  if (auto ok = base::check_sagemaker_name(session->endpoint_, "endpoint name"); !ok)
    return tl::unexpected(ok.error());
  if (auto ok = base::check_sagemaker_name(options.variant, "variant name"); !ok)
    return tl::unexpected(ok.error());
  auto folder = options.out.empty() ? artifact::default_folder(session->endpoint_)
                                    : base::Result<std::string>(options.out);
  if (!folder) return tl::unexpected(folder.error());
  session->folder_ = *folder;

  auto runtime = aws::Runtime::start();
  if (!runtime) return tl::unexpected(runtime.error());
  session->runtime_ = std::move(*runtime);
  if (session->bare_) {
    aws::Settings only_url;
    only_url.endpoints.fill(*aws::parse_endpoint_url(session->bare_->url));
    session->settings_ = std::make_unique<aws::Settings>(std::move(only_url));
    return session;
  }
  auto found = aws::load_settings(
      *session->runtime_, {given(options.region), given(options.profile), given(options.endpoint_url)});
  if (!found) return tl::unexpected(found.error());
  session->settings_ = std::make_unique<aws::Settings>(std::move(*found));
  session->credentials_ = aws::Credentials::chain(*session->runtime_, *session->settings_);
  session->transport_ =
      aws::make_transport(*session->runtime_, *session->settings_, session->credentials_, session->clock_);
  session->sagemaker_.emplace(*session->transport_);
  session->autoscaling_.emplace(*session->transport_);
  session->cloudwatch_.emplace(*session->transport_);
  session->logs_.emplace(*session->transport_);
  session->quotas_.emplace(*session->transport_);
  return session;
}

void Session::say(const std::string& line) const {
  if (options_.quiet || options_.json) return;
  std::puts(line.c_str());
  std::fflush(stdout);
}

void Session::complain(const std::string& line) const {
  std::fflush(stdout);
  std::fputs((line + "\n").c_str(), stderr);
}

base::Result<void> Session::consent(const std::string& what, double instance_hours) {
  auto identity = aws::get_caller_identity(*transport_, soon());
  if (!identity) return tl::unexpected(identity.error());
  account_ = identity->account;
  std::string cost = "no extra instances";
  if (instance_hours > 0) {
    cost = fmt::format("about {:.2f} instance hours", instance_hours);
    if (model_file_ && model_file_->price_per_hour_usd) {
      cost += fmt::format(", {:.2f} USD at {} USD an hour", instance_hours * *model_file_->price_per_hour_usd,
                          *model_file_->price_per_hour_usd);
    }
  }
  // On stderr, whatever --quiet and --json say: nothing changes an account unannounced.
  complain(fmt::format("account {}  region {}  endpoint {} at {}", identity->account, settings_->region,
                       endpoint_, settings_->endpoint(aws::Service::kSageMaker).url()));
  complain(fmt::format("this will {}; {}", what, cost));
  if (options_.yes) return {};
  if (isatty(STDIN_FILENO) == 0) {
    return base::fail(base::ErrorCode::kRefused,
                      fmt::format("refused to {} without a terminal to ask on; pass --yes", what));
  }
  std::fputs("go on? [y/N] ", stderr);
  auto answer = read_answer(interrupt_);
  if (!answer) return tl::unexpected(answer.error());
  if (*answer == "y" || *answer == "Y" || *answer == "yes") return {};
  return base::fail(base::ErrorCode::kRefused, "not confirmed; nothing was changed");
}

artifact::Header Session::header(artifact::Fingerprint fingerprint) {
  artifact::Header header;
  header.created = base::format_iso8601(clock_.wall());
  header.run_id = run_id_;
  header.fingerprint = std::move(fingerprint);
  header.settings = requested_;
  header.account = account_;
  if (!bare_) header.region = settings_->region;
  header.endpoint_url = settings_->endpoint(aws::Service::kSageMaker).url();
  return header;
}

}  // namespace headroom::bench
