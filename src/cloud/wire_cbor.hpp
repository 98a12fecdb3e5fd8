// CBOR as Smithy's rpc-v2-cbor uses it: definite and indefinite lengths in, definite out; tag 1 for times.
//
// Pure. Every length of the input is checked against what is left before it is used; nesting is limited
// to 32. Byte strings are taken as text. Errors: kInvalidData. Source: RFC 8949; Smithy RPC v2 CBOR protocol.
#pragma once

#include <string>
#include <string_view>

#include "cloud/json.hpp"

namespace headroom::cloud {

base::Result<Json> decode_cbor(std::string_view bytes);
std::string encode_cbor(const Json& value);  // members that are times (is_time_member) get tag 1 and a double

}  // namespace headroom::cloud
