// A small coverage-guided fuzzer for what libFuzzer's compiler cannot build: the g++ build's main().
//
// Understands libFuzzer's options that run.py uses: -max_total_time=S -seed=N -max_len=N -artifact_prefix=P,
// then folders; the first is where new inputs are kept, or single files, which are run once. Inputs that
// reach a new edge (g++'s -fsanitize-coverage=trace-pc) join the corpus. A crash is the sanitizer's or
// abort(): the input is written before it runs, so that it is there afterwards. Single threaded.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kEdges = 1U << 16U;
std::array<std::uint8_t, kEdges> seen_now{};
std::array<std::uint8_t, kEdges> seen_ever{};
thread_local std::uintptr_t previous_place = 0;

using Bytes = std::vector<std::uint8_t>;
std::mt19937_64 dice{1};  // -seed=

std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(dice() % n); }

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), {});
}
void write_file(const std::filesystem::path& path, const Bytes& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

std::string name_of(const Bytes& bytes) {
  std::uint64_t h = 1469598103934665603ULL;
  for (const auto b : bytes) h = (h ^ b) * 1099511628211ULL;
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(h));
  return text.data();
}

// True when the input reached an edge, or a new order of magnitude of passes through one, that none did
// before.
bool run(const Bytes& input, const std::filesystem::path& artifact) {
  write_file(artifact, input);
  seen_now.fill(0);
  previous_place = 0;
  LLVMFuzzerTestOneInput(input.data(), input.size());
  bool found = false;
  for (std::size_t i = 0; i < kEdges; ++i) {
    if (seen_now[i] == 0) continue;
    const auto bucket =
        static_cast<std::uint8_t>(1U << (31U - static_cast<unsigned>(__builtin_clz(seen_now[i]))));
    if ((seen_ever[i] & bucket) == 0) found = true;
    seen_ever[i] |= bucket;
  }
  return found;
}

Bytes mutated(const std::vector<Bytes>& corpus, std::size_t most) {
  Bytes out = corpus[below(corpus.size())];
  const std::size_t rounds = 1 + below(6);
  for (std::size_t r = 0; r < rounds; ++r) {
    const std::size_t at = below(out.size() + 1);
    const auto here = out.begin() + static_cast<std::ptrdiff_t>(at);
    switch (below(7)) {
      case 0:
        if (at < out.size()) out[at] ^= static_cast<std::uint8_t>(1U << below(8));
        break;
      case 1:
        if (at < out.size()) out[at] = static_cast<std::uint8_t>(dice());
        break;
      case 2:
        out.insert(here, static_cast<std::uint8_t>(dice()));
        break;
      case 3:
        if (at < out.size()) out.erase(here, here + static_cast<std::ptrdiff_t>(1 + below(out.size() - at)));
        break;
      case 4: {  // a stretch of another input
        const Bytes& other = corpus[below(corpus.size())];
        const std::size_t from = below(other.size() + 1);
        const std::size_t n = below(other.size() - from + 1);
        out.insert(here, other.begin() + static_cast<std::ptrdiff_t>(from),
                   other.begin() + static_cast<std::ptrdiff_t>(from + n));
        break;
      }
      case 5: {  // the values that break length fields
        constexpr std::uint8_t kEdgeValues[] = {0, 1, 0x7F, 0x80, 0xFF, 0x7E, 0x0A, 0x0D};
        for (std::size_t i = at; i < out.size() && i < at + 1 + below(4); ++i) out[i] = kEdgeValues[below(8)];
        break;
      }
      default: {  // again, several times
        const std::size_t n = std::min<std::size_t>(below(16), out.size() - at);
        const Bytes piece(here, here + static_cast<std::ptrdiff_t>(n));
        for (std::size_t times = below(8); times-- > 0;)
          out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), piece.begin(), piece.end());
        break;
      }
    }
  }
  if (out.size() > most) out.resize(most);
  return out;
}

}  // namespace

extern "C" void __sanitizer_cov_trace_pc() {
  const auto place = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) >> 1U;
  auto& count = seen_now[(place ^ previous_place) % kEdges];
  if (count < 255) ++count;
  previous_place = place >> 1U;
}

int main(int argc, char** argv) {
  double seconds = 60;
  std::size_t most = 4096;
  std::string prefix = "./";
  std::vector<std::filesystem::path> places;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    const auto value = a.substr(std::min(a.size(), a.find('=') + 1));
    if (a.rfind("-max_total_time=", 0) == 0)
      seconds = std::stod(value);
    else if (a.rfind("-seed=", 0) == 0)
      dice.seed(std::stoull(value));
    else if (a.rfind("-max_len=", 0) == 0)
      most = std::stoull(value);
    else if (a.rfind("-artifact_prefix=", 0) == 0)
      prefix = value;
    else if (a.empty() || a[0] != '-')
      places.emplace_back(a);
  }
  const std::filesystem::path artifact = prefix + "crash-input";
  std::vector<Bytes> corpus;
  for (const auto& place : places) {
    if (!std::filesystem::is_directory(place)) {
      run(read_file(place), artifact);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(place)) {
      if (entry.is_regular_file()) corpus.push_back(read_file(entry.path()));
    }
  }
  if (corpus.empty()) corpus.push_back({'a'});
  for (std::size_t i = 0, n = corpus.size(); i < n; ++i) run(corpus[i], artifact);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::uint64_t runs = 0;
  const bool keep = !places.empty() && std::filesystem::is_directory(places.front());
  while (std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < 64; ++i, ++runs) {
      Bytes input = mutated(corpus, most);
      if (!run(input, artifact)) continue;
      if (keep) write_file(places.front() / name_of(input), input);
      corpus.push_back(std::move(input));
    }
  }
  std::filesystem::remove(artifact);
  std::fprintf(stderr, "Done %llu runs in %.0f second(s); corpus %zu\n",
               static_cast<unsigned long long>(runs), seconds, corpus.size());
  return 0;
}
