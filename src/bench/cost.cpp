// One row for each measured endpoint, the cheapest first.
#include "bench/cost.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/error_table.hpp"
#include "load/workload.hpp"
#include "model/model_file.hpp"

namespace headroom::bench {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::fail;

std::vector<model::ModelFile> all_models(const std::string& folder) {
  std::vector<model::ModelFile> all;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".toml") continue;
    if (auto model = model::load_model_file(entry.path().string())) all.push_back(std::move(*model));
  }
  return all;
}

std::optional<double> price_of(const CostRow& row, const std::vector<model::ModelFile>& models) {
  for (const auto& model : models) {
    if (model.endpoint == row.endpoint && model.price_per_hour_usd) return model.price_per_hour_usd;
  }
  for (const auto& model : models) {
    if (!row.instance_type.empty() && model.instance_type == row.instance_type && model.price_per_hour_usd)
      return model.price_per_hour_usd;
  }
  return std::nullopt;
}

}  // namespace

// An older artifact holds the option alone, which is empty where it was the model file's.
std::optional<double> characters_per_request(const artifact::Header& header) {
  std::string spec;
  for (const base::Setting& setting : header.settings) {
    if (setting.name == "workload") spec = setting.value;
  }
  if (const auto used = header.effective.find("workload"); used != header.effective.end())
    spec = used->second;
  if (spec.empty()) return std::nullopt;
  const auto texts = load::Workload::make(spec);
  if (!texts) return std::nullopt;  // a file of texts may be gone by now
  return texts->mean_characters();
}

namespace {

CostRow row_of(const artifact::QmaxArtifact& qmax, const std::string& source) {
  CostRow row;
  row.source = source;
  row.endpoint = qmax.header.fingerprint.endpoint.value_or("");
  row.instance_type = qmax.header.fingerprint.instance_type.value_or("");
  row.q_max = qmax.result.q_max;
  capacity::PlanInput input;
  input.rungs = qmax.rungs;
  input.q_max = qmax.result.q_max;
  if (const auto throughput = capacity::throughput_per_instance(input)) row.throughput_rps = *throughput;
  row.characters = characters_per_request(qmax.header);
  return row;
}

}  // namespace

base::Result<std::vector<CostRow>> cost_rows(const CostOptions& options, const std::string& models_folder) {
  const auto models = all_models(models_folder);
  std::vector<CostRow> rows;
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(options.artifacts, error)) {
    const fs::path file = entry.is_directory(error) ? entry.path() / "qmax.json" : entry.path();
    if (file.filename() == "qmax.json" && fs::exists(file, error)) files.push_back(file);
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    const auto qmax = artifact::read_qmax(file.string());
    if (!qmax) return tl::unexpected(qmax.error());
    CostRow row = row_of(*qmax, file.string());
    row.price_per_hour_usd = options.price ? options.price : price_of(row, models);
    if (row.price_per_hour_usd && row.throughput_rps && row.characters)
      row.per_million_characters_usd = *row.price_per_hour_usd /
                                       (options.utilisation * *row.throughput_rps * *row.characters * 3600) *
                                       1e6;
    rows.push_back(std::move(row));
  }
  if (rows.empty())
    return fail(
        ErrorCode::kNotFound,
        fmt::format("no qmax.json under {}; measure with tts-bench qmax, or name the folder with --artifacts",
                    options.artifacts));
  std::stable_sort(rows.begin(), rows.end(), [](const CostRow& a, const CostRow& b) {
    if (!a.per_million_characters_usd || !b.per_million_characters_usd)
      return a.per_million_characters_usd.has_value() && !b.per_million_characters_usd;
    return *a.per_million_characters_usd < *b.per_million_characters_usd;
  });
  return rows;
}

std::vector<base::Option> CostOptions::table() {
  return {{.name = "artifacts",
           .help = "folder with the measurements",
           .target = &artifacts,
           .value_name = "DIR"},
          {.name = "utilisation",
           .help = "share of the throughput that is used",
           .target = &utilisation,
           .min = 0.01,
           .max = 1},
          {.name = "price",
           .help = "USD an hour, for all of them",
           .target = &price,
           .default_text = "the model file's",
           .min = 0,
           .max = 1e6}};
}

int run_cost(const CostOptions& options, const PlanContext& context, const Print& print,
             const Print& complain) {
  const auto rows = cost_rows(options, context.models_folder);
  if (!rows) {
    complain("tts-bench cost: " + base::describe(rows.error()) + "\n");
    return base::error_row(rows.error().code).exit_code;
  }
  const auto shown = [](const std::optional<double>& value, int digits) {
    return value ? fmt::format("{:.{}f}", *value, digits) : std::string("unknown");
  };
  std::string out =
      fmt::format("At {:.0f} % of the throughput\n  {:<28} {:<16} {:>10} {:>12} {:>10} {:>18}\n",
                  100 * options.utilisation, "endpoint", "instance", "requests/s", "characters", "USD/h",
                  "USD per million");
  for (const CostRow& row : *rows)
    out += fmt::format(
        "  {:<28} {:<16} {:>10} {:>12} {:>10} {:>18}\n", row.endpoint.empty() ? row.source : row.endpoint,
        row.instance_type.empty() ? "unknown" : row.instance_type, shown(row.throughput_rps, 2),
        shown(row.characters, 1), shown(row.price_per_hour_usd, 3), shown(row.per_million_characters_usd, 3));
  print(out);
  return base::kExitGood;
}

}  // namespace headroom::bench
