// Escaping, numbers and tables.
#include "report/html.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

namespace headroom::report {
namespace {

constexpr const char* kUnknown = "unknown";

bool looks_numeric(const std::string& cell) {
  return !cell.empty() && (std::isdigit(static_cast<unsigned char>(cell[0])) != 0 || cell == kUnknown);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        // Control characters have no place in a page.
        out += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return out;
}

std::string shown(const std::optional<double>& value, int significant, std::string_view unit) {
  if (!value || !std::isfinite(*value)) return kUnknown;
  // Fixed notation for what people meet; large counts without an exponent.
  const double size = std::abs(*value);
  const int whole_digits = size > 0 ? static_cast<int>(std::floor(std::log10(size))) + 1 : 1;
  std::string text = fmt::format("{:.{}f}", *value, std::max(0, significant - whole_digits));
  if (text.find('.') != std::string::npos) {
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
  }
  return unit.empty() ? text : fmt::format("{} {}", text, unit);
}

std::string counted(const std::optional<int>& value) { return value ? fmt::format("{}", *value) : kUnknown; }

std::string share_percent(const std::optional<double>& share) {
  // Rounded down: 99.999 % is not all of them.
  return share ? fmt::format("{:.2f} %", std::floor(*share * 10000 + 1e-9) / 100) : kUnknown;
}

std::string bad_percent(const std::optional<double>& share) {
  // Rounded up: a few are not none.
  return share ? fmt::format("{:.2f} %", std::max(0.0, std::ceil(*share * 10000 - 1e-9)) / 100) : kUnknown;
}

std::string milliseconds(const std::optional<double>& ms) {
  if (!ms) return kUnknown;
  return *ms >= 10000 ? fmt::format("{:.2f} s", *ms / 1000) : fmt::format("{:.1f} ms", *ms);
}

std::string table(const std::vector<Row>& rows) {
  std::string out = "<div class=scroll><table>";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out += i == 0 ? "<thead><tr>" : "<tr>";
    for (const std::string& cell : rows[i]) {
      if (i == 0)
        out += "<th scope=col>" + cell + "</th>";
      else
        out += (looks_numeric(cell) ? "<td class=n>" : "<td>") + cell + "</td>";
    }
    out += i == 0 ? "</tr></thead><tbody>" : "</tr>";
  }
  return out + "</tbody></table></div>\n";
}

}  // namespace headroom::report
