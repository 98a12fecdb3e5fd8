// Reads /proc/self/maps.
#include "engine/mapped_files.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <sys/mman.h>

namespace headroom::engine {
namespace {

bool hex(std::string_view text, std::uintptr_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, 16);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::size_t release_mapped_files(const std::string& folder) {
  if (folder.empty()) return 0;
  std::error_code failed;
  const auto real = std::filesystem::weakly_canonical(folder, failed);
  if (failed) return 0;
  const std::string prefix = real.string() + "/";
  std::size_t bytes = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    // 7f12...-7f34... r--p 00000000 08:01 1234   /path
    std::istringstream fields(line);
    std::string range;
    std::string rights;
    fields >> range >> rights;
    const auto slash = line.find('/');
    if (rights.size() < 2 || rights[0] != 'r' || rights[1] != '-' || slash == std::string::npos) continue;
    if (line.compare(slash, prefix.size(), prefix) != 0) continue;
    const auto dash = range.find('-');
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    const std::string_view view = range;
    if (dash == std::string::npos || !hex(view.substr(0, dash), begin) || !hex(view.substr(dash + 1), end))
      continue;
    if (::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED) == 0) bytes += end - begin;
  }
  return bytes;
}

}  // namespace headroom::engine
