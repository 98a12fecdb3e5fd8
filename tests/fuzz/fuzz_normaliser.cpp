// Fuzzes cleaning and normalising: any bytes, any set of kinds, both varieties of English.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "text/clean.hpp"
#include "text/normalise.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headroom::text;
  static const Normaliser american(false);
  static const Normaliser british(true);
  if (size < 2) return 0;
  // The first two bytes choose the kinds; mostly all of them.
  NormaliseOptions options;
  if ((data[0] & 0xC0U) == 0) options.kinds = (static_cast<std::uint32_t>(data[0]) << 8U) | data[1];
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const CleanText cleaned = clean(text);
  const std::string out = (data[1] & 1U ? british : american).apply(cleaned.text, options);
  // Words are longer than the signs they stand for, but never without bound.
  if (out.size() > 1000 + 120 * cleaned.text.size()) std::abort();
  return 0;
}
