// Vocab: the model's alphabet, symbol -> token id.
//
// Loaded once, then immutable and shared. A symbol is one code point. Errors: kNotFound, kInvalidData with
// the path. Source: vocab.json of the model directory ({"vocab": {symbol: id}}).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"

namespace headroom::text {

class Vocab {
 public:
  static base::Result<Vocab> load(const std::filesystem::path& file);
  bool has(char32_t symbol) const;
  // The symbols of `phonemes` the model knows, in order; `dropped` grows by those it does not.
  std::string keep_known(std::string_view phonemes, std::size_t& dropped) const;
  std::vector<std::int64_t> tokens(std::string_view phonemes) const;
  std::size_t size() const { return ids_.size(); }

 private:
  std::unordered_map<char32_t, std::int64_t> ids_;
};

}  // namespace headroom::text
