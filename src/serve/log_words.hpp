// What clients say, in a form that keeps a log line one line of words. Pure; no errors.
#pragma once

#include <string>
#include <string_view>

namespace headroom::serve {

std::string log_id(std::string id);             // a client chooses its ids
std::string log_quoted(std::string_view text);  // in quotes

}  // namespace headroom::serve
