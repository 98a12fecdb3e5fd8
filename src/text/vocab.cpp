// The model's alphabet; see vocab.hpp.
#include "text/vocab.hpp"

#include <fstream>

#include <nlohmann/json.hpp>

#include "text/utf8.hpp"

namespace headroom::text {

using base::ErrorCode;
using base::fail;
using base::Result;

Result<Vocab> Vocab::load(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    return fail(ErrorCode::kNotFound,
                "cannot read '" + file.string() + "'; run './dev setup' or name another --model-dir",
                "load vocabulary");
  }
  const auto json = nlohmann::json::parse(in, nullptr, false);
  const auto bad = [&](const std::string& what) {
    return fail(ErrorCode::kInvalidData, "'" + file.string() + "' " + what + "; run './dev setup' again",
                "load vocabulary");
  };
  if (!json.is_object()) return bad("is not a JSON object");
  const auto& table = json.contains("vocab") ? json["vocab"] : json;
  if (!table.is_object()) return bad("holds no table 'vocab'");
  Vocab vocab;
  for (const auto& [symbol, id] : table.items()) {
    std::size_t at = 0;
    const char32_t c = symbol.empty() ? kBad : next_code_point(symbol, at);
    if (c == kBad || at != symbol.size() || !id.is_number_integer())
      return bad("has an entry that is not symbol: number");
    vocab.ids_.emplace(c, id.get<std::int64_t>());
  }
  if (vocab.ids_.empty()) return bad("is empty");
  return vocab;
}

bool Vocab::has(char32_t symbol) const { return ids_.contains(symbol); }

std::string Vocab::keep_known(std::string_view phonemes, std::size_t& dropped) const {
  std::string out;
  out.reserve(phonemes.size());
  for (std::size_t at = 0; at < phonemes.size();) {
    const char32_t c = next_code_point(phonemes, at);
    if (c != kBad && has(c)) {
      append_utf8(out, c);
    } else {
      ++dropped;
    }
  }
  return out;
}

std::vector<std::int64_t> Vocab::tokens(std::string_view phonemes) const {
  std::vector<std::int64_t> out;
  out.reserve(phonemes.size());
  for (std::size_t at = 0; at < phonemes.size();) {
    const auto found = ids_.find(next_code_point(phonemes, at));
    if (found != ids_.end()) out.push_back(found->second);
  }
  return out;
}

}  // namespace headroom::text
