// StateFile: the saved world in one folder, owned by one process.
//
// DIR/state.json (mode 0600, replaced whole) and DIR/lock (held with flock for the life of the process).
// Thread safe. Errors: kConflict when another tts-local holds the folder (names its pid), kIo, kInvalidData
// for an unreadable state.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/guarded.hpp"
#include "base/result.hpp"
#include "cloud/world.hpp"

namespace headroom::cloud {

class StateFile {
 public:
  static base::Result<std::unique_ptr<StateFile>> open(const std::string& folder);
  ~StateFile();

  base::Result<std::vector<Orphan>> load(World& world) const;  // a folder without state is an empty world
  base::Result<void> save(const base::Guarded<World>& world);  // what the world is when its turn comes

 private:
  StateFile(std::string folder, int lock) : folder_(std::move(folder)), lock_(lock) {}

  std::string folder_;
  int lock_;
  std::mutex order_;  // so that an older world never replaces a newer one
};

}  // namespace headroom::cloud
