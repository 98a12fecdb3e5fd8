// Reads and checks manifest.json of a model directory.
#include "engine/manifest.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/sha256.hpp"

namespace headroom::engine {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::string_view kRemedy = "run ./dev setup, or point --model-dir at a whole model directory";
constexpr std::size_t kMaxManifestBytes = std::size_t{1} << 20;

bool stays_inside(const std::filesystem::path& path) {
  return !path.empty() && path.is_relative() &&
         std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".." || part == "."; });
}

base::Result<void> verify_file(const Manifest& manifest, const ModelFile& file) {
  const std::string path = manifest.full_path(file.path);
  std::error_code missing;
  const auto size = std::filesystem::file_size(path, missing);
  if (missing) {
    return fail(ErrorCode::kNotFound, fmt::format("model file '{}' is missing; {}", path, kRemedy));
  }
  if (size != file.bytes) {
    return fail(ErrorCode::kInvalidData, fmt::format("model file '{}' has {} bytes, the manifest says {}; {}",
                                                     path, size, file.bytes, kRemedy));
  }
  auto got = base::sha256_file(path);
  if (!got) return tl::unexpected(got.error());
  if (*got != file.sha256) {
    return fail(ErrorCode::kInvalidData,
                fmt::format("model file '{}' has SHA-256 {}, the manifest says {}; {}", path, *got,
                            file.sha256, kRemedy));
  }
  return {};
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Throws what nlohmann throws on a missing or mistyped key; the caller turns that into a value.
base::Result<Manifest> parse(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  if (json.at("schema") != "headroom/model" || json.at("version") != 1) {
    return fail(ErrorCode::kInvalidData, "schema or version is not headroom/model 1");
  }
  Manifest manifest;
  manifest.model = json.at("model").get<std::string>();
  manifest.sample_rate = json.at("sample_rate").get<int>();
  for (const auto& entry : json.at("files")) {
    ModelFile file{entry.at("path").get<std::string>(), entry.at("bytes").get<std::uint64_t>(),
                   entry.at("sha256").get<std::string>()};
    if (!stays_inside(file.path)) {
      return fail(ErrorCode::kInvalidData, fmt::format("path '{}' leaves the directory", file.path));
    }
    if (!is_sha256(file.sha256)) {
      return fail(ErrorCode::kInvalidData, fmt::format("'{}' has no valid sha256", file.path));
    }
    manifest.files.push_back(std::move(file));
  }
  if (manifest.sample_rate <= 0 || manifest.files.empty()) {
    return fail(ErrorCode::kInvalidData, "sample_rate or files is empty");
  }
  return manifest;
}

}  // namespace

std::string Manifest::full_path(std::string_view relative) const {
  return (std::filesystem::path(directory) / relative).string();
}

bool Manifest::lists(std::string_view relative) const {
  return std::any_of(files.begin(), files.end(), [&](const ModelFile& f) { return f.path == relative; });
}

base::Result<Manifest> load_manifest(const std::string& directory) {
  const std::string path = (std::filesystem::path(directory) / "manifest.json").string();
  auto text = base::read_file(path, kMaxManifestBytes);
  if (!text) {
    return fail(text.error().code,
                fmt::format("no model at '{}': {}; {}", directory, text.error().message, kRemedy));
  }
  try {
    auto manifest = parse(*text);
    if (!manifest) {
      return fail(manifest.error().code, fmt::format("{}: {}; {}", path, manifest.error().message, kRemedy));
    }
    manifest->directory = directory;
    manifest->sha256 = base::sha256_hex(*text);
    return manifest;
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kInvalidData, fmt::format("{} is not a model manifest; {}", path, kRemedy),
                error.what());
  }
}

base::Result<void> check_nothing_unlisted(const Manifest& manifest) {
  namespace fs = std::filesystem;
  std::vector<std::string> there{"vocab.json"};
  for (const std::string folder : {"ir", "lexicon", "onnx"}) {
    std::error_code failed;  // a folder that is not there holds nothing
    for (fs::directory_iterator it(manifest.full_path(folder), failed), end; !failed && it != end;
         it.increment(failed)) {
      const auto kind = it->path().extension();
      if (kind == ".xml" || kind == ".bin" || kind == ".json" || kind == ".onnx")
        there.push_back(folder + '/' + it->path().filename().string());
    }
  }
  for (const auto& name : there) {
    std::error_code missing;
    if (manifest.lists(name) || !fs::exists(manifest.full_path(name), missing)) continue;
    return fail(ErrorCode::kInvalidData,
                fmt::format("model file '{}' is not in the manifest; {}", manifest.full_path(name), kRemedy));
  }
  return {};
}

base::Result<void> verify_files(const Manifest& manifest) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&]() -> base::Result<void> {
    for (std::size_t i = next++; i < manifest.files.size(); i = next++) {
      if (auto right = verify_file(manifest, manifest.files[i]); !right) return right;
    }
    return {};
  };
  // Two readers: hashing is as slow as reading, and the largest file is more than half of all bytes.
  auto beside = std::async(std::launch::async, work);
  auto here = work();
  auto there = beside.get();
  return here ? there : here;
}

}  // namespace headroom::engine
