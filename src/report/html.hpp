// Html: text that is safe inside a page. Used inside report alone.
//
// Everything that comes from an artifact goes through escaped(): names, notes, evidence and error texts are
// other people's. Pure, thread safe, no errors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::report {

std::string escaped(std::string_view text);  // for element content and quoted attributes

// Numbers as people read them; "unknown" where there is none, never a number.
std::string shown(const std::optional<double>& value, int significant = 4, std::string_view unit = "");
std::string counted(const std::optional<int>& value);
std::string share_percent(const std::optional<double>& share);  // 0.99912 -> "99.91 %"
std::string bad_percent(const std::optional<double>& share);    // of refused or late ones: rounded up
std::string milliseconds(const std::optional<double>& ms);

// A table of cells that are HTML already; the first row is the header. Numbers are set right.
using Row = std::vector<std::string>;
std::string table(const std::vector<Row>& rows);

}  // namespace headroom::report
