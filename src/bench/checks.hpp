// Checks: how validate and drift compare fields, phrase a difference and its remedy, and print both.
//
// Pure but for commands_for(). Ids name the field as AWS does, because that is what a person changed:
// "target.MaxCapacity", "alarm NAME.Threshold". Numbers are equal within 1e-9 of their size. Single threaded.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "artifact/artifacts.hpp"
#include "bench/session.hpp"

namespace headroom::bench {

using artifact::Check;

// The commands that remedies name, ready to paste.
struct Commands {
  std::string endpoint;
  std::string variant = "AllTraffic";
  std::string plan_file;  // empty: the default one
  std::string tail;       // "--endpoint-url URL --region R" for tts-bench, as given to this run
  std::string aws_tail;   // the same for the AWS CLI

  std::string bench(const std::string& command) const;  // tts-bench COMMAND --endpoint E ...
  std::string apply() const;
  std::string thaw() const;
  std::string aws(const std::string& words) const;  // aws WORDS ...
  std::string wait() const;                         // until the endpoint is InService
  std::string set_count(int count) const;
};
Commands commands_for(Session& session, const std::string& plan_file);

// Texts of values, for people.
std::string show(const std::string& value);
std::string show(bool value);
std::string show(int value);
std::string show(double value);
std::string show(const std::vector<std::string>& values);
template <class T>
std::string show(const std::optional<T>& value) {
  return value ? show(*value) : std::string("unset");
}
bool same(double left, double right);
template <class T>
bool same(const T& left, const T& right) {
  return left == right;
}
inline bool same(const std::optional<double>& left, const std::optional<double>& right) {
  return left.has_value() == right.has_value() && (!left || same(*left, *right));
}

// The fields of one thing. done() gives its differences, or one OK line if there are none.
class FieldChecks {
 public:
  FieldChecks(std::string thing, std::string remedy, std::string level = "ERROR")
      : thing_(std::move(thing)), remedy_(std::move(remedy)), level_(std::move(level)) {}
  template <class T>
  void field(const std::string& name, const T& found, const T& wanted) {
    ++fields_;
    if (!same(found, wanted)) differs(name, show(found), show(wanted));
  }
  void differs(const std::string& name, const std::string& found, const std::string& wanted) {
    checks_.push_back({thing_ + "." + name, level_, found, wanted, remedy_});
  }
  std::vector<Check> done() const;

 private:
  std::string thing_, remedy_, level_;
  std::vector<Check> checks_;
  std::size_t fields_ = 0;
};

void append(std::vector<Check>& to, const std::vector<Check>& from);
bool has_level(const std::vector<Check>& checks, const std::string& level);
// "ERROR  target.MaxCapacity: is 4, should be 9; fix: tts-bench apply ..."
std::string check_line(const Check& check);
// A line each and the verdict; --quiet: without OK and INFO; --json: nothing, the artifact is the output.
void print_checks(const Session& session, const std::vector<Check>& checks, const std::string& verdict);
// What differs between what was measured and what runs now. Files without a measured fingerprint (a published
// run) have no image or workload: their empty environment is unknown, not empty.
std::vector<std::string> measured_differences(const artifact::Fingerprint& planned,
                                              const artifact::Fingerprint& live);
// The same as checks: "fingerprint.image digest".
std::vector<Check> compare_fingerprint(const artifact::Fingerprint& planned,
                                       const artifact::Fingerprint& live, const std::string& level);

}  // namespace headroom::bench
