// A small model directory on disk for tests: given files and a manifest that fits them. Tests only.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <fmt/format.h>

#include "base/sha256.hpp"

namespace headroom::engine {

class TestModelDir {
 public:
  TestModelDir() {
    char name[] = "/tmp/headroom-model-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~TestModelDir() { std::filesystem::remove_all(path_); }
  TestModelDir(const TestModelDir&) = delete;
  TestModelDir& operator=(const TestModelDir&) = delete;

  const std::string& path() const { return path_; }

  void write(const std::string& name, const std::string& content) const {
    const auto full = std::filesystem::path(path_) / name;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full, std::ios::binary) << content;
  }

  // Writes the files and a manifest that lists them.
  void fill(const std::map<std::string, std::string>& files) const {
    std::string list;
    for (const auto& [name, content] : files) {
      write(name, content);
      list += fmt::format(R"({}{{"path":"{}","bytes":{},"sha256":"{}","source":"test","licence":"none"}})",
                          list.empty() ? "" : ",", name, content.size(), base::sha256_hex(content));
    }
    write("manifest.json",
          fmt::format(R"({{"schema":"headroom/model","version":1,"model":"test","sample_rate":24000,)"
                      R"("files":[{}]}})",
                      list));
  }

 private:
  std::string path_;
};

}  // namespace headroom::engine
