// A bounded CBOR reader and a small writer.
#include "cloud/wire_cbor.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "cloud/wire_query.hpp"

namespace headroom::cloud {
namespace {

constexpr int kMaxDepth = 32;
constexpr std::uint64_t kIndefinite = ~std::uint64_t{0};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  bool value(Json& out, int depth = 0) {
    std::uint8_t head = 0;
    if (depth > kMaxDepth || !byte(head)) return false;
    // A tag does not nest, its value is what counts; in a loop, so that a row of tags takes no stack.
    while (head >> 5U == 6) {
      std::uint64_t tag = 0;
      if (!argument(head, tag) || (head & 31U) == 31 || !byte(head)) return false;
    }
    return after_head(head, out, depth);
  }
  bool done() const { return left_.empty(); }

 private:
  bool byte(std::uint8_t& out) {
    if (left_.empty()) return false;
    out = static_cast<std::uint8_t>(left_.front());
    left_.remove_prefix(1);
    return true;
  }

  bool big_endian(int bytes, std::uint64_t& out) {
    out = 0;
    for (int i = 0; i < bytes; ++i) {
      std::uint8_t b = 0;
      if (!byte(b)) return false;
      out = out << 8U | b;
    }
    return true;
  }

  bool argument(std::uint8_t head, std::uint64_t& out) {
    const std::uint8_t low = head & 31U;
    if (low < 24) {
      out = low;
      return true;
    }
    if (low <= 27) return big_endian(1 << (low - 24), out);
    out = kIndefinite;
    return low == 31;
  }

  bool at_break() {
    if (left_.empty() || static_cast<std::uint8_t>(left_.front()) != 0xff) return false;
    left_.remove_prefix(1);
    return true;
  }

  bool text(std::uint8_t major, std::uint64_t length, std::string& out) {
    if (length != kIndefinite) {
      if (length > left_.size()) return false;
      out.append(left_.substr(0, length));
      left_.remove_prefix(length);
      return true;
    }
    while (!at_break()) {
      std::uint8_t head = 0;
      std::uint64_t piece = 0;
      if (!byte(head) || head >> 5U != major || !argument(head, piece) || piece == kIndefinite ||
          !text(major, piece, out))
        return false;
    }
    return true;
  }

  bool array(std::uint64_t length, Json& out, int depth) {
    out = Json::array();
    for (std::uint64_t i = 0; length == kIndefinite ? !at_break() : i < length; ++i) {
      Json item;
      if (!value(item, depth + 1)) return false;
      out.push_back(std::move(item));
    }
    return true;
  }

  bool map(std::uint64_t length, Json& out, int depth) {
    out = Json::object();
    for (std::uint64_t i = 0; length == kIndefinite ? !at_break() : i < length; ++i) {
      Json key, item;
      if (!value(key, depth + 1) || !key.is_string() || !value(item, depth + 1)) return false;
      if (!item.is_null()) out[key.get<std::string>()] = std::move(item);
    }
    return true;
  }

  static double half(std::uint64_t bits) {
    const int exponent = static_cast<int>(bits >> 10U & 31U);
    const double mantissa = static_cast<double>(bits & 1023U);
    const double size = exponent == 0    ? std::ldexp(mantissa, -24)
                        : exponent == 31 ? (mantissa == 0 ? HUGE_VAL : std::nan(""))
                                         : std::ldexp(mantissa + 1024, exponent - 25);
    return (bits & 0x8000U) != 0 ? -size : size;
  }

  bool simple(std::uint8_t low, std::uint64_t bits, Json& out) {
    switch (low) {
      case 20:
        out = false;
        return true;
      case 21:
        out = true;
        return true;
      case 22:
      case 23:
        out = nullptr;
        return true;
      case 25:
        out = half(bits);
        return true;
      case 26:
        out = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
        return true;
      case 27:
        out = std::bit_cast<double>(bits);
        return true;
      default:
        return false;
    }
  }

  bool after_head(std::uint8_t head, Json& out, int depth) {
    const std::uint8_t major = head >> 5U;
    std::uint64_t number = 0;
    if (!argument(head, number)) return false;
    const bool indefinite = number == kIndefinite && (head & 31U) == 31;
    switch (major) {
      case 0:
        out = number;
        return !indefinite;
      case 1:
        if (indefinite || number > static_cast<std::uint64_t>(INT64_MAX)) return false;
        out = -1 - static_cast<std::int64_t>(number);
        return true;
      case 2:
      case 3: {
        std::string content;
        if (!text(major, number, content)) return false;
        out = std::move(content);
        return true;
      }
      case 4:
        return array(number, out, depth);
      case 5:
        return map(number, out, depth);
      default:
        return simple(head & 31U, number, out);
    }
  }

  std::string_view left_;
};

void write_head(std::string& out, int major, std::uint64_t number) {
  const auto put = [&](int low, int bytes) {
    out += static_cast<char>(major << 5 | low);
    for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(number >> (8 * i) & 0xffU);
  };
  if (number < 24)
    put(static_cast<int>(number), 0);
  else if (number <= 0xff)
    put(24, 1);
  else if (number <= 0xffff)
    put(25, 2);
  else if (number <= 0xffffffff)
    put(26, 4);
  else
    put(27, 8);
}

void write_double(std::string& out, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  out += static_cast<char>(0xfb);
  for (int i = 7; i >= 0; --i) out += static_cast<char>(bits >> (8 * i) & 0xffU);
}

void write_text(std::string& out, std::string_view text) {
  write_head(out, 3, text.size());
  out += text;
}

void write_value(std::string& out, const Json& value, bool time) {
  if (time && value.is_number()) {
    write_head(out, 6, 1);
    write_double(out, value.get<double>());
  } else if (value.is_object()) {
    write_head(out, 5, value.size());
    for (const auto& [key, member] : value.items()) {
      write_text(out, key);
      write_value(out, member, is_time_member(key));
    }
  } else if (value.is_array()) {
    write_head(out, 4, value.size());
    for (const Json& item : value) write_value(out, item, time);
  } else if (value.is_string()) {
    write_text(out, value.get_ref<const std::string&>());
  } else if (value.is_boolean()) {
    out += static_cast<char>(value.get<bool>() ? 0xf5 : 0xf4);
  } else if (value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0)) {
    write_head(out, 0, value.get<std::uint64_t>());
  } else if (value.is_number_integer()) {
    write_head(out, 1, static_cast<std::uint64_t>(-1 - value.get<std::int64_t>()));
  } else if (value.is_number()) {
    write_double(out, value.get<double>());
  } else {
    out += static_cast<char>(0xf6);
  }
}

}  // namespace

base::Result<Json> decode_cbor(std::string_view bytes) {
  if (bytes.empty()) return Json::object();
  Reader reader(bytes);
  Json value;
  if (!reader.value(value) || !reader.done() || !value.is_object())
    return base::fail(base::ErrorCode::kInvalidData, "the body is not a CBOR map", "SerializationException");
  return value;
}

std::string encode_cbor(const Json& value) {
  std::string out;
  write_value(out, value, false);
  return out;
}

}  // namespace headroom::cloud
