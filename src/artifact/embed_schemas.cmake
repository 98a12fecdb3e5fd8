# cmake -DOUT=file.cpp -DSCHEMAS="a.json;b.json" -P embed_schemas.cmake: the schemas of docs/schemas as C++ text, so that
# the programs need no path to them.
set(text "// Generated from docs/schemas; do not edit.\n#include \"artifact/schema_check.hpp\"\n\nnamespace headroom::artifact {\n\nconst char* schema_text(std::string_view name) {\n")
foreach(file ${SCHEMAS})
  get_filename_component(name "${file}" NAME)
  string(REPLACE ".schema.json" "" name "${name}")
  file(READ "${file}" content)
  string(APPEND text "  if (name == \"${name}\") return R\"json(${content})json\";\n")
endforeach()
string(APPEND text "  return nullptr;\n}\n\n}  // namespace headroom::artifact\n")
file(WRITE "${OUT}" "${text}")
