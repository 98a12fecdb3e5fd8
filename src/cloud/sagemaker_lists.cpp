// SageMaker: ListModels, ListEndpointConfigs, ListEndpoints: filters, order, pages.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cloud/operations.hpp"

namespace headroom::cloud {
namespace {

using base::Result;

constexpr std::int64_t kDefaultPage = 10;  // AWS's

struct Row {
  std::string name, status;
  double created = 0, modified = 0;
  Json shown;
};

struct Filter {
  std::optional<std::string> contains, status, sort_by, order, token;
  std::optional<base::WallTime> created_before, created_after, modified_before, modified_after;
  std::int64_t limit = kDefaultPage;

  bool takes(const Row& row) const {
    const auto before = [](const auto& at, double value) { return !at || value < epoch_seconds(*at); };
    const auto after = [](const auto& at, double value) { return !at || value > epoch_seconds(*at); };
    return (!contains || row.name.find(*contains) != std::string::npos) &&
           (!status || row.status == *status) && before(created_before, row.created) &&
           after(created_after, row.created) && before(modified_before, row.modified) &&
           after(modified_after, row.modified);
  }
};

Result<Filter> read_filter(const Json& in, bool endpoints) {
  Fields fields(in);
  Filter filter;
  filter.contains = fields.maybe_text("NameContains", 63);
  filter.token = fields.maybe_text("NextToken", 8192);
  filter.order = fields.maybe_choice("SortOrder", {"Ascending", "Descending"});
  filter.limit = fields.maybe_integer("MaxResults", 1, 100).value_or(kDefaultPage);
  filter.created_before = fields.maybe_time("CreationTimeBefore");
  filter.created_after = fields.maybe_time("CreationTimeAfter");
  if (endpoints) {
    filter.sort_by = fields.maybe_choice("SortBy", {"Name", "CreationTime", "Status"});
    filter.status = fields.maybe_choice(
        "StatusEquals", {"OutOfService", "Creating", "Updating", "SystemUpdating", "RollingBack", "InService",
                         "Deleting", "Failed", "UpdateRollbackFailed"});
    filter.modified_before = fields.maybe_time("LastModifiedTimeBefore");
    filter.modified_after = fields.maybe_time("LastModifiedTimeAfter");
  } else {
    filter.sort_by = fields.maybe_choice("SortBy", {"Name", "CreationTime"});
  }
  if (!fields.ok()) return fields.failure();
  return filter;
}

Result<Json> page_of(const Json& in, std::vector<Row> rows, const char* member, bool endpoints = false) {
  const auto filter = read_filter(in, endpoints);
  if (!filter) return tl::unexpected(filter.error());
  rows.erase(std::remove_if(rows.begin(), rows.end(), [&](const Row& r) { return !filter->takes(r); }),
             rows.end());
  const std::string by = filter->sort_by.value_or("CreationTime");
  const auto less = [&](const Row& a, const Row& b) {
    if (by == "Status" && a.status != b.status) return a.status < b.status;
    if (by == "CreationTime" && a.created != b.created) return a.created < b.created;
    return a.name < b.name;
  };
  const bool down = filter->order.value_or("Descending") == "Descending";
  std::sort(rows.begin(), rows.end(),
            [&](const Row& a, const Row& b) { return down ? less(b, a) : less(a, b); });
  const auto page = paginate(rows.size(), filter->limit, filter->token);
  if (!page) return tl::unexpected(page.error());
  Json out{{member, Json::array()}};
  for (std::size_t i = page->begin; i < page->end; ++i) out[member].push_back(std::move(rows[i].shown));
  if (!page->next_token.empty()) out["NextToken"] = page->next_token;
  return out;
}

// Rows of stored records with members NameMember, ArnMember and CreationTime.
std::vector<Row> record_rows(const std::map<std::string, Json>& records, const char* name, const char* arn) {
  std::vector<Row> rows;
  for (const auto& [key, record] : records) {
    Row row{key, "", record["CreationTime"].get<double>(), 0, Json::object()};
    copy_members(record, row.shown, {name, arn, "CreationTime"});
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<Json> list_models(Api& api, const Json& in) {
  return page_of(in, record_rows(api.world.models, "ModelName", "ModelArn"), "Models");
}

Result<Json> list_endpoint_configs(Api& api, const Json& in) {
  return page_of(in, record_rows(api.world.configs, "EndpointConfigName", "EndpointConfigArn"),
                 "EndpointConfigs");
}

Result<Json> list_endpoints(Api& api, const Json& in) {
  std::vector<Row> rows;
  for (const auto& [name, endpoint] : api.world.endpoints) {
    const double created = epoch_seconds(endpoint.created), modified = epoch_seconds(endpoint.modified);
    rows.push_back({name, endpoint.status, created, modified,
                    Json{{"EndpointName", name},
                         {"EndpointArn", api.world.arn("sagemaker", "endpoint/" + name)},
                         {"CreationTime", created},
                         {"LastModifiedTime", modified},
                         {"EndpointStatus", endpoint.status}}});
  }
  return page_of(in, std::move(rows), "Endpoints", true);
}

constexpr std::array kOperations{
    OperationRow{"ListModels", list_models},
    OperationRow{"ListEndpointConfigs", list_endpoint_configs},
    OperationRow{"ListEndpoints", list_endpoints},
};

}  // namespace

std::span<const OperationRow> sagemaker_list_operations() { return kOperations; }

}  // namespace headroom::cloud
