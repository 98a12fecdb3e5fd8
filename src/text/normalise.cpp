// The engine that applies the normalising rules in order; see normalise.hpp.
#include "text/normalise.hpp"

#include <array>
#include <utility>
#include <vector>

#include <re2/re2.h>

#include "text/normalise_rules.hpp"

namespace headroom::text {

namespace rules {

bool is_one(std::string_view number) { return number == "1"; }

std::string_view last_word(std::string_view before) {
  std::size_t end = before.size();
  while (end > 0 && before[end - 1] == ' ') --end;
  std::size_t from = end;
  while (from > 0 && end - from < 40 && (alnum(before[from - 1]) || before[from - 1] == '\'')) --from;
  return before.substr(from, end - from);
}

bool describes_a_thing(const Match& m) {
  const auto word = last_word(m.before);
  return (word == "a" || word == "A" || word == "an" || word == "An") && m.after_char() == ' ' &&
         m.after.size() > 1 && letter(m.after[1]);
}

std::string_view joint(const Match& m) { return last_word(m.before) == "between" ? " and " : " to "; }

int days_in_month(int month, std::string_view year_digits) {
  static constexpr std::array<int, 12> kDays{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || month > 12) return 0;
  int year = 0;
  for (const char c : year_digits.substr(0, 4)) year = year * 10 + (c - '0');
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  if (month == 2 && !year_digits.empty() && !leap) return 28;
  return kDays[static_cast<std::size_t>(month - 1)];
}

std::string join_initials(std::string_view letters) {
  std::string out;
  for (const char c : letters) {
    if (!letter(c)) continue;
    if (!out.empty()) out.push_back('.');
    out.push_back(static_cast<char>(c & ~0x20));
  }
  return out;
}

}  // namespace rules

struct Normaliser::Rules {
  struct Compiled {
    std::unique_ptr<re2::RE2> re;
    rules::Expand expand;
    NormaliseKind kind;
  };
  std::vector<Compiled> list;
  NumberStyle style;
};

Normaliser::Normaliser(Normaliser&&) noexcept = default;
Normaliser::~Normaliser() = default;

Normaliser::Normaliser(bool british) : rules_(std::make_unique<Rules>()) {
  rules_->style.british = british;
  std::vector<rules::Rule> all;
  rules::add_web(all);
  rules::add_abbreviations(all);
  rules::add_calendar(all);
  rules::add_money(all);
  rules::add_codes(all);
  rules::add_lengths(all);
  rules::add_fractions(all);
  rules::add_arithmetic(all);
  rules::add_ordinals(all);
  rules::add_quantities(all);
  rules::add_symbols(all);
  re2::RE2::Options re_options;
  re_options.set_log_errors(false);
  for (const auto& rule : all) {
    rules_->list.push_back({std::make_unique<re2::RE2>(rule.pattern, re_options), rule.expand, rule.kind});
  }
}

namespace {

void append_words(std::string& out, std::string_view words) {
  if (words.empty()) return;
  // Words never grow together with what stands beside them: "MP3" becomes "MP three".
  if (!out.empty() && rules::alnum(out.back()) && rules::alnum(words.front())) out.push_back(' ');
  out += words;
}

std::string apply_rule(const re2::RE2& re, rules::Expand expand, const std::string& text, NumberStyle style) {
  constexpr int kGroups = 12;
  std::array<re2::StringPiece, kGroups> pieces;
  std::array<std::string_view, kGroups> groups;
  const int count = std::min(kGroups, re.NumberOfCapturingGroups() + 1);
  std::string out;
  std::size_t done = 0;
  std::size_t at = 0;
  bool padded = false;  // the last thing written was a replacement
  while (at <= text.size() && re.Match(text, at, text.size(), re2::RE2::UNANCHORED, pieces.data(), count)) {
    for (int i = 0; i < count; ++i) {
      const auto& p = pieces[static_cast<std::size_t>(i)];
      groups[static_cast<std::size_t>(i)] =
          p.data() == nullptr ? std::string_view{} : std::string_view(p.data(), p.size());
    }
    const auto begin = static_cast<std::size_t>(groups[0].data() - text.data());
    const std::size_t end = begin + groups[0].size();
    if (end == begin) {  // no rule matches nothing; be safe all the same
      at = end + 1;
      continue;
    }
    const std::string_view all(text);
    const rules::Match match{
        {groups.data(), static_cast<std::size_t>(count)}, all.substr(0, begin), all.substr(end), style};
    if (const auto words = expand(match)) {
      const std::string_view between = all.substr(done, begin - done);
      padded ? append_words(out, between) : void(out += between);
      append_words(out, *words);
      padded = true;
      done = end;
    }
    at = end;
  }
  if (done == 0) return text;
  const std::string_view rest = std::string_view(text).substr(done);
  append_words(out, rest);
  return out;
}

}  // namespace

base::Result<NormaliseKind> parse_normalise_kind(std::string_view name) {
  std::string known;
  for (const auto& row : kNormaliseKinds) {
    if (row.name == name) return row.kind;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  return base::fail(base::ErrorCode::kInvalidArgument,
                    "there is no kind '" + std::string(name.substr(0, 32)) + "' to normalise; use " + known,
                    "normalise");
}

std::string Normaliser::apply(std::string_view clean_text, NormaliseOptions options) const {
  std::string text(clean_text);
  for (const auto& rule : rules_->list) {
    if (rule.re->ok() && options.has(rule.kind))
      text = apply_rule(*rule.re, rule.expand, text, rules_->style);
  }
  return text;
}

}  // namespace headroom::text
