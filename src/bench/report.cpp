// Finds the artifacts, renders the page, writes it.
#include "bench/report.hpp"

#include <filesystem>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/error_table.hpp"
#include "base/sha256.hpp"
#include "model/model_file.hpp"
#include "report/report.hpp"

namespace headroom::bench {
namespace {

using base::ErrorCode;
using base::fail;

// Absent is no error; anything else is.
template <class Artifact>
base::Result<void> take(std::optional<Artifact>& into, const std::string& path,
                        base::Result<Artifact> (*read)(const std::string&)) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {};
  auto artifact = read(path);
  if (!artifact) return tl::unexpected(artifact.error());
  into = std::move(*artifact);
  return {};
}

// The page shows the plan beside the folder's measurements, which need not be those that it was made from.
void note_other_inputs(artifact::PlanArtifact& plan, const std::string& folder, const Print& complain) {
  using Input = std::pair<const char*, std::string>;
  for (const auto& [name, planned] :
       {Input{"qmax.json", plan.qmax_sha256}, Input{"ttotal.json", plan.ttotal_sha256}}) {
    const auto beside = base::sha256_file(folder + "/" + name);
    if (!beside || planned.empty() || *beside == planned) continue;  // an absent one is not shown
    const std::string note =
        std::string("made from another ") + name + " than the one beside it; plan again: tts-bench plan";
    complain("warning: plan.json was " + note + "\n");
    plan.header.notes.push_back(note);
  }
}

base::Result<std::string> folder_of(const PlanContext& context, std::string& endpoint) {
  endpoint = context.endpoint;
  if (endpoint.empty() && !context.model.empty()) {
    const auto model = model::load_model_file(context.model, context.models_folder);
    if (!model) return tl::unexpected(model.error());
    endpoint = model->endpoint;
  }
  if (!context.out.empty()) return context.out;
  if (endpoint.empty())
    return fail(ErrorCode::kInvalidArgument,
                "name the endpoint: --endpoint, --model, or --out with its artifacts");
  return artifact::default_folder(endpoint);
}

}  // namespace

std::vector<base::Option> ReportOptions::table() {
  return {{.name = "html",
           .help = "where the page goes",
           .target = &html,
           .value_name = "FILE",
           .default_text = "OUT/report.html"}};
}

int run_report(const ReportOptions& options, const PlanContext& context, const Print& print,
               const Print& complain) {
  const auto told = [&](const base::Error& error) {
    complain("tts-bench report: " + base::describe(error) + "\n");
    return base::error_row(error.code).exit_code;
  };
  std::string endpoint;
  const auto folder = folder_of(context, endpoint);
  if (!folder) return told(folder.error());
  report::ReportInput input;
  input.created = context.created;
  for (const auto& read : {take(input.qmax, *folder + "/qmax.json", &artifact::read_qmax),
                           take(input.ttotal, *folder + "/ttotal.json", &artifact::read_ttotal),
                           take(input.plan, *folder + "/plan.json", &artifact::read_plan),
                           take(input.simulate, *folder + "/simulate.json", &artifact::read_simulate)}) {
    if (!read) return told(read.error());
  }
  if (input.plan) note_other_inputs(*input.plan, *folder, complain);
  if (!input.qmax && !input.ttotal && !input.plan)
    return told(
        {ErrorCode::kNotFound,
         *folder + " holds no artifact to report on; measure with tts-bench qmax and ttotal, then plan",
         {}});
  if (endpoint.empty() && input.qmax) endpoint = input.qmax->header.fingerprint.endpoint.value_or("");
  if (endpoint.empty() && input.plan) endpoint = input.plan->header.fingerprint.endpoint.value_or("");
  input.title = endpoint.empty() ? *folder : endpoint;
  const std::string path = options.html.empty() ? *folder + "/report.html" : options.html;
  if (auto ok = base::write_file_atomically(path, report::render(input)); !ok) return told(ok.error());
  if (!context.quiet) print("Written to " + path + "\n");
  return base::kExitGood;
}

}  // namespace headroom::bench
