// How an option's text becomes a value and back; used by options.cpp alone. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/options.hpp"

namespace headroom::base::detail {

// Stores `texts` (one, or several for lists) in the target after checking type, range and choices.
Result<void> store_option(const Option& option, const std::vector<std::string>& texts);
std::string option_text(const OptionTarget& target);
std::string option_value_name(const Option& option);
bool is_flag(const Option& option);
bool is_list(const Option& option);
std::string env_name(const std::string& prefix, const std::string& option);
std::string help_text(const Program& program, const Command* command);

}  // namespace headroom::base::detail
