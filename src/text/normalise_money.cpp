// Normalising rules for amounts of money.
#include "text/normalise_rules.hpp"

namespace headroom::text::rules {
namespace {

struct Currency {
  std::string_view sign;
  std::string_view one;
  std::string_view many;
  std::string_view cent;
  std::string_view cents;
};
constexpr Currency kCurrencies[] = {{"$", "dollar", "dollars", "cent", "cents"},
                                    {"€", "euro", "euros", "cent", "cents"},
                                    {"£", "pound", "pounds", "penny", "pence"},
                                    {"¥", "yen", "yen", "", ""},
                                    {"₹", "rupee", "rupees", "paisa", "paise"},
                                    {"₩", "won", "won", "", ""},
                                    {"USD", "dollar", "dollars", "cent", "cents"},
                                    {"EUR", "euro", "euros", "cent", "cents"},
                                    {"GBP", "pound", "pounds", "penny", "pence"},
                                    {"JPY", "yen", "yen", "", ""},
                                    {"CHF", "Swiss franc", "Swiss francs", "", ""},
                                    {"INR", "rupee", "rupees", "paisa", "paise"},
                                    {"Rs", "rupee", "rupees", "paisa", "paise"},
                                    {"CAD", "Canadian dollar", "Canadian dollars", "cent", "cents"},
                                    {"AUD", "Australian dollar", "Australian dollars", "cent", "cents"},
                                    {"R$", "real", "reais", "centavo", "centavos"}};

const Currency& currency(std::string_view sign) {
  for (const auto& c : kCurrencies) {
    if (c.sign == sign) return c;
  }
  return kCurrencies[0];
}

std::string magnitude_word(std::string_view m) {
  if (m == "k" || m == "K") return "thousand";
  if (m == "m" || m == "M" || m == "mn" || m == "mm" || m == "MM") return "million";
  if (m == "b" || m == "B" || m == "bn") return "billion";
  if (m == "T" || m == "t" || m == "tn" || m == "trn") return "trillion";
  return std::string(m);
}

constexpr const char* kMagnitude =
    R"((?:[ -]?(hundred|thousand|million|billion|trillion)\b|(k|K|mn|m|M|bn|B|tn|T)\b))";

std::string amount_words(std::string_view amount, std::string_view magnitude, const Currency& c,
                         bool singular, const Match& m) {
  if (!magnitude.empty()) {
    return decimal(amount, m.style) + " " + magnitude_word(magnitude) + " " +
           std::string(singular ? c.one : c.many);
  }
  const auto dot = amount.find('.');
  const std::string_view whole = amount.substr(0, dot);
  const std::string_view part = dot == std::string_view::npos ? std::string_view{} : amount.substr(dot + 1);
  const bool no_part = part.find_first_not_of('0') == std::string_view::npos;
  const auto unit = [&](bool one) { return std::string(one || singular ? c.one : c.many); };
  if (part.size() == 2 && !no_part && !c.cent.empty()) {
    std::string cents = cardinal(part, m.style) + " " + std::string(part == "01" ? c.cent : c.cents);
    if (whole == "0") return cents;
    return decimal(whole, m.style) + " " + unit(is_one(whole)) + " and " + cents;
  }
  if (no_part) return decimal(whole, m.style) + " " + unit(is_one(whole));
  return decimal(amount, m.style) + " " + std::string(singular ? c.one : c.many);
}

std::optional<std::string> sign_first(const Match& m) {  // -? sign amount magnitude
  const std::string_view magnitude = m.g(4).empty() ? m.g(5) : m.g(4);
  const bool minus = !m.g(1).empty() && !alnum(m.before_char());
  return (minus            ? "minus "
          : m.g(1).empty() ? ""
                           : " ") +
         amount_words(m.g(3), magnitude, currency(m.g(2)), describes_a_thing(m), m);
}

std::optional<std::string> minus_after_sign(const Match& m) {  // "$-5"
  return "minus " + amount_words(m.g(2), m.g(3).empty() ? m.g(4) : m.g(3), currency(m.g(1)), false, m);
}

std::optional<std::string> sign_last(const Match& m) {
  const std::string_view magnitude = m.g(2).empty() ? m.g(3) : m.g(2);
  return amount_words(m.g(1), magnitude, currency(m.g(4)), false, m);
}

std::optional<std::string> range(const Match& m) {  // "$5-10 million", "$5M-$10M"
  const std::string_view first = m.g(3).empty() ? m.g(4) : m.g(3);
  const std::string_view second = m.g(6).empty() ? m.g(7) : m.g(6);
  return decimal(m.g(2), m.style) + (first.empty() || first == second ? "" : " " + magnitude_word(first)) +
         " to " + amount_words(m.g(5), second, currency(m.g(1)), false, m);
}

std::optional<std::string> european(const Match& m) {  // "1.234,56": the rules after this read "1234.56"
  std::string out;
  for (const char c : m.g(0)) {
    if (c != '.') out.push_back(c == ',' ? '.' : c);
  }
  return out;
}

bool goes_on_as_number(const Match& m) {
  const bool mark = m.after_char() == ',' || m.after_char() == '.';
  return digit(m.before_char()) || m.before_char() == ',' || m.before_char() == '.' ||
         (mark && m.after.size() > 1 && digit(m.after[1]));
}

std::optional<std::string> decimal_comma(const Match& m) {  // "€5,50", "5,50 €"
  if (goes_on_as_number(m)) return std::nullopt;
  return std::string(m.g(1)) + std::string(m.g(2)) + "." + std::string(m.g(3)) + std::string(m.g(4));
}

std::optional<std::string> indian_grouping(const Match& m) {  // "1,23,456"
  if (goes_on_as_number(m)) return std::nullopt;
  std::string out;
  for (const char c : m.g(0)) {
    if (c != ',') out.push_back(c);
  }
  return out;
}

std::optional<std::string> scientific_amount(
    const Match& m) {  // "$1e6": the rules after this read "$1000000"
  std::size_t exponent = 0;
  for (const char c : m.g(3)) exponent = exponent * 10 + static_cast<std::size_t>(c - '0');
  constexpr std::size_t kLargest = 15;
  const auto dot = m.g(2).find('.');
  std::string digits(m.g(2).substr(0, dot));
  const std::string part(dot == std::string_view::npos ? "" : m.g(2).substr(dot + 1));
  if (exponent > kLargest || part.size() > exponent || digits.size() > 3) return std::nullopt;
  return std::string(m.g(1)) + digits + part + std::string(exponent - part.size(), '0');
}

std::optional<std::string> only_cents(const Match& m) {  // "$.50"
  return amount_words("0." + std::string(m.g(2)), {}, currency(m.g(1)), false, m);
}

std::optional<std::string> pence(const Match& m) {  // "50p"
  if (!m.style.british) return std::nullopt;
  return cardinal(m.g(1), m.style) + (is_one(m.g(1)) ? " penny" : " pence");
}

std::optional<std::string> cents(const Match& m) {
  return cardinal(m.g(1), m.style) + (is_one(m.g(1)) ? " cent" : " cents");
}

}  // namespace

void add_money(std::vector<Rule>& out) {
  const std::string num = std::string("(") + kNum + ")";
  const std::string magnitude = std::string(kMagnitude) + "?";
  out.push_back({NormaliseKind::kNumber, R"(\b\d{1,3}(?:\.\d{3})+,\d\d\b)", european});
  out.push_back({NormaliseKind::kNumber, R"(\b\d{1,2}(?:,\d\d)+,\d{3}\b)", indian_grouping});
  out.push_back({NormaliseKind::kMoney, R"(([$£€]) ?(\d{1,3}),(\d\d)\b())", decimal_comma});
  out.push_back({NormaliseKind::kMoney, R"(()\b(\d{1,3}),(\d\d)( ?(?:€|EUR\b)))", decimal_comma});
  out.push_back(
      {NormaliseKind::kMoney, R"(([$£€¥₹₩]) ?(\d+(?:\.\d+)?)[eE]\+?(\d{1,2})\b)", scientific_amount});
  out.push_back({NormaliseKind::kMoney | NormaliseKind::kRange,
                 "([$£€¥₹₩]) ?" + num + magnitude + " ?[-–] ?[$£€¥₹₩]? ?" + num + magnitude, range});
  out.push_back({NormaliseKind::kMoney, "([$£€¥₹₩]) ?-" + num + magnitude, minus_after_sign});
  out.push_back({NormaliseKind::kMoney, "(-)?\\b(R\\$) ?" + num + magnitude, sign_first});
  out.push_back({NormaliseKind::kMoney, "(-)?(?:\\b(?:US|CA|AU|NZ|HK|A|C|S))?([$£€¥₹₩]) ?" + num + magnitude,
                 sign_first});
  out.push_back({NormaliseKind::kMoney, R"(()\b(USD|EUR|GBP|JPY|CHF|INR|CAD|AUD|Rs)\.? ?)" + num + magnitude,
                 sign_first});
  out.push_back({NormaliseKind::kMoney, "\\b" + num + magnitude + " ?([$€£¥₹₩])", sign_last});
  out.push_back({NormaliseKind::kMoney, "\\b" + num + magnitude + R"( ?(USD|EUR|GBP|JPY|CHF|INR|CAD|AUD)\b)",
                 sign_last});
  out.push_back({NormaliseKind::kMoney, R"(([$£€])\.(\d\d)\b)", only_cents});
  out.push_back({NormaliseKind::kMoney, R"(\b(\d{1,2})p\b)", pence});
  out.push_back({NormaliseKind::kMoney, R"(\b(\d+) ?¢)", cents});
}

}  // namespace headroom::text::rules
