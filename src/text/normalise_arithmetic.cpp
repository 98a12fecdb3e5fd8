// Normalising rules for arithmetic: powers, sums written with signs, scientific notation.
#include "text/normalise_rules.hpp"

namespace headroom::text::rules {
namespace {

std::optional<std::string> power(const Match& m) {  // "2^10", "x^2"
  const std::string base = digit(m.g(1)[0]) ? decimal(m.g(1), m.style) : std::string(m.g(1));
  if (m.g(3) == "2" && m.g(2).empty()) return base + " squared";
  if (m.g(3) == "3" && m.g(2).empty()) return base + " cubed";
  if (!m.g(2).empty() && letter(m.g(1)[0])) return base + " to the minus " + cardinal(m.g(3), m.style);
  return base + " to the power of " + (m.g(2).empty() ? "" : "minus ") + cardinal(m.g(3), m.style);
}

std::optional<std::string> scientific(const Match& m) {  // "6.02e23"
  return decimal(m.g(1), m.style) + " times ten to the power of " + (m.g(2) == "-" ? "minus " : "") +
         cardinal(m.g(3), m.style);
}

std::optional<std::string> difference(const Match& m) {  // "2 - 1 ="
  return decimal(m.g(1), m.style) + " minus " + decimal(m.g(2), m.style) + " equals ";
}

std::optional<std::string> quotient(const Match& m) {  // "6 / 3"
  return decimal(m.g(1), m.style) + " divided by " + decimal(m.g(2), m.style);
}

std::optional<std::string> product(const Match& m) {  // "2 * 3", "2*3"
  return decimal(m.g(1), m.style) + " times " + decimal(m.g(2), m.style);
}

std::optional<std::string> equation(const Match& m) {  // "3 x 4 = 12"
  return decimal(m.g(1), m.style) + " times " + decimal(m.g(2), m.style) + " equals ";
}

std::optional<std::string> times_power(const Match& m) {  // "3 x 10^8"
  return std::string(m.g(1)) + " times " + std::string(m.g(2));
}

}  // namespace

void add_arithmetic(std::vector<Rule>& out) {
  using K = NormaliseKind;
  const std::string num = std::string("(") + kNum + ")";
  out.push_back({K::kSymbol, "\\b" + num + R"( ?[xX×*] ?(10\^-?\d{1,3}\b))", times_power});
  out.push_back({K::kSymbol, R"(\b(\d+(?:\.\d+)?|[A-Za-z]{1,3})\^(-)?(\d{1,4})\b)", power});
  out.push_back({K::kNumber, R"(\b(\d+(?:\.\d+)?)[eE]([-+]?)(\d{1,3})\b)", scientific});
  out.push_back({K::kSymbol, "\\b" + num + " ?- ?" + num + " ?= ?", difference});
  out.push_back({K::kSymbol, "\\b" + num + " / " + num + "\\b", quotient});
  out.push_back({K::kSymbol, "\\b" + num + " ?\\* ?" + num + "\\b", product});
  out.push_back({K::kSymbol, "\\b" + num + " ?[xX×] ?" + num + " ?= ?", equation});
}

}  // namespace headroom::text::rules
