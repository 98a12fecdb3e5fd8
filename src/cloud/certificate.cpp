// X.509 with OpenSSL.
#include "cloud/certificate.hpp"

#include <array>
#include <memory>

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "base/atomic_file.hpp"

namespace headroom::cloud {
namespace {

using base::ErrorCode;
using base::fail;

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* what) const {
    Free(what);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;
using Bio = std::unique_ptr<BIO, Deleter<BIO_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Deleter<X509_EXTENSION_free>>;

constexpr long kDay = 24L * 3600;
constexpr long kLeafDays = 820;  // some clients take no more than 825
constexpr long kCaDays = 3650;

bool is_address(const std::string& name) {
  ASN1_OCTET_STRING* address = a2i_IPADDRESS(name.c_str());
  const bool is = address != nullptr;
  ASN1_OCTET_STRING_free(address);
  return is;
}

std::vector<std::string> all_names(const std::vector<std::string>& more) {
  std::vector<std::string> names{"localhost", "127.0.0.1", "::1"};
  for (const std::string& name : more) {
    // Only what cannot change the meaning of the extension's text form.
    const bool plain = !name.empty() && name.find_first_of(",;\n ") == std::string::npos && name != "0.0.0.0";
    if (plain && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

bool extend(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

// Subject, serial number, validity and key; not signed yet.
Certificate begin(EVP_PKEY* key, const std::string& name, long days, base::WallTime now) {
  Certificate out(X509_new());
  std::array<unsigned char, 16> serial{};
  if (!out || RAND_bytes(serial.data(), static_cast<int>(serial.size())) != 1) return nullptr;
  serial[0] &= 0x7f;
  BIGNUM* number = BN_bin2bn(serial.data(), static_cast<int>(serial.size()), nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(out.get()));
  BN_free(number);
  X509_set_version(out.get(), 2);
  time_t at = std::chrono::system_clock::to_time_t(now);
  X509_time_adj_ex(X509_getm_notBefore(out.get()), -1, 0, &at);  // clocks differ
  X509_time_adj_ex(X509_getm_notAfter(out.get()), static_cast<int>(days), 0, &at);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(out.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_pubkey(out.get(), key);
  return out;
}

struct Made {
  std::string ca, server, key;
};

template <class Write>
std::string pem(Write write) {
  const Bio bio(BIO_new(BIO_s_mem()));
  char* data = nullptr;
  if (!bio || !write(bio.get())) return "";
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

base::Result<Made> make(const std::vector<std::string>& names, base::WallTime now) {
  const Key ca_key(EVP_EC_gen("P-256")), key(EVP_EC_gen("P-256"));
  const auto failed = [] { return fail(ErrorCode::kInternal, "OpenSSL cannot make a certificate"); };
  if (!ca_key || !key) return failed();
  const Certificate ca = begin(ca_key.get(), "tts-local CA " + names.front(), kCaDays, now);
  const Certificate leaf = begin(key.get(), "tts-local", kLeafDays, now);
  if (!ca || !leaf) return failed();
  X509_set_issuer_name(ca.get(), X509_get_subject_name(ca.get()));
  X509_set_issuer_name(leaf.get(), X509_get_subject_name(ca.get()));
  std::string alternatives;
  for (const std::string& name : names)
    alternatives +=
        fmt::format("{}{}:{}", alternatives.empty() ? "" : ",", is_address(name) ? "IP" : "DNS", name);
  const bool good = extend(ca.get(), ca.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
                    extend(ca.get(), ca.get(), NID_key_usage, "critical,keyCertSign,cRLSign") &&
                    extend(ca.get(), ca.get(), NID_subject_key_identifier, "hash") &&
                    X509_sign(ca.get(), ca_key.get(), EVP_sha256()) > 0 &&
                    extend(leaf.get(), ca.get(), NID_basic_constraints, "critical,CA:FALSE") &&
                    extend(leaf.get(), ca.get(), NID_key_usage, "critical,digitalSignature") &&
                    extend(leaf.get(), ca.get(), NID_ext_key_usage, "serverAuth") &&
                    extend(leaf.get(), ca.get(), NID_subject_key_identifier, "hash") &&
                    extend(leaf.get(), ca.get(), NID_authority_key_identifier, "keyid:always") &&
                    extend(leaf.get(), ca.get(), NID_subject_alt_name, alternatives) &&
                    X509_sign(leaf.get(), ca_key.get(), EVP_sha256()) > 0;
  if (!good) return failed();
  return Made{pem([&](BIO* bio) { return PEM_write_bio_X509(bio, ca.get()); }),
              pem([&](BIO* bio) { return PEM_write_bio_X509(bio, leaf.get()); }), pem([&](BIO* bio) {
                return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
              })};
}

Certificate read(const std::string& path) {
  const auto text = base::read_file(path, 64U << 10U);
  if (!text) return nullptr;
  const Bio bio(BIO_new_mem_buf(text->data(), static_cast<int>(text->size())));
  return Certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
}

bool usable(const CertificateFiles& files, const std::vector<std::string>& names, base::WallTime now) {
  const Certificate ca = read(files.ca), leaf = read(files.server);
  if (!ca || !leaf || !base::file_exists(files.key)) return false;
  time_t soon = std::chrono::system_clock::to_time_t(now) + 7 * kDay;
  if (X509_cmp_time(X509_get0_notAfter(leaf.get()), &soon) < 0) return false;
  const Key ca_key(X509_get_pubkey(ca.get()));
  if (!ca_key || X509_verify(leaf.get(), ca_key.get()) != 1) return false;
  for (const std::string& name : names) {
    const bool held = is_address(name) ? X509_check_ip_asc(leaf.get(), name.c_str(), 0) == 1
                                       : X509_check_host(leaf.get(), name.c_str(), 0, 0, nullptr) == 1;
    if (!held) return false;
  }
  return true;
}

}  // namespace

CertificateFiles certificate_files(const std::string& folder) {
  return {folder + "/ca.pem", folder + "/server.pem", folder + "/server-key.pem"};
}

base::Result<CertificateFiles> ensure_certificate(const std::string& folder,
                                                  const std::vector<std::string>& more, base::WallTime now) {
  if (const auto made = base::make_directories(folder, 0700); !made) return tl::unexpected(made.error());
  const CertificateFiles files = certificate_files(folder);
  const auto names = all_names(more);
  if (usable(files, names, now)) return files;
  const auto made = make(names, now);
  if (!made) return tl::unexpected(made.error());
  for (const auto& [path, text, mode] :
       {std::tuple(files.key, made->key, 0600), std::tuple(files.server, made->server, 0600),
        std::tuple(files.ca, made->ca, 0644)}) {
    if (const auto written = base::write_file_atomically(path, text, static_cast<mode_t>(mode)); !written)
      return tl::unexpected(written.error());
  }
  return files;
}

}  // namespace headroom::cloud
