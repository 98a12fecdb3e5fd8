// SHA-256 of bytes and of files, as 64 lower-case hex digits. Thread safe. Errors: as read_file, without a
// size limit.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace headroom::base {

std::string sha256_hex(std::string_view bytes);
Result<std::string> sha256_file(const std::string& path);

}  // namespace headroom::base
