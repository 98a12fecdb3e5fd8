// Gunzip on zlib.
#include "cloud/gzip.hpp"

#include <zlib.h>

namespace headroom::cloud {

base::Result<std::string> gunzip(std::string_view bytes, std::size_t max_size) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK)
    return base::fail(base::ErrorCode::kInternal, "zlib cannot start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  int state = Z_OK;
  while (state == Z_OK && out.size() <= max_size) {
    char buffer[16384];
    stream.next_out = reinterpret_cast<Bytef*>(buffer);
    stream.avail_out = sizeof buffer;
    state = inflate(&stream, Z_NO_FLUSH);
    const std::size_t got = sizeof buffer - stream.avail_out;
    out.append(buffer, got);
    if (got == 0 && stream.avail_in == 0) break;
  }
  inflateEnd(&stream);
  if (state != Z_STREAM_END || out.size() > max_size)
    return base::fail(base::ErrorCode::kInvalidData, "the body is not gzip or is too large",
                      "SerializationException");
  return out;
}

}  // namespace headroom::cloud
