// SageMaker: tags of endpoints, endpoint configs and models.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cloud/operations.hpp"
#include "cloud/sagemaker_records.hpp"

namespace headroom::cloud {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// AWS: letters, digits, spaces and _ . : / = + - @ ; other scripts' letters too, which are bytes above 127
// here.
bool tag_characters(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return std::isalnum(u) != 0 || u >= 0x80 ||
           std::string_view(" _.:/=+-@").find(c) != std::string_view::npos;
  });
}

Result<std::string> known_arn(Api& api, Fields& fields) {
  const std::string arn = fields.text("ResourceArn", 256);
  if (!fields.ok()) return fields.failure();
  const World& world = api.world;
  const auto ours = [&](std::string_view kind, const auto& resources) {
    const std::string prefix = world.arn("sagemaker", std::string(kind) + "/");
    return arn.rfind(prefix, 0) == 0 && resources.count(arn.substr(prefix.size())) > 0;
  };
  if (ours("endpoint", world.endpoints) || ours("endpoint-config", world.configs) ||
      ours("model", world.models))
    return arn;
  return fail(ErrorCode::kNotFound, fmt::format("Could not find resource \"{}\".", arn));
}

Json tag_list(const std::map<std::string, std::string>& tags) {
  Json out = Json::array();
  for (const auto& [key, value] : tags) out.push_back({{"Key", key}, {"Value", value}});
  return out;
}

Result<std::map<std::string, std::string>> check_tags(const Json& list) {
  std::map<std::string, std::string> out;
  for (const Json& tag : list) {
    Fields row(tag, "tags.");
    const std::string key = row.text("Key", 128);
    const std::string value = row.maybe_text("Value", 256).value_or("");
    if (row.ok() && !tag_characters(key))
      row.refuse("Key", "Member must hold only letters, digits, spaces and _.:/=+-@");
    if (row.ok() && !tag_characters(value))
      row.refuse("Value", "Member must hold only letters, digits, spaces and _.:/=+-@");
    if (row.ok() && key.rfind("aws:", 0) == 0) row.refuse("Key", "Member must not begin with aws:");
    if (!row.ok()) return row.failure();
    out[key] = value;
  }
  if (out.size() > 50) return fail(ErrorCode::kInvalidArgument, "a resource may have at most 50 tags");
  return out;
}

Result<Json> add_tags(Api& api, const Json& in) {
  Fields fields(in);
  const auto arn = known_arn(api, fields);
  if (!arn) return tl::unexpected(arn.error());
  const Json& list = fields.list("Tags");
  if (!fields.ok()) return fields.failure();
  const auto more = check_tags(list);
  if (!more) return tl::unexpected(more.error());
  std::map<std::string, std::string> after = api.world.tags[*arn];
  for (const auto& [key, value] : *more) after[key] = value;
  if (after.size() > 50) return fail(ErrorCode::kInvalidArgument, "a resource may have at most 50 tags");
  api.world.tags[*arn] = after;
  return Json{{"Tags", tag_list(after)}};
}

Result<Json> list_tags(Api& api, const Json& in) {
  Fields fields(in);
  const auto arn = known_arn(api, fields);
  if (!arn) return tl::unexpected(arn.error());
  const auto limit = fields.maybe_integer("MaxResults", 50, 1000).value_or(50);
  const auto token = fields.maybe_text("NextToken");
  if (!fields.ok()) return fields.failure();
  const auto it = api.world.tags.find(*arn);
  const Json all = it == api.world.tags.end() ? Json::array() : tag_list(it->second);
  const auto page = paginate(all.size(), limit, token);
  if (!page) return tl::unexpected(page.error());
  Json out{{"Tags", Json::array()}};
  for (std::size_t i = page->begin; i < page->end; ++i) out["Tags"].push_back(all[i]);
  if (!page->next_token.empty()) out["NextToken"] = page->next_token;
  return out;
}

Result<Json> delete_tags(Api& api, const Json& in) {
  Fields fields(in);
  const auto arn = known_arn(api, fields);
  if (!arn) return tl::unexpected(arn.error());
  fields.list("TagKeys");
  const auto keys = fields.texts("TagKeys", 128);
  if (!fields.ok()) return fields.failure();
  for (const auto& key : keys) api.world.tags[*arn].erase(key);
  return Json::object();
}

constexpr std::array kOperations{
    OperationRow{"AddTags", add_tags, true},
    OperationRow{"ListTags", list_tags},
    OperationRow{"DeleteTags", delete_tags, true},
};

}  // namespace

base::Result<std::map<std::string, std::string>> read_tags(const Json& in) {
  Fields fields(in);
  const Json& list = fields.maybe_list("Tags");
  if (!fields.ok()) return fields.failure();
  return check_tags(list);
}

std::span<const OperationRow> tag_operations() { return kOperations; }

}  // namespace headroom::cloud
