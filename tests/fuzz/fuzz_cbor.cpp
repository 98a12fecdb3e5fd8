// CBOR from anyone: decoding ends with a value or an error, and a value survives encoding and decoding again.
#include <cstdint>
#include <string>

#include "cloud/json.hpp"
#include "cloud/wire_cbor.hpp"

using namespace headroom::cloud;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto first = decode_cbor({reinterpret_cast<const char*>(data), size});
  if (!first) return 0;
  const std::string encoded = encode_cbor(*first);
  const auto second = decode_cbor(encoded);
  // A NaN is not equal to itself, so what is compared are the bytes.
  if (!second || encode_cbor(*second) != encoded) __builtin_trap();
  return 0;
}
