// Field comparison, remedies and lines.
#include "bench/checks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace headroom::bench {
namespace {

// A path or name as one word of a shell line.
std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-./:=,@+%").find(c) != std::string_view::npos;
  });
  if (plain) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string Commands::bench(const std::string& command) const {
  std::string out = fmt::format("tts-bench {} --endpoint {}", command, endpoint);
  if (variant != "AllTraffic") out += " --variant " + variant;
  return out + tail;
}

std::string Commands::apply() const {
  return bench("apply") + (plan_file.empty() ? std::string{} : " --plan " + quoted(plan_file));
}

std::string Commands::thaw() const { return bench("thaw"); }
std::string Commands::aws(const std::string& words) const { return "aws " + words + aws_tail; }
std::string Commands::wait() const {
  return aws("sagemaker wait endpoint-in-service --endpoint-name " + endpoint);
}

std::string Commands::set_count(int count) const {
  return aws(
      fmt::format("sagemaker update-endpoint-weights-and-capacities --endpoint-name {} "
                  "--desired-weights-and-capacities VariantName={},DesiredInstanceCount={}",
                  endpoint, variant, count));
}

Commands commands_for(Session& session, const std::string& plan_file) {
  Commands out;
  out.endpoint = session.endpoint();
  out.variant = session.variant();
  out.plan_file = plan_file;
  const CommonOptions& given = session.options();
  const auto add = [](std::string& to, const char* name, const std::string& value) {
    if (!value.empty()) to += fmt::format(" --{} {}", name, quoted(value));
  };
  for (std::string* tail : {&out.tail, &out.aws_tail}) {
    add(*tail, "endpoint-url", given.endpoint_url);
    add(*tail, "region", given.region);
    add(*tail, "profile", given.profile);
  }
  // Where the artifacts lie matters to tts-bench alone.
  add(out.tail, "out", given.out);
  return out;
}

std::string show(const std::string& value) { return value.empty() ? "unset" : value; }
std::string show(bool value) { return value ? "true" : "false"; }
std::string show(int value) { return fmt::format("{}", value); }
std::string show(double value) { return fmt::format("{}", value); }
std::string show(const std::vector<std::string>& values) {
  return values.empty() ? std::string("none") : fmt::format("{}", fmt::join(values, ", "));
}

bool same(double left, double right) {
  return std::abs(left - right) <= 1e-9 * std::max({1.0, std::abs(left), std::abs(right)});
}

std::vector<Check> FieldChecks::done() const {
  if (!checks_.empty()) return checks_;
  return {{thing_, "OK", fmt::format("as planned, {} fields", fields_), "", ""}};
}

void append(std::vector<Check>& to, const std::vector<Check>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

bool has_level(const std::vector<Check>& checks, const std::string& level) {
  return std::any_of(checks.begin(), checks.end(), [&](const Check& c) { return c.level == level; });
}

std::string check_line(const Check& check) {
  std::string line = fmt::format("{:<5}  {}: {}", check.level, check.id, check.found);
  if (!check.wanted.empty()) line += ", should be " + check.wanted;
  if (!check.remedy.empty()) line += "\n       fix: " + check.remedy;
  return line;
}

void print_checks(const Session& session, const std::vector<Check>& checks, const std::string& verdict) {
  if (session.options().json) return;
  for (const Check& check : checks) {
    const bool matters = check.level != "OK" && check.level != "INFO";
    if (matters || !session.options().quiet) std::puts(check_line(check).c_str());
  }
  std::puts(verdict.c_str());
  std::fflush(stdout);
}

std::vector<std::string> measured_differences(const artifact::Fingerprint& planned,
                                              const artifact::Fingerprint& live) {
  artifact::Fingerprint comparable = live;
  const bool measured = planned.image_digest || planned.workload_hash;  // plan fills in the rest
  if (!measured && planned.environment.empty()) comparable.environment.clear();
  return artifact::differences(planned, comparable);
}

std::vector<Check> compare_fingerprint(const artifact::Fingerprint& planned,
                                       const artifact::Fingerprint& live, const std::string& level) {
  std::vector<Check> out;
  for (const auto& line : measured_differences(planned, live)) {
    const auto colon = line.find(": ");
    const std::string name = colon == std::string::npos ? line : line.substr(0, colon);
    out.push_back({"fingerprint." + name, level, line, "the same deployment",
                   "measure and plan again, or name the plan of this deployment with --plan"});
  }
  return out;
}

}  // namespace headroom::bench
