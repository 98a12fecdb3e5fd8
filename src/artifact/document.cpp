// What reading and writing have in common for all artifacts: parse, schema, balance, finiteness, files.
#include <cmath>

#include <fmt/format.h>

#include "artifact/json_fields.hpp"
#include "artifact/schema_check.hpp"
#include "base/atomic_file.hpp"
#include "base/names.hpp"

namespace headroom::artifact {
namespace {

using base::ErrorCode;
using base::fail;

// The pointer of the first number that is not finite: nlohmann would write it as null without a word.
std::optional<std::string> find_non_finite(const Json& j, const std::string& at) {
  if (j.is_number_float() && !std::isfinite(j.get<double>())) return at;
  if (j.is_object()) {
    for (const auto& [key, value] : j.items()) {
      if (auto found = find_non_finite(value, at + "/" + key)) return found;
    }
  } else if (j.is_array()) {
    for (std::size_t i = 0; i < j.size(); ++i) {
      if (auto found = find_non_finite(j[i], fmt::format("{}/{}", at, i))) return found;
    }
  }
  return std::nullopt;
}

base::Result<void> check_balance(const Json& j, const std::string& at, const std::string& name) {
  const auto counts = get_counts(j);
  if (!counts || counts->balanced()) return {};
  return fail(ErrorCode::kInvalidData,
              fmt::format("{}: {}: started {} is not ok + rejected + failed + timed_out + aborted = {}; the "
                          "file was changed or "
                          "its writer is wrong; measure again",
                          name, at.empty() ? "/" : at, counts->started, counts->ended()));
}

base::Result<void> check_counts(const Json& j, const std::string& name) {
  if (auto ok = check_balance(field(j, "counts"), "/counts", name); !ok) return ok;
  const Json& rungs = field(j, "rungs");
  for (std::size_t i = 0; rungs.is_array() && i < rungs.size(); ++i) {
    if (auto ok = check_balance(rungs[i], fmt::format("/rungs/{}", i), name); !ok) return ok;
  }
  return {};
}

base::Result<void> check_document(const Json& j, const std::string& name, const char* schema) {
  const Json rules = Json::parse(schema_text(schema));
  if (const auto problem = check_schema(j, rules)) {
    return fail(ErrorCode::kInvalidData,
                fmt::format("{}: {}: expected {}, found {}; see docs/schemas/{}.schema.json", name,
                            problem->pointer.empty() ? "/" : problem->pointer, problem->expected,
                            problem->found, schema));
  }
  return check_counts(j, name);
}

}  // namespace

base::Result<std::string> render(const Json& j, const char* schema) {
  const std::string name = std::string(schema) + " artifact";
  if (const auto at = find_non_finite(j, ""))
    return fail(ErrorCode::kInternal,
                fmt::format("{}: {} is not a finite number; unknown must be null", name, *at));
  if (auto ok = check_document(j, name, schema); !ok) return tl::unexpected(ok.error());
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

base::Result<std::string> read_artifact_file(const std::string& path, const char* schema) {
  auto text = base::read_file(path);
  if (!text && text.error().code == ErrorCode::kNotFound) {
    return fail(ErrorCode::kNotFound,
                fmt::format("there is no '{}'; run tts-bench {} first, or name the file", path, schema));
  }
  return text;
}

base::Result<Json> load(const std::string& text, const std::string& name, const char* schema) {
  Json j;
  try {
    j = Json::parse(text);
  } catch (const nlohmann::json::exception& e) {
    return fail(ErrorCode::kInvalidData, fmt::format("{}: not valid JSON: {}", name, e.what()));
  }
  if (!j.is_object()) return fail(ErrorCode::kInvalidData, fmt::format("{}: /: expected an object", name));
  const std::string wanted = fmt::format("headroom/{}", schema);
  const Json& got = field(j, "schema");
  if (!got.is_string() || got.get<std::string>() != wanted) {
    const std::string found = got.is_string() ? got.get<std::string>() : "no schema";
    return fail(
        ErrorCode::kInvalidData,
        fmt::format("{}: /schema: expected '{}', found '{}'; is it the right file?", name, wanted, found));
  }
  if (field(j, "version") != 1)
    return fail(
        ErrorCode::kInvalidData,
        fmt::format("{}: /version: expected 1, found {}; it was written by another version of Headroom", name,
                    field(j, "version").dump()));
  if (auto ok = check_document(j, name, schema); !ok) return tl::unexpected(ok.error());
  return j;
}

base::Result<void> write_artifact_text(const std::string& path, const base::Result<std::string>& text) {
  if (!text) return tl::unexpected(text.error());
  if (const auto slash = path.rfind('/'); slash != std::string::npos && slash > 0) {
    if (auto ok = base::make_directories(path.substr(0, slash)); !ok) return ok;
  }
  return base::write_file_atomically(path, *text);
}

base::Result<std::string> default_folder(const std::string& endpoint) {
  if (auto ok = base::check_sagemaker_name(endpoint, "endpoint name"); !ok) return tl::unexpected(ok.error());
  return "artifacts/" + endpoint;
}

}  // namespace headroom::artifact
