// Checks a JSON value against one of our schemas; used inside artifact alone.
//
// Debian 12 packages no JSON Schema validator for C++, and our five schemas need little: type, required,
// properties, additionalProperties, items, minItems, maxItems, enum, minimum, maximum. Other keywords are
// refused (unit test), so no schema can promise what is not checked. Recursion follows the schema, not the
// data: deep data cannot exhaust the stack. Source: JSON Schema draft 2020-12, sections 6 and 10. Thread
// safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace headroom::artifact {

// The text of docs/schemas/NAME.schema.json; nullptr for an unknown name. Generated at build time.
const char* schema_text(std::string_view name);

struct SchemaProblem {
  std::string pointer;   // JSON pointer of the offending value, "" = the whole document
  std::string expected;  // "an integer of at least 1"
  std::string found;     // "the text \"x\"", "nothing"
};

// The first problem; nullopt if the value conforms.
std::optional<SchemaProblem> check_schema(const nlohmann::ordered_json& value,
                                          const nlohmann::ordered_json& schema);

// Keywords in the schema that check_schema does not know.
std::vector<std::string> unknown_keywords(const nlohmann::ordered_json& schema);

}  // namespace headroom::artifact
