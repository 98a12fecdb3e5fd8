// Operations: every AWS operation the local cloud answers, as functions from a request to a reply on the
// world.
//
// One table per service maps operation names to functions; a name that is not in the table does not exist,
// and the front door answers UnknownOperationException. The functions know no wire format: requests and
// replies are Json with AWS's member names, times as epoch seconds (epoch milliseconds in CloudWatch Logs, as
// AWS has it). Errors: Error.context holds AWS's exception name where the default of the service for that
// code does not fit. Pure; single threaded: the caller locks the world.
#pragma once

#include <span>
#include <string_view>

#include "base/clock.hpp"
#include "cloud/world.hpp"

namespace headroom::cloud {

struct Api {
  World& world;
  base::WallTime now;
};

using Operation = base::Result<Json> (*)(Api& api, const Json& in);

struct OperationRow {
  std::string_view name;
  Operation run;
  bool changes = false;  // what is saved
};

// Exceptions of one service for the codes that its operations return.
struct Exceptions {
  std::string_view invalid = "ValidationException";
  std::string_view missing = "ValidationException";
  std::string_view conflict = "ValidationException";
  std::string_view limit = "ResourceLimitExceeded";
  std::string_view internal = "InternalFailure";
};

struct Service {
  std::string_view name;           // the signing name
  std::string_view target_prefix;  // of X-Amz-Target
  std::string_view content_type;   // of JSON replies
  std::string_view query_version;  // of the query protocol; empty: not spoken
  std::string_view query_namespace;
  Exceptions exceptions;
  std::span<const OperationRow> operations;
};

std::span<const Service> services();
const OperationRow* find_operation(const Service& service, std::string_view name);

// The tables, one file each.
std::span<const OperationRow> sagemaker_record_operations();
std::span<const OperationRow> sagemaker_endpoint_operations();
std::span<const OperationRow> sagemaker_update_operations();
std::span<const OperationRow> sagemaker_list_operations();
std::span<const OperationRow> tag_operations();
std::span<const OperationRow> autoscaling_operations();
std::span<const OperationRow> metric_operations();
std::span<const OperationRow> alarm_operations();
std::span<const OperationRow> log_operations();
std::span<const OperationRow> quota_operations();
std::span<const OperationRow> sts_operations();

}  // namespace headroom::cloud
