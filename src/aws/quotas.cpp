// Service Quotas as JSON 1.1.
#include "aws/quotas.hpp"

#include "aws/json_call.hpp"

namespace headroom::aws {
namespace {

using base::Result;

Quota read_quota(const json& in) {
  return {text_of(in, "QuotaCode"), text_of(in, "QuotaName"), number_of(in, "Value").value_or(0)};
}

}  // namespace

Result<Quota> Quotas::get(const std::string& service, const std::string& quota_code,
                          base::Deadline deadline) {
  auto answer = call(transport_, {Service::kQuotas, "GetServiceQuota", service + "/" + quota_code, deadline},
                     {{"ServiceCode", service}, {"QuotaCode", quota_code}});
  if (!answer) return tl::unexpected(answer.error());
  const json& quota = object_of(*answer, "Quota");
  if (!number_of(quota, "Value")) {
    return base::fail(
        base::ErrorCode::kInvalidData,
        "GetServiceQuota of '" + quota_code + "': the answer holds no value; ask for the quota by hand");
  }
  return read_quota(quota);
}

Result<std::vector<Quota>> Quotas::list(const std::string& service, base::Deadline deadline) {
  std::vector<Quota> out;
  auto done = call_pages(transport_, {Service::kQuotas, "ListServiceQuotas", service, deadline},
                         {{"ServiceCode", service}, {"MaxResults", 100}}, "NextToken", "NextToken",
                         [&](const json& page) {
                           for (const json& quota : list_of(page, "Quotas")) {
                             if (number_of(quota, "Value")) out.push_back(read_quota(quota));
                           }
                         });
  if (!done) return tl::unexpected(done.error());
  return out;
}

Result<std::optional<Quota>> Quotas::endpoint_instances(const std::string& instance_type,
                                                        base::Deadline deadline) {
  auto all = list("sagemaker", deadline);
  if (!all) return tl::unexpected(all.error());
  const std::string wanted = instance_type + " for endpoint usage";
  for (Quota& quota : *all) {
    if (quota.name == wanted) return std::optional<Quota>(std::move(quota));
  }
  return std::optional<Quota>{};
}

}  // namespace headroom::aws
