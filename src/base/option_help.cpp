// The text of --help, rendered from the option table.
#include <algorithm>

#include <fmt/format.h>

#include "base/option_value.hpp"

namespace headroom::base::detail {
namespace {

struct ValueName {
  std::string operator()(const bool*) const { return ""; }
  std::string operator()(const int*) const { return "N"; }
  std::string operator()(const std::int64_t*) const { return "N"; }
  std::string operator()(const double*) const { return "X"; }
  std::string operator()(const std::string*) const { return "TEXT"; }
  std::string operator()(const Duration*) const { return "TIME"; }
  template <class T>
  std::string operator()(const std::vector<T>*) const {
    return "LIST";
  }
  template <class T>
  std::string operator()(const std::optional<T>*) const {
    return (*this)(static_cast<const T*>(nullptr));
  }
};

void append_option(std::string& out, const Program& program, const Option& option) {
  const std::string value = option_value_name(option);
  const std::string head =
      option.positional ? value : "--" + option.name + (value.empty() ? "" : " " + value);
  std::string notes;
  const std::string shown = option.default_text.empty() ? option_text(option.target) : option.default_text;
  if (!option.choices.empty()) notes += fmt::format(" one of {};", fmt::join(option.choices, "|"));
  if (option.required) notes += " required;";
  if (!shown.empty() && !option.positional && shown != "false") notes += fmt::format(" default {};", shown);
  std::vector<std::string> env;
  if (!program.env_prefix.empty() && !option.positional)
    env.push_back(env_name(program.env_prefix, option.name));
  env.insert(env.end(), option.env.begin(), option.env.end());
  if (!env.empty()) notes += fmt::format(" env {};", fmt::join(env, ", "));
  if (!notes.empty()) {
    notes.pop_back();
    notes = "  [" + notes.substr(1) + "]";
  }
  if (head.size() > 28) {
    out += fmt::format("  {}\n  {:<28} {}{}\n", head, "", option.help, notes);
  } else {
    out += fmt::format("  {:<28} {}{}\n", head, option.help, notes);
  }
}

}  // namespace

std::string option_value_name(const Option& option) {
  if (!option.value_name.empty()) return option.value_name;
  if (option.positional) return env_name("", option.name);
  return std::visit(ValueName{}, option.target);
}

std::string help_text(const Program& program, const Command* command) {
  std::string out = command ? command->help : program.help;
  out += fmt::format("\n\nUsage: {}", program.name);
  if (command) {
    out += " " + command->name;
    for (const Option& option : command->options) {
      if (!option.positional) continue;
      const std::string name = option_value_name(option) + (is_list(option) ? "..." : "");
      out += option.required ? " " + name : " [" + name + "]";
    }
  } else if (!program.commands.empty()) {
    out += program.default_command.empty() ? " COMMAND" : " [COMMAND]";
  }
  out += " [options]\n";
  if (!command && !program.commands.empty()) {
    out += "\nCommands:\n";
    for (const Command& c : program.commands) out += fmt::format("  {:<28} {}\n", c.name, c.help);
  }
  if (command && !command->options.empty()) {
    out += "\nOptions:\n";
    for (const Option& option : command->options) append_option(out, program, option);
  }
  out += command && !program.options.empty() ? "\nCommon options:\n" : "\nOptions:\n";
  for (const Option& option : program.options) append_option(out, program, option);
  out += fmt::format("  {:<28} {}\n  {:<28} {}\n", "--help", "this text", "--version", "the version");
  if (!program.footer.empty()) out += "\n" + program.footer + "\n";
  return out;
}

}  // namespace headroom::base::detail
