// Session: what every tts-bench command that talks to AWS shares: options, clients, printing, consent,
// interruption.
//
// One per process. Shared by the command's threads; the clients are thread safe. It makes no change by
// itself.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "artifact/artifacts.hpp"
#include "aws/autoscaling.hpp"
#include "aws/cloudwatch.hpp"
#include "aws/credentials.hpp"
#include "aws/logs.hpp"
#include "aws/quotas.hpp"
#include "aws/runtime.hpp"
#include "aws/sagemaker.hpp"
#include "aws/settings.hpp"
#include "aws/sts.hpp"
#include "aws/transport.hpp"
#include "base/clock.hpp"
#include "base/options.hpp"
#include "base/result.hpp"
#include "bench/bare.hpp"
#include "bench/interrupt.hpp"
#include "model/model_file.hpp"

namespace headroom::bench {

// The options of SPEC 2 that all commands have in common.
struct CommonOptions {
  std::string endpoint;  // empty: the model file's
  std::string variant = "AllTraffic";
  std::string region, profile, endpoint_url;
  std::string model;  // name under models/ or a path
  std::string out;    // empty: artifacts/<endpoint>
  bool json = false;
  bool quiet = false;
  bool yes = false;
  BareOptions bare;
  std::vector<base::Option> table();
};

class Session {
 public:
  // Checks names, reads the model file if one is named, finds credentials. No request is made.
  // Errors: kInvalidArgument (no endpoint, bad name, bad model file), those of aws::load_settings.
  static base::Result<std::unique_ptr<Session>> open(const CommonOptions& options,
                                                     std::vector<base::Setting> settings,
                                                     Interrupt& interrupt);
  ~Session();

  const CommonOptions& options() const { return options_; }
  // Set with --http: there is no AWS side then, and only the runtime, endpoint() (a name made of the URL) and
  // folder() may be used; settings() hold the URL and no region.
  const std::optional<BareServer>& bare() const { return bare_; }
  const std::string& endpoint() const { return endpoint_; }
  const std::string& variant() const { return options_.variant; }
  const std::string& folder() const { return folder_; }  // where artifacts go
  const std::string& run_id() const { return run_id_; }
  const std::optional<model::ModelFile>& model_file() const { return model_file_; }
  base::Clock& clock() { return clock_; }
  Interrupt& interrupt() { return interrupt_; }
  aws::Runtime& runtime() { return *runtime_; }
  const aws::Settings& settings() const { return *settings_; }
  std::shared_ptr<aws::Credentials> credentials() { return credentials_; }
  aws::Transport& transport() { return *transport_; }
  aws::SageMaker& sagemaker() { return *sagemaker_; }
  aws::AutoScaling& autoscaling() { return *autoscaling_; }
  aws::CloudWatch& cloudwatch() { return *cloudwatch_; }
  aws::Logs& logs() { return *logs_; }
  aws::Quotas& quotas() { return *quotas_; }

  // For one API call; and for one of a loop that reads again, in which a signal must be heard within seconds.
  base::Deadline soon() { return base::Deadline::after(clock_, std::chrono::seconds(30)); }
  base::Deadline shortly() { return base::Deadline::after(clock_, std::chrono::seconds(3)); }

  void say(const std::string& line) const;       // stdout, not with --quiet or --json
  void complain(const std::string& line) const;  // stderr
  // Prints account, region, endpoint URL, what will happen and what it costs; asks unless --yes. kRefused
  // without a terminal and without --yes, or when the answer is no.
  base::Result<void> consent(const std::string& what, double instance_hours);

  // A header with everything but counts: times, run, settings, account, region, URL, fingerprint as given.
  artifact::Header header(artifact::Fingerprint fingerprint);

 private:
  Session(const CommonOptions& options, Interrupt& interrupt);
  CommonOptions options_;
  std::vector<base::Setting> requested_;
  Interrupt& interrupt_;
  base::SystemClock clock_;
  std::string endpoint_, folder_, run_id_;
  std::optional<model::ModelFile> model_file_;
  std::optional<BareServer> bare_;
  std::unique_ptr<aws::Runtime> runtime_;
  std::unique_ptr<aws::Settings> settings_;
  std::shared_ptr<aws::Credentials> credentials_;
  std::unique_ptr<aws::Transport> transport_;
  std::optional<aws::SageMaker> sagemaker_;
  std::optional<aws::AutoScaling> autoscaling_;
  std::optional<aws::CloudWatch> cloudwatch_;
  std::optional<aws::Logs> logs_;
  std::optional<aws::Quotas> quotas_;
  std::optional<std::string> account_;
};

// What runs behind the endpoint, read from the APIs: the parts of the fingerprint and what commands need
// besides.
struct LiveEndpoint {
  aws::EndpointDescription endpoint;
  aws::VariantConfig config;
  aws::Model model;
  artifact::Fingerprint fingerprint;
  int desired = 0;
  std::optional<aws::ScalableTarget> target;
  bool paced = false;              // TTS_ENGINE=paced
  std::optional<int> queue_limit;  // MAX_QUEUE_DEPTH; nullopt: unset (no limit) or not readable
};
base::Result<LiveEndpoint> read_live(Session& session, const std::string& transport,
                                     const std::string& workload_hash);

}  // namespace headroom::bench
