// Service Quotas: how many instances of a type an account may run behind endpoints.
//
// Blocking; as thread safe as its Transport. Source: Service Quotas API 2019-06-24.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aws/transport.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"

namespace headroom::aws {

struct Quota {
  std::string code;  // L-...
  std::string name;  // "ml.g5.xlarge for endpoint usage"
  double value = 0;
};

class Quotas {
 public:
  explicit Quotas(Transport& transport) : transport_(transport) {}

  base::Result<Quota> get(const std::string& service, const std::string& quota_code, base::Deadline deadline);
  base::Result<std::vector<Quota>> list(const std::string& service, base::Deadline deadline);
  // "<type> for endpoint usage" of SageMaker, found by name; nullopt if there is no such quota.
  base::Result<std::optional<Quota>> endpoint_instances(const std::string& instance_type,
                                                        base::Deadline deadline);

 private:
  Transport& transport_;
};

}  // namespace headroom::aws
