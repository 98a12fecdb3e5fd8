// Finds and opens the shared object.
#include "engine/onnxruntime_library.hpp"

#include <cstdlib>
#include <filesystem>
#include <optional>

#include <dlfcn.h>
#include <fmt/format.h>
#include <onnxruntime_c_api.h>

#include "base/guarded.hpp"

namespace headroom::engine {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::string_view kRemedy =
    "run ./dev setup, or name a libonnxruntime.so of 1.21 or later with --onnxruntime-library";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

base::Result<OnnxRuntimeLibrary> open_one(const std::string& path) {
  ::dlerror();
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = ::dlerror();
    return fail(ErrorCode::kNotFound, why ? why : fmt::format("{} cannot be opened", path));
  }
  using GetBase = const OrtApiBase* (*)();
  const auto get_base = reinterpret_cast<GetBase>(::dlsym(handle, "OrtGetApiBase"));
  if (!get_base) {
    ::dlclose(handle);
    return fail(ErrorCode::kNotFound, fmt::format("{} is not ONNX Runtime", path));
  }
  const OrtApiBase* base = get_base();
  const OrtApi* api = base->GetApi(ORT_API_VERSION);
  if (!api) {  // it says so on standard error too; it stays open, since its threads may have started
    return fail(ErrorCode::kUnsupported,
                fmt::format("{} is ONNX Runtime {}, which is too old", path, base->GetVersionString()));
  }
  Dl_info info{};
  const bool known = ::dladdr(reinterpret_cast<const void*>(base->GetApi), &info) != 0 && info.dli_fname;
  return OnnxRuntimeLibrary{
      api, std::filesystem::path(known ? info.dli_fname : path.c_str()).parent_path().string(),
      base->GetVersionString()};
}

}  // namespace

std::vector<std::string> onnxruntime_candidates(const std::string& named, const std::string& cache) {
  if (!named.empty()) return {named};
  std::vector<std::string> found{"libonnxruntime.so.1"};
  if (!cache.empty()) found.push_back(cache + "/onnxruntime-1.32.0/lib/libonnxruntime.so.1");
  return found;
}

std::string setup_cache() {
  if (auto cache = environment("HEADROOM_CACHE"); !cache.empty()) return cache;
  if (auto cache = environment("XDG_CACHE_HOME"); !cache.empty()) return cache + "/headroom";
  const auto home = environment("HOME");
  return home.empty() ? home : home + "/.cache/headroom";
}

base::Result<OnnxRuntimeLibrary> open_onnxruntime(const std::string& named) {
  static base::Guarded<std::optional<OnnxRuntimeLibrary>> opened;
  auto library = opened.lock();
  if (*library) return **library;
  std::string tried;
  auto code = ErrorCode::kNotFound;
  for (const auto& path : onnxruntime_candidates(named, setup_cache())) {
    auto one = open_one(path);
    if (one) {
      *library = *one;
      return one;
    }
    if (one.error().code == ErrorCode::kUnsupported) code = ErrorCode::kUnsupported;
    tried += fmt::format("{}{}", tried.empty() ? "" : "; ", one.error().message);
  }
  return fail(code, fmt::format("ONNX Runtime was not found ({}); {}", tried, kRemedy));
}

}  // namespace headroom::engine
