// Bodies that reach tts-local before anything of them is known: query forms, JSON read through Fields, gzip.
#include <cstdint>
#include <string>

#include "cloud/gzip.hpp"
#include "cloud/json.hpp"
#include "cloud/wire_query.hpp"

using namespace headroom::cloud;

namespace {

void read_members(const Json& body) {
  Fields fields(body, "body.");
  fields.text("A");
  fields.maybe_text("B", 63);
  fields.maybe_integer("N", 0, 100);
  fields.maybe_number("F");
  fields.maybe_flag("X");
  fields.maybe_time("T");
  fields.maybe_choice("C", {"one", "two"});
  fields.texts("L");
  for (const Json& row : fields.maybe_list("R")) {
    Fields inner(row, "rows.");
    inner.name("Name");
    fields.take(inner);
  }
  if (!fields.ok() && fields.failure().value().message.empty()) __builtin_trap();
  dump(body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (const auto form = parse_query_form(bytes)) read_members(*form);
  if (const auto object = parse_object(bytes)) {
    read_members(*object);
    query_reply("Operation", "urn:x", *object, "id");
  }
  gunzip(bytes, 1U << 20U);
  return 0;
}
