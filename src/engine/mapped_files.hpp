// Gives the pages of mapped files back to the system: what was read once and is not needed again.
//
// Changes nothing that a program can see: a page that is read again comes from the file. Only for mappings
// that are never written. Thread safe. Errors: none; where it cannot (no /proc), it does nothing.
#pragma once

#include <string>

namespace headroom::engine {

// All read-only mappings of files under `folder`; returns the bytes of address space they cover. Empty:
// nothing.
std::size_t release_mapped_files(const std::string& folder);

}  // namespace headroom::engine
