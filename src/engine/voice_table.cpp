// Loads voice files and mixes their rows.
#include "engine/voice_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/atomic_file.hpp"

namespace headroom::engine {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kVoiceBytes = kStyleRows * kStyleSize * sizeof(float);
constexpr std::string_view kFolder = "voices/";
constexpr std::string_view kSuffix = ".bin";

}  // namespace

base::Result<VoiceTable> VoiceTable::load(const Manifest& manifest) {
  VoiceTable table;
  for (const auto& file : manifest.files) {
    std::string_view name = file.path;
    if (!name.starts_with(kFolder) || !name.ends_with(kSuffix)) continue;
    name.remove_prefix(kFolder.size());
    name.remove_suffix(kSuffix.size());
    auto content = base::read_file(manifest.full_path(file.path), kVoiceBytes);
    if (!content) return tl::unexpected(content.error());
    if (auto added = table.add(std::string(name), *content); !added) return tl::unexpected(added.error());
  }
  if (table.names_.empty()) {
    return fail(ErrorCode::kInvalidData,
                fmt::format("the manifest of '{}' lists no voice; run ./dev setup", manifest.directory));
  }
  return table;
}

base::Result<void> VoiceTable::add(const std::string& name, std::string_view content) {
  if (content.size() != kVoiceBytes) {
    return fail(ErrorCode::kInvalidData, fmt::format("voice '{}' has {} bytes instead of {}; run ./dev setup",
                                                     name, content.size(), kVoiceBytes));
  }
  std::vector<float> values(kStyleRows * kStyleSize);
  std::memcpy(values.data(), content.data(), content.size());
  if (!std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); })) {
    return fail(ErrorCode::kInvalidData,
                fmt::format("voice '{}' holds a value that is not a number; run ./dev setup", name));
  }
  rows_[name] = std::move(values);
  names_.clear();
  for (const auto& [key, unused] : rows_) names_.push_back(key);
  return {};
}

base::Result<Style> VoiceTable::style(const Voice& voice, std::size_t token_count) const {
  const std::size_t offset = std::min(token_count, kStyleRows - 1) * kStyleSize;
  double total = 0;
  for (const auto& part : voice) {
    if (!std::isfinite(part.weight) || part.weight <= 0) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("weight {} of voice '{}' must be a number above zero", part.weight, part.name));
    }
    total += static_cast<double>(part.weight);
  }
  if (voice.empty())
    return fail(ErrorCode::kInvalidArgument, "no voice was named; use for example 'af_heart'");

  std::array<double, kStyleSize> sum{};
  for (const auto& part : voice) {
    const auto found = rows_.find(part.name);
    if (found == rows_.end()) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("unknown voice '{}'; the model has {} voices, for example '{}'", part.name,
                              names_.size(), names_.empty() ? "" : names_.front()));
    }
    const double share = static_cast<double>(part.weight) / total;
    for (std::size_t i = 0; i < kStyleSize; ++i)
      sum[i] += share * static_cast<double>(found->second[offset + i]);
  }
  Style style{};
  std::transform(sum.begin(), sum.end(), style.begin(), [](double v) { return static_cast<float>(v); });
  return style;
}

}  // namespace headroom::engine
