// Reads a command line against an option table: CLI11 splits it into names and values, the table does the
// rest.
#include "base/options.hpp"

#include <algorithm>
#include <set>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error_table.hpp"
#include "base/option_value.hpp"

extern char** environ;

namespace headroom::base {
namespace {

struct Bound {
  const Option* option;
  CLI::Option* cli;
};

ParseOutcome usage_error(const Program& program, const std::string& message) {
  ParseOutcome outcome;
  outcome.exit_code = kExitUsage;
  outcome.text = fmt::format("{}: {}\nTry '{} --help'.\n", program.name, message, program.name);
  return outcome;
}

void bind(CLI::App& app, const std::vector<Option>& options, std::vector<Bound>& bound) {
  for (const Option& option : options) {
    CLI::Option* cli = nullptr;
    if (option.positional) {
      cli = app.add_option(option.name);
      if (detail::is_list(option)) cli->expected(-1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    } else if (detail::is_flag(option)) {
      // A value is taken only as --name=value; "--no-name" is the short form of false.
      cli = app.add_flag(fmt::format("--{0},!--no-{0}", option.name));
      cli->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    } else {
      cli = app.add_option("--" + option.name);
      cli->type_size(1)->expected(1)->allow_extra_args(false);
      cli->multi_option_policy(detail::is_list(option) ? CLI::MultiOptionPolicy::TakeAll
                                                       : CLI::MultiOptionPolicy::TakeLast);
    }
    bound.push_back({&option, cli});
  }
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& known,
                         const std::string& prefix) {
  const auto near = nearest_name(name, known);
  return near ? fmt::format("; did you mean '{}{}'?", prefix, *near) : "";
}

std::optional<ParseOutcome> refuse_extras(const Program& program, const std::vector<std::string>& extras,
                                          const std::vector<Bound>& bound, bool has_command) {
  if (extras.empty()) return std::nullopt;
  const auto dashed =
      std::find_if(extras.begin(), extras.end(), [](const auto& e) { return e.size() > 1 && e[0] == '-'; });
  if (dashed == extras.end()) {
    if (has_command || program.commands.empty())
      return usage_error(program, fmt::format("unexpected argument '{}'", extras.front()));
    std::vector<std::string> names;
    for (const Command& command : program.commands) names.push_back(command.name);
    return usage_error(program, fmt::format("unknown command '{}'{}", extras.front(),
                                            did_you_mean(extras.front(), names, "")));
  }
  const std::string text = dashed->substr(0, dashed->find('='));
  std::vector<std::string> names;
  for (const Bound& b : bound) {
    if (!b.option->positional) names.push_back(b.option->name);
  }
  return usage_error(program,
                     fmt::format("unknown option '{}'{}", text,
                                 did_you_mean(text.substr(text.find_first_not_of('-')), names, "--")));
}

std::vector<std::string> env_names(const Program& program, const Option& option) {
  std::vector<std::string> names;
  if (!program.env_prefix.empty() && !option.positional)
    names.push_back(detail::env_name(program.env_prefix, option.name));
  names.insert(names.end(), option.env.begin(), option.env.end());
  return names;
}

// Stores one option from the command line or the environment and notes where its value came from.
Result<Setting> apply_option(const Program& program, const Bound& b, const Environment& environment) {
  std::string source = "default";
  if (b.cli->count() > 0) {
    if (auto ok = detail::store_option(*b.option, b.cli->reduced_results()); !ok) {
      const std::string name =
          b.option->positional ? detail::option_value_name(*b.option) : "--" + b.option->name;
      return fail(ErrorCode::kInvalidArgument, fmt::format("option {}: {}", name, ok.error().message));
    }
    source = "command line";
  } else {
    for (const std::string& name : env_names(program, *b.option)) {
      const auto at = environment.find(name);
      if (at == environment.end() || at->second.empty()) continue;
      if (auto ok = detail::store_option(*b.option, {at->second}); !ok)
        return fail(ErrorCode::kInvalidArgument,
                    fmt::format("environment variable {}: {}", name, ok.error().message));
      source = "environment " + name;
      break;
    }
  }
  if (b.option->required && source == "default") {
    return fail(ErrorCode::kInvalidArgument,
                b.option->positional ? fmt::format("{} is missing", detail::option_value_name(*b.option))
                                     : fmt::format("option --{} is required", b.option->name));
  }
  return Setting{b.option->name, b.option->secret ? "(secret)" : detail::option_text(b.option->target),
                 source};
}

std::vector<std::string> stray_variables(const Program& program, const Environment& environment) {
  std::vector<std::string> warnings;
  if (program.env_prefix.empty()) return warnings;
  std::vector<std::string> known;
  for (const Option& option : program.options) {
    for (std::string& name : env_names(program, option)) known.push_back(std::move(name));
  }
  for (const Command& command : program.commands) {
    for (const Option& option : command.options) {
      for (std::string& name : env_names(program, option)) known.push_back(std::move(name));
    }
  }
  const std::set<std::string> set(known.begin(), known.end());
  for (auto at = environment.lower_bound(program.env_prefix); at != environment.end(); ++at) {
    if (at->first.compare(0, program.env_prefix.size(), program.env_prefix) != 0) break;
    if (!set.count(at->first))
      warnings.push_back(fmt::format("environment variable {} belongs to no option of {}{}", at->first,
                                     program.name, did_you_mean(at->first, known, "")));
  }
  return warnings;
}

}  // namespace

ParseOutcome parse_options(const Program& program, const std::vector<std::string>& args,
                           const Environment& environment) {
  CLI::App app;
  app.set_help_flag();  // ours lists the environment too
  app.allow_extras();
  app.fallthrough();
  bool help = false;
  bool version = false;
  app.add_flag("--help,-h", help);
  app.add_flag("--version", version);
  std::vector<Bound> bound;
  bind(app, program.options, bound);
  std::vector<std::pair<const Command*, CLI::App*>> commands;
  std::vector<std::vector<Bound>> command_bound(program.commands.size());
  for (std::size_t i = 0; i < program.commands.size(); ++i) {
    CLI::App* sub = app.add_subcommand(program.commands[i].name);
    sub->set_help_flag();
    sub->allow_extras();
    sub->fallthrough();
    bind(*sub, program.commands[i].options, command_bound[i]);
    commands.emplace_back(&program.commands[i], sub);
  }
  try {
    std::vector<std::string> reversed(args.rbegin(), args.rend());  // CLI11 takes them from the back
    app.parse(reversed);
  } catch (const CLI::ArgumentMismatch& error) {  // "--name: 1 required TEXT missing"
    const std::string text = error.what();
    return usage_error(program, fmt::format("option {} needs a value", text.substr(0, text.find(':'))));
  } catch (const CLI::ParseError& error) {
    return usage_error(program, error.what());
  }
  const Command* chosen = nullptr;
  std::vector<std::string> extras = app.remaining();
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const bool taken = commands[i].second->parsed() ||
                       (app.get_subcommands().empty() && commands[i].first->name == program.default_command);
    if (!taken) continue;
    if (chosen)
      return usage_error(program, fmt::format("two commands, '{}' and '{}'; name one", chosen->name,
                                              commands[i].first->name));
    chosen = commands[i].first;
    bound.insert(bound.end(), command_bound[i].begin(), command_bound[i].end());
    const auto more = commands[i].second->remaining();
    extras.insert(extras.end(), more.begin(), more.end());
  }
  ParseOutcome outcome;
  if (help || version) {
    const Command* topic = app.get_subcommands().empty() ? nullptr : chosen;
    outcome.exit_code = kExitGood;
    outcome.text =
        help ? detail::help_text(program, topic) : fmt::format("{} {}\n", program.name, program.version);
    return outcome;
  }
  const bool named = !app.get_subcommands().empty();
  if (auto refused = refuse_extras(program, extras, bound, named)) return *refused;
  if (!program.commands.empty() && !chosen) return usage_error(program, "no command given");
  for (const Bound& b : bound) {
    auto setting = apply_option(program, b, environment);
    if (!setting) return usage_error(program, setting.error().message);
    outcome.settings.push_back(std::move(*setting));
  }
  outcome.command = chosen ? chosen->name : "";
  outcome.warnings = stray_variables(program, environment);
  return outcome;
}

Environment process_environment() {
  Environment environment;
  for (char** at = environ; at && *at; ++at) {
    const std::string entry = *at;
    const std::size_t equals = entry.find('=');
    if (equals != std::string::npos && equals > 0)
      environment[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  return environment;
}

ParseOutcome parse_options(const Program& program, int argc, const char* const* argv) {
  std::vector<std::string> args;
  for (int i = 1; i < argc; ++i) args.emplace_back(argv[i]);
  return parse_options(program, args, process_environment());
}

}  // namespace headroom::base
