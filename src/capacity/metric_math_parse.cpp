// Recursive descent by precedence: OR, AND, comparison, + -, * /, unary -, ^.
#include "capacity/metric_math_parse.hpp"

#include <cctype>
#include <charconv>

#include <fmt/format.h>

namespace headroom::capacity::detail {
namespace {

using base::Result;

constexpr int kMaxDepth = 50;
constexpr std::size_t kMaxLength = 2048;  // CloudWatch's own limit

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  Result<MathNode> run() {
    auto node = binary(0);
    if (!node) return node;
    skip_spaces();
    if (at_ != text_.size()) return fault(fmt::format("unexpected '{}'", text_[at_]));
    return node;
  }

 private:
  struct Operator {
    std::string_view text;
    int level;
  };
  // Longer ones first; words must not run into a name.
  static constexpr Operator kOperators[] = {{"||", 0}, {"OR", 0}, {"&&", 1}, {"AND", 1}, {"==", 2},
                                            {"!=", 2}, {"<=", 2}, {">=", 2}, {"<", 2},   {">", 2},
                                            {"+", 3},  {"-", 3},  {"*", 4},  {"/", 4}};
  static constexpr int kUnaryLevel = 5;

  tl::unexpected<base::Error> fault(const std::string& what) const {
    return base::fail(base::ErrorCode::kInvalidArgument, fmt::format("{} at position {} of expression '{}'",
                                                                     what, at_ + 1, text_.substr(0, 200)));
  }

  void skip_spaces() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

  const Operator* peek_operator() {
    skip_spaces();
    for (const Operator& op : kOperators) {
      if (text_.compare(at_, op.text.size(), op.text) != 0) continue;
      const auto after = at_ + op.text.size();
      if (is_word(op.text.front()) && after < text_.size() && is_word(text_[after])) continue;
      return &op;
    }
    return nullptr;
  }

  bool take(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Result<MathNode> binary(int level) {
    if (level == kUnaryLevel) return unary();
    auto left = binary(level + 1);
    while (left) {
      const Operator* op = peek_operator();
      if (op == nullptr || op->level != level) break;
      at_ += op->text.size();
      auto right = binary(level + 1);
      if (!right) return right;
      MathNode node{MathNode::Kind::kBinary, 0, std::string(op->text), {}};
      node.parts.push_back(std::move(*left));
      node.parts.push_back(std::move(*right));
      left = std::move(node);
    }
    return left;
  }

  Result<MathNode> unary() {
    if (++depth_ > kMaxDepth) return fault("nested too deeply");
    Result<MathNode> out = take('-') ? negated() : power();
    --depth_;
    return out;
  }

  Result<MathNode> negated() {
    auto inner = unary();
    if (!inner) return inner;
    MathNode node{MathNode::Kind::kUnary, 0, "-", {}};
    node.parts.push_back(std::move(*inner));
    return node;
  }

  Result<MathNode> power() {
    auto base = atom();
    if (!base || !take('^')) return base;
    auto exponent = unary();
    if (!exponent) return exponent;
    MathNode node{MathNode::Kind::kBinary, 0, "^", {}};
    node.parts.push_back(std::move(*base));
    node.parts.push_back(std::move(*exponent));
    return node;
  }

  Result<MathNode> atom() {
    skip_spaces();
    if (at_ >= text_.size()) return fault("the expression ends too early");
    const char c = text_[at_];
    if (take('(')) {
      auto inner = binary(0);
      if (inner && !take(')')) return fault("a ')' is missing");
      return inner;
    }
    if (take('[')) return arguments(MathNode::Kind::kList, "", ']');
    if (c == '"' || c == '\'') return quoted(c);
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') return number();
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) return name();
    return fault(fmt::format("unexpected '{}'", c));
  }

  Result<MathNode> number() {
    MathNode node;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), node.number);
    if (error != std::errc{}) return fault("not a number");
    at_ = static_cast<std::size_t>(end - text_.data());
    return node;
  }

  Result<MathNode> quoted(char quote) {
    const auto end = text_.find(quote, at_ + 1);
    if (end == std::string::npos) return fault("a quoted text does not end");
    MathNode node{MathNode::Kind::kText, 0, text_.substr(at_ + 1, end - at_ - 1), {}};
    at_ = end + 1;
    return node;
  }

  Result<MathNode> name() {
    const auto begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    const std::string word = text_.substr(begin, at_ - begin);
    if (take('(')) return arguments(MathNode::Kind::kCall, word, ')');
    return MathNode{MathNode::Kind::kName, 0, word, {}};
  }

  Result<MathNode> arguments(MathNode::Kind kind, const std::string& name, char close) {
    MathNode node{kind, 0, name, {}};
    if (take(close)) return node;
    do {
      auto part = binary(0);
      if (!part) return part;
      node.parts.push_back(std::move(*part));
    } while (take(','));
    if (!take(close)) return fault(fmt::format("a '{}' is missing", close));
    return node;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

base::Result<MathNode> parse_math(const std::string& text) {
  if (text.size() > kMaxLength)
    return base::fail(base::ErrorCode::kInvalidArgument,
                      fmt::format("an expression has at most {} characters", kMaxLength));
  return Parser(text).run();
}

}  // namespace headroom::capacity::detail
