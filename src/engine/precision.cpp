// Asks the processor.
#include "engine/precision.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace headroom::engine {

CpuFeatures cpu_features() {
  CpuFeatures features;
#if defined(__x86_64__)
  // avx512f also says that the operating system saves the wide registers.
  if (!__builtin_cpu_supports("avx512f")) return features;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) features.amx_bf16 = (d >> 22U & 1U) != 0;
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) features.avx512_bf16 = (a >> 5U & 1U) != 0;
#endif
  return features;
}

Precision resolve_precision(Precision wanted, const CpuFeatures& cpu) {
  if (wanted != Precision::kAuto) return wanted;
  return cpu.avx512_bf16 || cpu.amx_bf16 ? Precision::kBf16 : Precision::kF32;
}

Precision parse_precision(std::string_view name) {
  if (name == "f32") return Precision::kF32;
  return name == "bf16" ? Precision::kBf16 : Precision::kAuto;
}

std::string_view precision_name(Precision precision) {
  switch (precision) {
    case Precision::kF32:
      return "f32";
    case Precision::kBf16:
      return "bf16";
    case Precision::kAuto:
      break;
  }
  return "auto";
}

}  // namespace headroom::engine
