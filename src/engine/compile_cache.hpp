// CompileCache: the folder in which the runtime keeps compiled graphs, with a SHA-256 beside each.
//
// A compiled graph holds the weights it computes with, and the runtime takes it unseen: a damaged one would
// speak other audio. Knows no runtime: a compiled graph is any *.blob of the folder. One instance at a time
// compiles into a folder; another one would rewrite the graph that this one has mapped. So the object holds
// the folder's lock as long as it lives. Single thread. Errors: none; where the folder cannot be written
// nothing is kept, and there is nothing to lock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace headroom::engine {

class CompileCache {
 public:
  explicit CompileCache(std::filesystem::path folder);  // waits for its turn
  ~CompileCache();
  CompileCache(const CompileCache&) = delete;
  CompileCache& operator=(const CompileCache&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  // Reads every graph once and removes those whose sum is another one or missing; returns their paths.
  std::vector<std::string> drop_damaged();
  // False: a damaged graph could not be removed, so none of the folder may be loaded.
  bool usable() const { return usable_; }
  // Writes the sums of the graphs that were compiled since.
  void seal() const;

 private:
  using State = std::pair<std::filesystem::file_time_type, std::uintmax_t>;
  static State state_of(const std::filesystem::path& graph);

  std::filesystem::path folder_;
  int lock_ = -1;
  bool usable_ = true;
  std::map<std::filesystem::path, State> whole_;  // time and size of the graphs that were found whole
};

}  // namespace headroom::engine
