// VoiceTable: the style vectors of all voices, and the style of a plain voice or a weighted blend.
//
// A voice is 510 rows of 256 float32, little endian; the row is the number of phoneme tokens of the segment
// without the pads, the last row for longer ones (Kokoro's rule). A blend is the weighted mean of the rows.
// Immutable after loading and thread safe. Errors: kInvalidData (a voice file of another size or with a value
// that is not finite), kInvalidArgument (unknown voice, no part, weights that are not finite and above zero).
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "engine/engine.hpp"
#include "engine/manifest.hpp"

namespace headroom::engine {

inline constexpr std::size_t kStyleSize = 256;
inline constexpr std::size_t kStyleRows = 510;
using Style = std::array<float, kStyleSize>;

class VoiceTable {
 public:
  // Every voices/NAME.bin of the manifest.
  static base::Result<VoiceTable> load(const Manifest& manifest);

  // `content`: the bytes of one voice file.
  base::Result<void> add(const std::string& name, std::string_view content);
  base::Result<Style> style(const Voice& voice, std::size_t token_count) const;
  const std::vector<std::string>& names() const { return names_; }  // sorted

 private:
  std::map<std::string, std::vector<float>, std::less<>> rows_;
  std::vector<std::string> names_;
};

}  // namespace headroom::engine
