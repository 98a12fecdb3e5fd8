// SHA-256 by OpenSSL's EVP interface.
#include "base/sha256.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <openssl/evp.h>

namespace headroom::base {
namespace {

class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }
  void add(const void* data, std::size_t size) { EVP_DigestUpdate(context_.get(), data, size); }
  std::string hex() {
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    EVP_DigestFinal_ex(context_.get(), bytes, &size);
    std::string out;
    for (unsigned i = 0; i < size; ++i) out += fmt::format("{:02x}", bytes[i]);
    return out;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  Digest digest;
  digest.add(bytes.data(), bytes.size());
  return digest.hex();
}

Result<std::string> sha256_file(const std::string& path) {
  const auto problem = [&] {
    const int code = errno;
    return fail(code == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
                fmt::format("cannot read '{}': {}", path, std::strerror(code)));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (!file) return problem();
  Digest digest;
  std::vector<char> buffer(std::size_t{1} << 20);
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), file.get()))
    digest.add(buffer.data(), n);
  if (std::ferror(file.get())) return problem();
  return digest.hex();
}

}  // namespace headroom::base
