// The query protocol: form fields in, XML out (older boto3, AWS CLI v2, STS).
//
// Pure. Keys such as `MetricData.member.1.Value` become nested objects and arrays; empty values are dropped,
// as an empty list is sent that way. All leaves are text: Fields understands numbers, flags and times in it.
// Errors: kInvalidData for keys that are too deep, too many, or both a value and a structure.
// Source: AWS query protocol as botocore and Smithy define it.
#pragma once

#include <string>
#include <string_view>

#include "cloud/json.hpp"

namespace headroom::cloud {

base::Result<Json> parse_query_form(std::string_view body);
std::string query_reply(std::string_view action, std::string_view xml_namespace, const Json& reply,
                        std::string_view request_id);
std::string query_error(std::string_view xml_namespace, std::string_view code, std::string_view message,
                        bool sender, std::string_view request_id);

// Members of CloudWatch and STS replies that are points in time; in JSON they are numbers like any other.
bool is_time_member(std::string_view name);

}  // namespace headroom::cloud
