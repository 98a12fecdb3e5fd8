// The table of services.
#include "cloud/operations.hpp"

#include <array>
#include <vector>

namespace headroom::cloud {
namespace {

std::vector<OperationRow> joined(std::initializer_list<std::span<const OperationRow>> tables) {
  std::vector<OperationRow> all;
  for (const auto table : tables) all.insert(all.end(), table.begin(), table.end());
  return all;
}

}  // namespace

std::span<const Service> services() {
  static const std::vector<OperationRow> sagemaker =
      joined({sagemaker_record_operations(), sagemaker_endpoint_operations(), sagemaker_update_operations(),
              sagemaker_list_operations(), tag_operations()});
  static const std::vector<OperationRow> cloudwatch = joined({metric_operations(), alarm_operations()});
  static const Exceptions autoscaling{.missing = "ObjectNotFoundException",
                                      .conflict = "ConcurrentUpdateException",
                                      .limit = "LimitExceededException",
                                      .internal = "InternalServiceException"};
  static const Exceptions monitoring{.invalid = "InvalidParameterValueException",
                                     .missing = "ResourceNotFound",
                                     .conflict = "ResourceConflict",
                                     .limit = "LimitExceededFault",
                                     .internal = "InternalServiceFault"};
  static const Exceptions logs{.invalid = "InvalidParameterException",
                               .missing = "ResourceNotFoundException",
                               .conflict = "ResourceAlreadyExistsException",
                               .limit = "LimitExceededException",
                               .internal = "ServiceUnavailableException"};
  static const Exceptions quotas{.invalid = "IllegalArgumentException",
                                 .missing = "NoSuchResourceException",
                                 .conflict = "ResourceAlreadyExistsException",
                                 .limit = "QuotaExceededException",
                                 .internal = "ServiceException"};
  static const std::array table{
      Service{"sagemaker", "SageMaker", "application/x-amz-json-1.1", "", "", {}, sagemaker},
      Service{"application-autoscaling", "AnyScaleFrontendService", "application/x-amz-json-1.1", "", "",
              autoscaling, autoscaling_operations()},
      Service{"monitoring", "GraniteServiceVersion20100801", "application/x-amz-json-1.0", "2010-08-01",
              "http://monitoring.amazonaws.com/doc/2010-08-01/", monitoring, cloudwatch},
      Service{"logs", "Logs_20140328", "application/x-amz-json-1.1", "", "", logs, log_operations()},
      Service{"servicequotas", "ServiceQuotasV20190624", "application/x-amz-json-1.1", "", "", quotas,
              quota_operations()},
      Service{"sts",
              "AWSSecurityTokenServiceV20110615",
              "application/x-amz-json-1.1",
              "2011-06-15",
              "https://sts.amazonaws.com/doc/2011-06-15/",
              {},
              sts_operations()},
  };
  return table;
}

const OperationRow* find_operation(const Service& service, std::string_view name) {
  for (const OperationRow& row : service.operations) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace headroom::cloud
