// Precision of the vocoder: float32, or bfloat16 where the processor multiplies it in hardware.
//
// bf16 without such hardware would be emulated, slower than float and with another sound, so kAuto never
// takes it there. The front stays in float always (setup/vocoder_graph.py says why). Thread
// safe, no errors. Source of the bits: Intel SDM volume 2, CPUID leaf 7: subleaf 0 EDX bit 22 (AMX-BF16),
// subleaf 1 EAX bit 5 (AVX512-BF16).
#pragma once

#include <string_view>

namespace headroom::engine {

enum class Precision { kAuto, kF32, kBf16 };

struct CpuFeatures {
  bool avx512_bf16 = false;
  bool amx_bf16 = false;
};

CpuFeatures cpu_features();

// kAuto becomes what the processor is good at; the others stay as they are.
Precision resolve_precision(Precision wanted, const CpuFeatures& cpu);

Precision parse_precision(std::string_view name);  // "f32", "bf16"; everything else is kAuto
std::string_view precision_name(Precision precision);

}  // namespace headroom::engine
