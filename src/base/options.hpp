// Options: one table per program drives flags, environment variables, defaults, --help and the settings an
// artifact records.
//
// Does not read files, print or exit: the caller prints `text` and ends with `exit_code`.
// Order: command line, then PREFIX + NAME in upper case, then the option's own extra variables, then the
// default (what the target holds before parsing). An unknown or malformed option is a usage error (exit 2)
// that names it and the nearest known one; an environment variable that does not parse is one too. Units are
// part of an option's name (`service-ms`); a Duration target takes `500ms`, `20s`, `2m`, `1h`, or seconds.
// Single threaded; the targets must outlive parse().
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace headroom::base {

using Environment = std::map<std::string, std::string>;

// Where a value goes. Lists may be repeated (`--a x --a y`) or joined with commas (`--a x,y`); a positional
// list takes all remaining words.
using OptionTarget =
    std::variant<bool*, int*, std::int64_t*, double*, std::string*, Duration*, std::vector<std::string>*,
                 std::vector<int>*, std::optional<int>*, std::optional<double>*, std::optional<std::string>*,
                 std::optional<Duration>*>;

struct Option {
  std::string name{};              // without dashes: "max-queue-depth"
  std::string help{};              // one line
  OptionTarget target{};           // never null
  std::string value_name{};        // in help; default: by type (N, X, TEXT, TIME, LIST)
  std::string default_text{};      // in help; default: the target's value
  std::vector<std::string> env{};  // further variables, e.g. "MAX_QUEUE_DEPTH"
  std::optional<double> min{};     // numbers, list elements; seconds for durations; inclusive
  std::optional<double> max{};
  std::vector<std::string> choices{};  // allowed texts
  bool positional = false;
  bool required = false;
  bool secret = false;  // its value is not repeated in settings
};

struct Command {
  std::string name{};
  std::string help{};
  std::vector<Option> options{};
};

struct Program {
  std::string name{};
  std::string help{};
  std::vector<Option> options{};    // common to all commands; accepted before and after the command's name
  std::vector<Command> commands{};  // empty: a program without commands
  std::string default_command{};    // taken when none is named; empty: one must be named
  std::string env_prefix = "TTS_";  // empty: only the extra variables count
  std::string version = HEADROOM_VERSION;
  std::string footer{};  // printed under --help
};

// One option as it was used: what an artifact stores as its requested and effective settings.
struct Setting {
  std::string name;
  std::string value;
  std::string source;  // "default", "environment NAME", "command line"
};

struct ParseOutcome {
  std::optional<int> exit_code{};  // set: print `text` (stdout if 0, else stderr) and end
  std::string text{};
  std::string command{};                // the chosen command, empty if the program has none
  std::vector<Setting> settings{};      // every option of the program and of the command
  std::vector<std::string> warnings{};  // variables that begin with env_prefix and belong to no option
};

// `args` without the program's name.
ParseOutcome parse_options(const Program& program, const std::vector<std::string>& args,
                           const Environment& environment);

// The same for main(): argv and the process's environment.
ParseOutcome parse_options(const Program& program, int argc, const char* const* argv);
Environment process_environment();

// "500ms", "20s", "2m", "1h", "20" (seconds). Refuses negatives and anything not finite.
Result<Duration> parse_duration(const std::string& text);
std::string format_duration(Duration duration);
// Strict: the whole text is one finite number, else an error that names it.
Result<double> parse_number(const std::string& text);
Result<std::int64_t> parse_integer(const std::string& text);

// The candidate with the smallest edit distance, if it is close enough to be a slip of the pen.
std::optional<std::string> nearest_name(const std::string& name, const std::vector<std::string>& candidates);

}  // namespace headroom::base
