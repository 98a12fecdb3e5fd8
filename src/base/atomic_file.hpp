// Files that are whole or not there: write to a temporary name, sync, rename, sync the folder; and bounded
// reading.
//
// Does not lock against a second writer (the last rename wins). Thread safe; blocks on the disk.
// Errors: kIo with path and reason; kNotFound for a missing file; kResourceExhausted for one above the limit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/result.hpp"

namespace headroom::base {

inline constexpr std::size_t kMaxArtifactBytes = std::size_t{64} << 20;

// The folder must exist (see make_directories).
Result<void> write_file_atomically(const std::string& path, std::string_view content, mode_t mode = 0644);
Result<std::string> read_file(const std::string& path, std::size_t max_bytes = kMaxArtifactBytes);
// mkdir -p.
Result<void> make_directories(const std::string& path, mode_t mode = 0755);
// Removes the file and syncs its folder; a file that is not there is fine.
Result<void> remove_file(const std::string& path);
bool file_exists(const std::string& path);

}  // namespace headroom::base
