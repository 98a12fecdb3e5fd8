// Lexicon: word -> phonemes for one variety of English, from the model directory's gold and silver lists.
//
// It only looks words up, with the case variants the lists imply ("London" also answers "london", "the" also
// "The"); forms that are not listed are english.hpp's work. Loaded once, then immutable and shared. Errors:
// kNotFound and kInvalidData with the path. Source: misaki's us/gb gold and silver JSON files: an object of
// word: "phonemes", or word: {"DEFAULT": ..., "NOUN": ..., "None": ...} where the sound depends on the word's
// role.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace headroom::text {

class Lexicon {
 public:
  struct Entry {
    std::string_view key;
    std::string_view value;  // phonemes, or the JSON object of variants
    bool variants = false;
    bool gold = true;
  };

  static base::Result<Lexicon> load(const std::filesystem::path& gold, const std::filesystem::path& silver);
  Lexicon(Lexicon&&) noexcept = default;
  Lexicon& operator=(Lexicon&&) noexcept = default;

  // Exact spelling first, then the other case of the first letter. Gold before silver.
  const Entry* find(std::string_view word) const;
  const Entry* find_exact(std::string_view word) const;
  std::size_t size() const { return entries_.size(); }

  // The variant for `tag`, if the entry has one; an explicit null is an empty optional with has_tag true.
  static std::optional<std::string_view> variant(const Entry& entry, std::string_view tag,
                                                 bool* has_tag = nullptr);

 private:
  Lexicon() = default;
  base::Result<void> add_file(const std::filesystem::path& file, bool gold);
  void insert(const Entry& entry);
  void rehash(std::size_t slots);

  std::deque<std::string> arena_;  // file contents and unescaped strings; entries point into it
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;  // open addressing; index into entries_ + 1
};

}  // namespace headroom::text
