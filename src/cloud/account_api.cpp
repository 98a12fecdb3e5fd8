// Service Quotas and STS: how many instances may run, and who asks.
#include <array>
#include <set>

#include <fmt/format.h>

#include "base/sha256.hpp"
#include "cloud/operations.hpp"

namespace headroom::cloud {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// The code of "TYPE for endpoint usage". AWS's own where it is known, else one made from the name, stable.
std::string quota_code(const std::string& type) {
  if (type == "ml.g5.xlarge") return "L-1928E07B";
  std::string code = "L-" + base::sha256_hex(type + " for endpoint usage").substr(0, 8);
  for (char& c : code) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return code;
}

Json quota_json(const World& world, const std::string& type) {
  const std::string code = quota_code(type);
  return {{"ServiceCode", "sagemaker"},
          {"ServiceName", "Amazon SageMaker"},
          {"QuotaArn", world.arn("servicequotas", "sagemaker/" + code)},
          {"QuotaCode", code},
          {"QuotaName", type + " for endpoint usage"},
          {"Value", static_cast<double>(world.settings.quota)},
          {"Unit", "None"},
          {"Adjustable", true},
          {"GlobalQuota", false}};
}

// Types in use and some usual ones: one limit holds for all of them together.
std::set<std::string> instance_types(const World& world) {
  std::set<std::string> types{"ml.c5.xlarge", "ml.c6i.xlarge", "ml.c7i.xlarge", "ml.g4dn.xlarge",
                              "ml.g5.xlarge", "ml.g5.2xlarge", "ml.g6.xlarge",  "ml.m5.xlarge",
                              "ml.m5.large",  "ml.t2.medium"};
  for (const auto& [name, config] : world.configs) {
    for (const Json& variant : config["ProductionVariants"]) types.insert(variant.value("InstanceType", ""));
  }
  return types;
}

Result<Json> get_quota(Api& api, const Json& in) {
  Fields fields(in);
  const std::string service = fields.text("ServiceCode", 63), code = fields.text("QuotaCode", 128);
  if (!fields.ok()) return fields.failure();
  if (service == "sagemaker") {
    for (const auto& type : instance_types(api.world)) {
      if (quota_code(type) == code) return Json{{"Quota", quota_json(api.world, type)}};
    }
  }
  return fail(ErrorCode::kNotFound, fmt::format("The quota {} of service {} does not exist", code, service));
}

Result<Json> list_quotas(Api& api, const Json& in) {
  Fields fields(in);
  const std::string service = fields.text("ServiceCode", 63);
  const auto limit = fields.maybe_integer("MaxResults", 1, 100).value_or(100);
  const auto token = fields.maybe_text("NextToken");
  if (!fields.ok()) return fields.failure();
  if (service != "sagemaker")
    return fail(ErrorCode::kNotFound, fmt::format("The service {} does not exist here", service));
  std::vector<Json> rows;
  for (const auto& type : instance_types(api.world)) rows.push_back(quota_json(api.world, type));
  const auto page = paginate(rows.size(), limit, token);
  if (!page)
    return fail(ErrorCode::kInvalidArgument, page.error().message, "InvalidPaginationTokenException");
  Json out{{"Quotas", Json::array()}};
  for (std::size_t i = page->begin; i < page->end; ++i) out["Quotas"].push_back(rows[i]);
  if (!page->next_token.empty()) out["NextToken"] = page->next_token;
  return out;
}

Result<Json> caller_identity(Api& api, const Json&) {
  const std::string& account = api.world.settings.account;
  return Json{{"UserId", "AIDALOCALCLOUD"},
              {"Account", account},
              {"Arn", fmt::format("arn:aws:iam::{}:user/tts-local", account)}};
}

constexpr std::array kQuotas{OperationRow{"GetServiceQuota", get_quota},
                             OperationRow{"ListServiceQuotas", list_quotas}};
constexpr std::array kSts{OperationRow{"GetCallerIdentity", caller_identity}};

}  // namespace

std::span<const OperationRow> quota_operations() { return kQuotas; }
std::span<const OperationRow> sts_operations() { return kSts; }

}  // namespace headroom::cloud
