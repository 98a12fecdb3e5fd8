// Canonical request, key derivation and comparison.
#include "cloud/signature.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/names.hpp"
#include "base/sha256.hpp"

namespace headroom::cloud {
namespace {

using base::fail;

constexpr auto kMaxSkew = std::chrono::minutes{5};

tl::unexpected<base::Error> refused(std::string_view exception, std::string message) {
  return fail(base::ErrorCode::kUnauthenticated, std::move(message), std::string(exception));
}

std::string hmac(std::string_view key, std::string_view data) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(data.data()), data.size(), out, &size);
  return {reinterpret_cast<char*>(out), size};
}

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string uri_encode(std::string_view text, bool keep_slash) {
  std::string out;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    const bool plain =
        std::isalnum(u) != 0 || c == '-' || c == '_' || c == '.' || c == '~' || (keep_slash && c == '/');
    if (plain)
      out += c;
    else
      out += fmt::format("%{:02X}", u);
  }
  return out;
}

std::string canonical_query(std::string_view query) {
  std::vector<std::string> pairs;
  for (const auto pair : split(query, '&')) {
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    pairs.push_back(uri_encode(net::percent_decode(pair.substr(0, equals)), false) + "=" +
                    uri_encode(net::percent_decode(pair.substr(std::min(equals + 1, pair.size()))), false));
  }
  std::sort(pairs.begin(), pairs.end());
  return fmt::format("{}", fmt::join(pairs, "&"));
}

// Values of one header, trimmed, inner runs of spaces made one, joined by commas.
std::string header_value(const net::Headers& headers, std::string_view name) {
  std::string out;
  bool first = true;
  for (const auto& [key, value] : headers.rows()) {
    if (!net::iequals(key, name)) continue;
    if (!first) out += ',';
    first = false;
    bool space = false, begun = false;
    for (const char c : value) {
      if (c == ' ' || c == '\t') {
        space = begun;
        continue;
      }
      if (space) out += ' ';
      space = false;
      begun = true;
      out += c;
    }
  }
  return out;
}

struct Authorization {
  std::string access_key, date, region, service, signed_headers, signature;
};

std::optional<Authorization> parse_authorization(std::string_view text) {
  constexpr std::string_view kScheme = "AWS4-HMAC-SHA256";
  if (text.substr(0, kScheme.size()) != kScheme) return std::nullopt;
  Authorization out;
  for (auto part : split(text.substr(kScheme.size()), ',')) {
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const auto key = part.substr(0, equals);
    const std::string value(part.substr(equals + 1));
    if (key == "SignedHeaders") out.signed_headers = value;
    if (key == "Signature") out.signature = value;
    if (key != "Credential") continue;
    const auto scope = split(value, '/');
    if (scope.size() != 5 || scope[4] != "aws4_request") return std::nullopt;
    out.access_key = scope[0];
    out.date = scope[1];
    out.region = scope[2];
    out.service = scope[3];
  }
  if (out.access_key.empty() || out.signed_headers.empty() || out.signature.empty()) return std::nullopt;
  return out;
}

// "20261129T150405Z"
std::optional<base::WallTime> parse_amz_date(const std::string& text) {
  if (text.size() != 16 || text[8] != 'T' || text[15] != 'Z') return std::nullopt;
  return base::parse_iso8601(fmt::format("{}-{}-{}T{}:{}:{}Z", text.substr(0, 4), text.substr(4, 2),
                                         text.substr(6, 2), text.substr(9, 2), text.substr(11, 2),
                                         text.substr(13, 2)));
}

}  // namespace

base::Result<void> verify_signature(const net::Request& request, const Credentials& credentials,
                                    base::WallTime now) {
  const auto header = request.headers.find("authorization");
  if (!header)
    return refused("MissingAuthenticationTokenException", "Missing Authentication Token: sign the request");
  const auto parsed = parse_authorization(*header);
  if (!parsed)
    return refused("IncompleteSignatureException",
                   "the Authorization header is not a complete AWS4-HMAC-SHA256 signature");
  if (parsed->access_key != credentials.access_key)
    return refused("UnrecognizedClientException", "The security token included in the request is invalid.");
  const std::string date = std::string(request.headers.get("x-amz-date"));
  const auto signed_at = parse_amz_date(date);
  if (!signed_at || date.substr(0, 8) != parsed->date)
    return refused("InvalidSignatureException", "x-amz-date is missing or does not fit the credential scope");
  if (*signed_at > now + kMaxSkew || *signed_at < now - kMaxSkew)
    return refused("InvalidSignatureException",
                   fmt::format("Signature expired: {} is not within 5 minutes of now", date));

  std::string headers;
  bool host = false;
  for (const auto name : split(parsed->signed_headers, ';')) {
    host = host || name == "host";
    headers += fmt::format("{}:{}\n", name, header_value(request.headers, name));
  }
  if (!host) return refused("InvalidSignatureException", "'host' must be a signed header");
  const std::string body_hash = base::sha256_hex(request.body);
  const auto claimed = request.headers.find("x-amz-content-sha256");
  if (claimed && *claimed != body_hash)
    return refused("InvalidSignatureException", "x-amz-content-sha256 is not the hash of the body");
  const std::string canonical =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, uri_encode(request.path, true),
                  canonical_query(request.query), headers, parsed->signed_headers, body_hash);
  const std::string scope =
      fmt::format("{}/{}/{}/aws4_request", parsed->date, parsed->region, parsed->service);
  const std::string to_sign =
      fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", date, scope, base::sha256_hex(canonical));
  std::string key = hmac("AWS4" + credentials.secret, parsed->date);
  for (const std::string_view part : {std::string_view(parsed->region), std::string_view(parsed->service),
                                      std::string_view("aws4_request")})
    key = hmac(key, part);
  const std::string expected = hex(hmac(key, to_sign));
  if (expected.size() != parsed->signature.size() ||
      CRYPTO_memcmp(expected.data(), parsed->signature.data(), expected.size()) != 0)
    return refused("InvalidSignatureException",
                   "The request signature we calculated does not match the signature you provided. Check "
                   "your AWS Secret "
                   "Access Key and signing method.");
  return {};
}

}  // namespace headroom::cloud
