// Evaluation of parsed expressions.
#include "capacity/metric_math.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "capacity/metric_math_parse.hpp"

namespace headroom::capacity {
namespace {

using base::Result;
using detail::MathNode;
using Kind = MathNode::Kind;

tl::unexpected<base::Error> fault(const std::string& message) {
  return base::fail(base::ErrorCode::kInvalidArgument, message);
}

struct FunctionRow {
  std::string_view name;
  std::size_t least, most;  // arguments
};
constexpr std::array kFunctions{
    FunctionRow{"SUM", 1, 1},     FunctionRow{"AVG", 1, 1},         FunctionRow{"MAX", 1, 1},
    FunctionRow{"MIN", 1, 1},     FunctionRow{"STDDEV", 1, 1},      FunctionRow{"METRIC_COUNT", 1, 1},
    FunctionRow{"ABS", 1, 1},     FunctionRow{"CEIL", 1, 1},        FunctionRow{"FLOOR", 1, 1},
    FunctionRow{"LOG", 1, 1},     FunctionRow{"LOG10", 1, 1},       FunctionRow{"RATE", 1, 1},
    FunctionRow{"DIFF", 1, 1},    FunctionRow{"RUNNING_SUM", 1, 1}, FunctionRow{"PERIOD", 1, 1},
    FunctionRow{"FILL", 2, 2},    FunctionRow{"IF", 2, 3},          FunctionRow{"TIME_SERIES", 1, 1},
    FunctionRow{"METRICS", 0, 1}, FunctionRow{"FIRST", 1, 1},       FunctionRow{"LAST", 1, 1},
};

const FunctionRow* find_function(const std::string& name) {
  for (const FunctionRow& row : kFunctions) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::optional<double> binary(const std::string& op, double a, double b) {
  double out = 0;
  if (op == "+")
    out = a + b;
  else if (op == "-")
    out = a - b;
  else if (op == "*")
    out = a * b;
  else if (op == "/")
    out = b == 0 ? std::nan("") : a / b;
  else if (op == "^")
    out = std::pow(a, b);
  else if (op == "==")
    out = a == b;
  else if (op == "!=")
    out = a != b;
  else if (op == "<")
    out = a < b;
  else if (op == ">")
    out = a > b;
  else if (op == "<=")
    out = a <= b;
  else if (op == ">=")
    out = a >= b;
  else if (op == "AND" || op == "&&")
    out = a != 0 && b != 0;
  else
    out = a != 0 || b != 0;
  if (!std::isfinite(out)) return std::nullopt;  // no datapoint
  return out;
}

using Unary = std::function<std::optional<double>(double)>;

TimeSeries each(const TimeSeries& in, const Unary& f) {
  TimeSeries out;
  for (const auto& [time, value] : in) {
    if (const auto y = f(value); y && std::isfinite(*y)) out[time] = *y;
  }
  return out;
}

// Applies f to a number, a series or each series of a list.
Result<MathValue> map_value(const MathValue& in, const Unary& f) {
  if (const auto* number = std::get_if<double>(&in)) {
    const auto out = f(*number);
    if (!out || !std::isfinite(*out)) return fault("the expression divides by zero or leaves the numbers");
    return MathValue{*out};
  }
  if (const auto* series = std::get_if<TimeSeries>(&in)) return MathValue{each(*series, f)};
  SeriesList out;
  for (const auto& series : std::get<SeriesList>(in)) out.push_back(each(series, f));
  return MathValue{std::move(out)};
}

TimeSeries combine(const std::string& op, const TimeSeries& a, const TimeSeries& b) {
  TimeSeries out;
  for (const auto& [time, value] : a) {
    const auto other = b.find(time);
    if (other == b.end()) continue;
    if (const auto y = binary(op, value, other->second)) out[time] = *y;
  }
  return out;
}

Result<MathValue> apply(const std::string& op, const MathValue& a, const MathValue& b) {
  if (const auto* number = std::get_if<double>(&b))
    return map_value(a, [&, y = *number](double x) { return binary(op, x, y); });
  if (const auto* number = std::get_if<double>(&a))
    return map_value(b, [&, x = *number](double y) { return binary(op, x, y); });
  const auto* left = std::get_if<TimeSeries>(&a);
  const auto* right = std::get_if<TimeSeries>(&b);
  if (left != nullptr && right != nullptr) return MathValue{combine(op, *left, *right)};
  SeriesList out;
  if (left != nullptr) {
    for (const auto& series : std::get<SeriesList>(b)) out.push_back(combine(op, *left, series));
  } else if (right != nullptr) {
    for (const auto& series : std::get<SeriesList>(a)) out.push_back(combine(op, series, *right));
  } else {
    return fault(fmt::format("'{}' cannot join two lists of metrics", op));
  }
  return MathValue{std::move(out)};
}

std::optional<double> reduce(const std::string& name, const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  double sum = 0, square = 0;
  for (const double v : values) sum += v;
  const double mean = sum / static_cast<double>(values.size());
  for (const double v : values) square += (v - mean) * (v - mean);
  if (name == "SUM") return sum;
  if (name == "AVG") return mean;
  if (name == "MAX") return *std::max_element(values.begin(), values.end());
  if (name == "MIN") return *std::min_element(values.begin(), values.end());
  return std::sqrt(square / static_cast<double>(values.size()));  // STDDEV, of the population
}

// One series gives a number (none of no datapoint: an empty series), a list a series over the datapoints that
// are there.
Result<MathValue> reduced(const std::string& name, const MathValue& in) {
  if (std::holds_alternative<double>(in)) return in;
  if (const auto* series = std::get_if<TimeSeries>(&in)) {
    std::vector<double> values;
    for (const auto& [time, value] : *series) values.push_back(value);
    const auto number = reduce(name, values);
    return number ? MathValue{*number} : MathValue{TimeSeries{}};
  }
  std::map<std::int64_t, std::vector<double>> columns;
  for (const auto& series : std::get<SeriesList>(in)) {
    for (const auto& [time, value] : series) columns[time].push_back(value);
  }
  TimeSeries out;
  for (const auto& [time, values] : columns) out[time] = *reduce(name, values);
  return MathValue{std::move(out)};
}

TimeSeries over_time(const std::string& name, const TimeSeries& in) {
  TimeSeries out;
  double sum = 0;
  for (auto it = in.begin(); it != in.end(); ++it) {
    sum += it->second;
    if (name == "RUNNING_SUM") {
      out[it->first] = sum;
    } else if (it != in.begin()) {
      const auto before = std::prev(it);
      const double change = it->second - before->second;
      out[it->first] = name == "RATE" ? change / static_cast<double>(it->first - before->first) : change;
    }
  }
  return out;
}

TimeSeries filled(const TimeSeries& in, const MathNode& how, const MathGrid& grid,
                  const std::optional<double>& constant) {
  TimeSeries out = in;
  for (std::int64_t t = grid.begin_s; t < grid.end_s; t += grid.period_s) {
    if (in.count(t) > 0) continue;
    if (constant) {
      out[t] = *constant;
      continue;
    }
    const auto after = in.upper_bound(t);
    if (after == in.begin()) continue;  // nothing to repeat or to begin a line
    const auto before = std::prev(after);
    if (how.text == "REPEAT")
      out[t] = before->second;
    else if (after != in.end())
      out[t] = before->second + (after->second - before->second) * static_cast<double>(t - before->first) /
                                    static_cast<double>(after->first - before->first);
  }
  return out;
}

class Evaluation {
 public:
  Evaluation(const std::vector<MathQuery>& queries, const MathGrid& grid) : queries_(queries), grid_(grid) {}

  Result<std::map<std::string, MathValue>> run() {
    for (const MathQuery& query : queries_) {
      if (auto value = by_id(query.id); !value) return tl::unexpected(value.error());
    }
    return done_;
  }

 private:
  const MathQuery* find(const std::string& id) const {
    for (const MathQuery& query : queries_) {
      if (query.id == id) return &query;
    }
    return nullptr;
  }

  Result<MathValue> by_id(const std::string& id) {
    if (const auto known = done_.find(id); known != done_.end()) return known->second;
    const MathQuery* query = find(id);
    if (query == nullptr)
      return fault(fmt::format("the expression uses '{}', which is no id of this request", id));
    if (query->expression.empty()) return done_[id] = query->series;
    if (!open_.insert(id).second) return fault(fmt::format("the expression of '{}' depends on itself", id));
    auto node = detail::parse_math(query->expression);
    if (!node) return tl::unexpected(node.error());
    auto out = value(*node);
    open_.erase(id);
    if (out) done_[id] = *out;
    return out;
  }

  Result<MathValue> value(const MathNode& node) {
    switch (node.kind) {
      case Kind::kNumber:
        return MathValue{node.number};
      case Kind::kName:
        return by_id(node.text);
      case Kind::kText:
        return fault(fmt::format("a text is not expected here: '{}'", node.text));
      case Kind::kList:
        return list(node);
      case Kind::kUnary: {
        auto inner = value(node.parts[0]);
        return inner ? map_value(*inner, [](double x) { return -x; }) : inner;
      }
      case Kind::kBinary: {
        auto a = value(node.parts[0]);
        if (!a) return a;
        auto b = value(node.parts[1]);
        return b ? apply(node.text, *a, *b) : b;
      }
      case Kind::kCall:
        return call(node);
    }
    return fault("not an expression");
  }

  Result<MathValue> list(const MathNode& node) {
    SeriesList out;
    for (const MathNode& part : node.parts) {
      auto one = value(part);
      if (!one) return one;
      if (auto* series = std::get_if<TimeSeries>(&*one))
        out.push_back(std::move(*series));
      else if (auto* more = std::get_if<SeriesList>(&*one))
        out.insert(out.end(), more->begin(), more->end());
      else
        out.push_back(constant(std::get<double>(*one)));
    }
    return MathValue{std::move(out)};
  }

  TimeSeries constant(double number) const {
    TimeSeries out;
    for (std::int64_t t = grid_.begin_s; t < grid_.end_s; t += grid_.period_s) out[t] = number;
    return out;
  }

  Result<MathValue> call(const MathNode& node) {
    const FunctionRow* row = find_function(node.text);
    if (row == nullptr) return fault(fmt::format("the function {} is not offered", node.text));
    if (node.parts.size() < row->least || node.parts.size() > row->most)
      return fault(fmt::format("{} takes {} to {} arguments", node.text, row->least, row->most));
    if (node.text == "METRICS") return metrics(node);
    if (node.text == "PERIOD") return period(node.parts[0]);
    auto first = value(node.parts[0]);
    if (!first) return first;
    if (node.text == "IF") return choose(node, *first);
    if (node.text == "FILL") return fill(node, *first);
    if (node.text == "TIME_SERIES") {
      const auto* number = std::get_if<double>(&*first);
      if (number == nullptr) return fault("TIME_SERIES takes a number");
      return MathValue{constant(*number)};
    }
    return simple(node.text, *first);
  }

  static Result<MathValue> simple(const std::string& name, const MathValue& in) {
    if (name == "METRIC_COUNT" || name == "FIRST" || name == "LAST") {
      const auto* list = std::get_if<SeriesList>(&in);
      if (list == nullptr) return fault(fmt::format("{} takes a list of metrics", name));
      if (name == "METRIC_COUNT") return MathValue{static_cast<double>(list->size())};
      if (list->empty()) return fault(fmt::format("{} of an empty list", name));
      return MathValue{name == "FIRST" ? list->front() : list->back()};
    }
    if (name == "RATE" || name == "DIFF" || name == "RUNNING_SUM") {
      if (const auto* series = std::get_if<TimeSeries>(&in)) return MathValue{over_time(name, *series)};
      const auto* list = std::get_if<SeriesList>(&in);
      if (list == nullptr) return fault(fmt::format("{} takes a metric", name));
      SeriesList out;
      for (const auto& series : *list) out.push_back(over_time(name, series));
      return MathValue{std::move(out)};
    }
    if (name == "ABS") return map_value(in, [](double x) { return std::abs(x); });
    if (name == "CEIL") return map_value(in, [](double x) { return std::ceil(x); });
    if (name == "FLOOR") return map_value(in, [](double x) { return std::floor(x); });
    if (name == "LOG") return map_value(in, [](double x) { return std::log(x); });
    if (name == "LOG10") return map_value(in, [](double x) { return std::log10(x); });
    return reduced(name, in);
  }

  Result<MathValue> metrics(const MathNode& node) {
    SeriesList out;
    if (!node.parts.empty() && node.parts[0].kind != Kind::kText) return fault("METRICS takes a quoted text");
    const std::string part = node.parts.empty() ? "" : node.parts[0].text;
    for (const MathQuery& query : queries_) {
      if (query.expression.empty() && query.id.find(part) != std::string::npos) out.push_back(query.series);
    }
    return MathValue{std::move(out)};
  }

  Result<MathValue> period(const MathNode& node) {
    if (node.kind != Kind::kName) return fault("PERIOD takes the id of a metric");
    const MathQuery* query = find(node.text);
    if (query == nullptr) return fault(fmt::format("PERIOD: no id '{}' in this request", node.text));
    return MathValue{static_cast<double>(query->period_s)};
  }

  Result<MathValue> fill(const MathNode& node, const MathValue& in) {
    const MathNode& how = node.parts[1];
    std::optional<double> number;
    if (how.kind != Kind::kName || (how.text != "REPEAT" && how.text != "LINEAR")) {
      auto given = value(how);
      if (!given) return given;
      const auto* filler = std::get_if<double>(&*given);
      if (filler == nullptr) return fault("FILL takes a number, REPEAT or LINEAR");
      number = *filler;
    }
    if (const auto* series = std::get_if<TimeSeries>(&in))
      return MathValue{filled(*series, how, grid_, number)};
    const auto* list = std::get_if<SeriesList>(&in);
    if (list == nullptr) return fault("FILL takes a metric");
    SeriesList out;
    for (const auto& series : *list) out.push_back(filled(series, how, grid_, number));
    return MathValue{std::move(out)};
  }

  // A series of conditions chooses at each of its datapoints; where the chosen side has none, there is none.
  Result<MathValue> choose(const MathNode& node, const MathValue& condition) {
    auto yes = value(node.parts[1]);
    if (!yes) return yes;
    Result<MathValue> no = MathValue{TimeSeries{}};
    if (node.parts.size() == 3) no = value(node.parts[2]);
    if (!no) return no;
    if (const auto* number = std::get_if<double>(&condition)) return *number != 0 ? yes : no;
    const auto* series = std::get_if<TimeSeries>(&condition);
    if (series == nullptr || std::holds_alternative<SeriesList>(*yes) ||
        std::holds_alternative<SeriesList>(*no))
      return fault("IF takes metrics or numbers, no lists");
    TimeSeries out;
    for (const auto& [time, holds] : *series) {
      const MathValue& side = holds != 0 ? *yes : *no;
      if (const auto* number = std::get_if<double>(&side)) {
        out[time] = *number;
      } else {
        const auto& chosen = std::get<TimeSeries>(side);
        if (const auto it = chosen.find(time); it != chosen.end()) out[time] = it->second;
      }
    }
    return MathValue{std::move(out)};
  }

  const std::vector<MathQuery>& queries_;
  const MathGrid& grid_;
  std::map<std::string, MathValue> done_;
  std::set<std::string> open_;
};

Result<void> check_node(const MathNode& node, const std::vector<std::string>& ids, bool filler) {
  if (node.kind == Kind::kName && !(filler && (node.text == "REPEAT" || node.text == "LINEAR")) &&
      std::find(ids.begin(), ids.end(), node.text) == ids.end())
    return fault(fmt::format("the expression uses '{}', which is no id of this request", node.text));
  if (node.kind == Kind::kCall) {
    const FunctionRow* row = find_function(node.text);
    if (row == nullptr) return fault(fmt::format("the function {} is not offered", node.text));
    if (node.parts.size() < row->least || node.parts.size() > row->most)
      return fault(fmt::format("{} takes {} to {} arguments", node.text, row->least, row->most));
  }
  for (std::size_t i = 0; i < node.parts.size(); ++i) {
    const bool fills = node.kind == Kind::kCall && node.text == "FILL" && i == 1;
    if (auto fine = check_node(node.parts[i], ids, fills); !fine) return fine;
  }
  return {};
}

}  // namespace

base::Result<std::map<std::string, MathValue>> evaluate_math(const std::vector<MathQuery>& queries,
                                                             const MathGrid& grid) {
  return Evaluation(queries, grid).run();
}

base::Result<void> check_math(const std::string& expression, const std::vector<std::string>& ids) {
  const auto node = detail::parse_math(expression);
  if (!node) return tl::unexpected(node.error());
  return check_node(*node, ids, false);
}

}  // namespace headroom::capacity
