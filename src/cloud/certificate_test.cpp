// The certificate is made once, fits its names, and is renewed when it must be.
#include "cloud/certificate.hpp"

#include <cstdlib>

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include "base/atomic_file.hpp"

namespace headroom::cloud {
namespace {

struct Folder {
  std::string path = "/tmp/headroom-certificate-XXXXXX";
  Folder() {
    if (mkdtemp(path.data()) == nullptr) std::abort();
  }
  ~Folder() {
    for (const char* name : {"/ca.pem", "/server.pem", "/server-key.pem"}) std::remove((path + name).c_str());
    std::remove(path.c_str());
  }
};
const base::WallTime kNow{std::chrono::seconds{1'800'000'000}};
constexpr auto kDay = std::chrono::hours{24};

std::string read(const std::string& path) { return base::read_file(path).value_or(""); }

X509* parse(const std::string& path) {
  const std::string text = read(path);
  BIO* bio = BIO_new_mem_buf(text.data(), static_cast<int>(text.size()));
  X509* out = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  return out;
}

TEST(Certificate, IsALeafOfAnAuthorityWhoseKeyIsNotKept) {
  const Folder folder;
  const auto files = ensure_certificate(folder.path, {"box.example", "10.1.2.3"}, kNow);
  ASSERT_TRUE(files) << files.error().message;
  X509* ca = parse(files->ca);
  X509* leaf = parse(files->server);
  ASSERT_TRUE(ca != nullptr && leaf != nullptr);
  EXPECT_EQ(X509_check_ca(ca), 1);
  EXPECT_EQ(X509_check_ca(leaf), 0);
  for (const char* name : {"localhost", "box.example"})
    EXPECT_EQ(X509_check_host(leaf, name, 0, 0, nullptr), 1) << name;
  for (const char* address : {"127.0.0.1", "::1", "10.1.2.3"})
    EXPECT_EQ(X509_check_ip_asc(leaf, address, 0), 1) << address;
  EVP_PKEY* key = X509_get_pubkey(ca);
  EXPECT_EQ(X509_verify(leaf, key), 1);
  EVP_PKEY_free(key);
  X509_free(ca);
  X509_free(leaf);
  EXPECT_EQ(read(files->ca).find("PRIVATE"), std::string::npos);
  struct stat info {};
  ASSERT_EQ(stat(files->key.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST(Certificate, IsKeptUntilANameIsMissingOrItRunsOut) {
  const Folder folder;
  ensure_certificate(folder.path, {}, kNow).value();
  const std::string first = read(certificate_files(folder.path).ca);
  ensure_certificate(folder.path, {}, kNow + 100 * kDay).value();
  EXPECT_EQ(read(certificate_files(folder.path).ca), first);
  ensure_certificate(folder.path, {"other.example"}, kNow).value();
  const std::string second = read(certificate_files(folder.path).ca);
  EXPECT_NE(second, first);
  ensure_certificate(folder.path, {"other.example"}, kNow + 819 * kDay).value();
  EXPECT_NE(read(certificate_files(folder.path).ca), second);
}

TEST(Certificate, LeavesOutNamesThatCouldChangeTheExtension) {
  const Folder folder;
  const auto files = ensure_certificate(folder.path, {"a,DNS:evil.example", "x;y", "0.0.0.0"}, kNow);
  ASSERT_TRUE(files);
  X509* leaf = parse(files->server);
  EXPECT_EQ(X509_check_host(leaf, "evil.example", 0, 0, nullptr), 0);
  X509_free(leaf);
}

}  // namespace
}  // namespace headroom::cloud
