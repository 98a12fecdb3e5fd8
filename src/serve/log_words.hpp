// Lines of the log, and what clients say in a form that keeps a line one line of words. Pure; no errors.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headroom::serve {

std::string log_id(std::string id);             // a client chooses its ids
std::string log_quoted(std::string_view text);  // in quotes

// How a request ended of which no more is known, or may be read; `error`: an error code of the API, or empty.
std::string request_end(std::string_view id, std::string_view route, std::string_view outcome,
                        std::string_view error = {});
// What became of the work in flight at the end. `idle`: all of it was done in time; `taking`: connections
// whose clients had not taken their answers yet.
std::string drained_words(bool idle, std::size_t taking);

}  // namespace headroom::serve
