// Frames and chunk signatures.
#include "cloud/event_stream.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include "base/names.hpp"
#include "base/sha256.hpp"

namespace headroom::cloud {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kPrelude = 12, kTrailer = 4;
constexpr std::size_t kMaxHeaderBytes = 128U << 10U;
constexpr auto kMaxSkew = std::chrono::minutes{5};

std::uint32_t crc(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

std::uint64_t number(std::string_view bytes) {
  std::uint64_t out = 0;
  for (const char c : bytes) out = out << 8U | static_cast<unsigned char>(c);
  return out;
}

tl::unexpected<base::Error> bad(const char* what) {
  return fail(ErrorCode::kInvalidData, fmt::format("the event stream is broken: {}", what));
}

struct Sizes {
  std::size_t total = 0, headers = 0;
};

base::Result<Sizes> read_prelude(std::string_view bytes) {
  if (crc(bytes.substr(0, 8)) != number(bytes.substr(8, 4))) return bad("the prelude's CRC is wrong");
  const Sizes sizes{number(bytes.substr(0, 4)), number(bytes.substr(4, 4))};
  if (sizes.total < kPrelude + kTrailer || sizes.total > kMaxEventBytes) return bad("a frame's length");
  if (sizes.headers > kMaxHeaderBytes || sizes.headers > sizes.total - kPrelude - kTrailer)
    return bad("a frame's headers length");
  return sizes;
}

// Bytes of a fixed-size value; nullopt for those with a length before them.
std::optional<std::size_t> fixed_size(HeaderType type) {
  switch (type) {
    case HeaderType::kTrue:
    case HeaderType::kFalse:
      return 0;
    case HeaderType::kByte:
      return 1;
    case HeaderType::kShort:
      return 2;
    case HeaderType::kInt:
      return 4;
    case HeaderType::kLong:
    case HeaderType::kTime:
      return 8;
    case HeaderType::kUuid:
      return 16;
    default:
      return std::nullopt;
  }
}

base::Result<std::vector<EventHeader>> read_headers(std::string_view bytes) {
  std::vector<EventHeader> out;
  const auto take = [&](std::size_t size) {
    const auto part = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return part;
  };
  while (!bytes.empty()) {
    const std::size_t name_size = number(take(1));
    if (name_size == 0 || bytes.size() < name_size + 1) return bad("a header's name");
    EventHeader header;
    header.name = take(name_size);
    const auto type = number(take(1));
    if (type > 9) return bad("a header's type");
    header.type = static_cast<HeaderType>(type);
    std::size_t size = 0;
    if (const auto fixed = fixed_size(header.type)) {
      size = *fixed;
    } else {
      if (bytes.size() < 2) return bad("a header's length");
      size = number(take(2));
    }
    if (bytes.size() < size) return bad("a header's value");
    header.value = take(size);
    out.push_back(std::move(header));
  }
  return out;
}

}  // namespace

const EventHeader* Event::find(std::string_view name) const {
  for (const EventHeader& header : headers) {
    if (header.name == name) return &header;
  }
  return nullptr;
}

std::string Event::text(std::string_view name) const {
  const EventHeader* header = find(name);
  return header != nullptr && header->type == HeaderType::kString ? header->value : std::string{};
}

base::Result<Event> decode_event(std::string_view frame) {
  if (frame.size() < kPrelude + kTrailer) return bad("a frame is too short");
  const auto sizes = read_prelude(frame);
  if (!sizes) return tl::unexpected(sizes.error());
  if (sizes->total != frame.size()) return bad("a frame's length");
  if (crc(frame.substr(0, frame.size() - kTrailer)) != number(frame.substr(frame.size() - kTrailer)))
    return bad("a frame's CRC is wrong");
  auto headers = read_headers(frame.substr(kPrelude, sizes->headers));
  if (!headers) return tl::unexpected(headers.error());
  const std::size_t begin = kPrelude + sizes->headers;
  return Event{std::move(*headers), std::string(frame.substr(begin, frame.size() - kTrailer - begin))};
}

base::Result<std::optional<Event>> EventReader::next() {
  if (buffer_.size() < kPrelude) return std::optional<Event>{};
  const auto sizes = read_prelude(buffer_);
  if (!sizes) return tl::unexpected(sizes.error());
  if (buffer_.size() < sizes->total) return std::optional<Event>{};
  auto event = decode_event(std::string_view(buffer_).substr(0, sizes->total));
  if (!event) return tl::unexpected(event.error());
  buffer_.erase(0, sizes->total);
  return std::optional<Event>{std::move(*event)};
}

base::Result<void> EventVerifier::check(const Event& outer, base::WallTime now) {
  const EventHeader* date = outer.find(":date");
  const EventHeader* signature = outer.find(":chunk-signature");
  if (outer.headers.size() != 2 || date == nullptr || signature == nullptr ||
      date->type != HeaderType::kTime || signature->type != HeaderType::kBytes ||
      signature->value.size() != 32)
    return bad("an event needs exactly the headers :date and :chunk-signature");
  if (!scope_) return {};
  const auto refused = [](const std::string& why) {
    return fail(ErrorCode::kUnauthenticated, why, "InvalidSignatureException");
  };
  const auto ms = static_cast<std::int64_t>(number(date->value));
  if (ms < 0 || ms > 4'000'000'000'000) return refused("an event's :date is no time of this century");
  const base::WallTime at{std::chrono::milliseconds{ms}};
  if (at > now + kMaxSkew || at < now - kMaxSkew)
    return refused(fmt::format("Signature expired: an event of {} is not within 5 minutes of now",
                               base::format_iso8601(at)));
  std::string stamp;  // yyyymmddThhmmssZ
  for (const char c : base::format_iso8601(at).substr(0, 19)) {
    if (c != '-' && c != ':') stamp += c;
  }
  const std::string encoded_date = std::string("\x05:date\x08", 7) + date->value;
  const std::string expected =
      hmac_sha256(scope_->key, fmt::format("AWS4-HMAC-SHA256-PAYLOAD\n{}Z\n{}\n{}\n{}\n{}", stamp,
                                           scope_->scope, scope_->signature, base::sha256_hex(encoded_date),
                                           base::sha256_hex(outer.payload)));
  if (!equal_in_constant_time(expected, signature->value))
    return refused("The signature of an event does not match: check the secret key and the order of events.");
  scope_->signature = to_hex(expected);
  return {};
}

}  // namespace headroom::cloud
