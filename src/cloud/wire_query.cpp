// Form fields to a tree, a tree to XML.
#include "cloud/wire_query.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "base/names.hpp"
#include "net/http.hpp"

namespace headroom::cloud {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kMaxFields = 50'000;
constexpr int kMaxDepth = 12;

struct Node {
  std::string value;
  std::map<std::string, std::unique_ptr<Node>> children;
};

std::optional<int> as_index(const std::string& text) {
  int value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

Json to_json(const Node& node) {
  if (node.children.empty()) return node.value;
  const auto member = node.children.find("member");
  if (member != node.children.end() && node.children.size() == 1 && !member->second->children.empty()) {
    std::vector<std::pair<int, const Node*>> items;
    for (const auto& [key, child] : member->second->children) {
      if (const auto index = as_index(key)) items.emplace_back(*index, child.get());
    }
    std::sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    Json list = Json::array();
    for (const auto& [index, child] : items) list.push_back(to_json(*child));
    return list;
  }
  Json object = Json::object();
  for (const auto& [key, child] : node.children) object[key] = to_json(*child);
  return object;
}

std::string form_decode(std::string_view text) {
  std::string plain(text);
  std::replace(plain.begin(), plain.end(), '+', ' ');
  return net::percent_decode(plain);
}

base::Result<void> insert(Node& root, const std::string& key, std::string value) {
  Node* at = &root;
  int depth = 0;
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find('.', begin), key.size());
    if (++depth > kMaxDepth)
      return fail(ErrorCode::kInvalidData, "a parameter name is nested too deeply", "MalformedInput");
    auto& child = at->children[key.substr(begin, end - begin)];
    if (!child) child = std::make_unique<Node>();
    at = child.get();
    begin = end + 1;
  }
  at->value = std::move(value);
  return {};
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else if (u < 0x20 && c != '\t' && c != '\n' && c != '\r')
      out += '?';  // XML 1.0 has no way to say these
    else
      out += c;
  }
  return out;
}

void write_xml(std::string& out, std::string_view name, const Json& value) {
  if (value.is_null()) return;
  out += fmt::format("<{}>", name);
  if (value.is_object() && name == "ExtendedStatistics") {  // the one map among CloudWatch's replies
    for (const auto& [key, member] : value.items())
      out += fmt::format("<entry><key>{}</key><value>{}</value></entry>", escaped(key), dump(member));
  } else if (value.is_object()) {
    for (const auto& [key, member] : value.items()) write_xml(out, key, member);
  } else if (value.is_array()) {
    for (const Json& item : value) {
      if (is_time_member(name) && item.is_number()) {
        out +=
            fmt::format("<member>{}</member>", base::format_iso8601(from_epoch_seconds(item.get<double>())));
      } else {
        write_xml(out, "member", item);
      }
    }
  } else if (value.is_string()) {
    out += escaped(value.get_ref<const std::string&>());
  } else if (value.is_number() && is_time_member(name)) {
    out += base::format_iso8601(from_epoch_seconds(value.get<double>()));
  } else {
    out += dump(value);
  }
  out += fmt::format("</{}>", name);
}

}  // namespace

bool is_time_member(std::string_view name) {
  return name == "Timestamp" || name == "Timestamps" || name == "StartTime" || name == "EndTime" ||
         name == "StateUpdatedTimestamp" || name == "StateTransitionedTimestamp" ||
         name == "AlarmConfigurationUpdatedTimestamp";
}

base::Result<Json> parse_query_form(std::string_view body) {
  Node root;
  std::size_t fields = 0;
  while (!body.empty()) {
    const std::size_t end = std::min(body.find('&'), body.size());
    const std::string_view pair = body.substr(0, end);
    body.remove_prefix(std::min(end + 1, body.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    std::string value = form_decode(pair.substr(std::min(equals + 1, pair.size())));
    if (equals == 0 || value.empty()) continue;
    if (++fields > kMaxFields)
      return fail(ErrorCode::kInvalidData, "the request has too many parameters", "MalformedInput");
    if (const auto done = insert(root, form_decode(pair.substr(0, equals)), std::move(value)); !done)
      return tl::unexpected(done.error());
  }
  Json tree = to_json(root);
  return tree.is_object() ? tree : Json::object();
}

std::string query_reply(std::string_view action, std::string_view xml_namespace, const Json& reply,
                        std::string_view request_id) {
  std::string out = fmt::format("<{}Response xmlns=\"{}\">", action, xml_namespace);
  write_xml(out, fmt::format("{}Result", action), reply);
  out += fmt::format("<ResponseMetadata><RequestId>{}</RequestId></ResponseMetadata></{}Response>",
                     escaped(request_id), action);
  return out;
}

std::string query_error(std::string_view xml_namespace, std::string_view code, std::string_view message,
                        bool sender, std::string_view request_id) {
  return fmt::format(
      "<ErrorResponse xmlns=\"{}\"><Error><Type>{}</Type><Code>{}</Code><Message>{}</Message></Error>"
      "<RequestId>{}</RequestId></ErrorResponse>",
      xml_namespace, sender ? "Sender" : "Receiver", escaped(code), escaped(message), escaped(request_id));
}

}  // namespace headroom::cloud
