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

std::string amz_date(base::WallTime time) {
  std::string out;
  for (const char c : base::format_iso8601(time)) {
    if (c == '.') break;  // whole seconds
    if (c != '-' && c != ':' && c != 'Z') out += c;
  }
  return out + "Z";
}

// The clock's say, in AWS's two sentences.
base::Result<void> check_age(const std::string& date, base::WallTime signed_at, base::WallTime now) {
  if (signed_at < now - kMaxSkew)
    return refused("InvalidSignatureException",
                   fmt::format("Signature expired: {} is now earlier than {} ({} - 5 min.)", date,
                               amz_date(now - kMaxSkew), amz_date(now)));
  if (signed_at > now + kMaxSkew)
    return refused("InvalidSignatureException",
                   fmt::format("Signature not yet current: {} is still later than {} ({} + 5 min.)", date,
                               amz_date(now + kMaxSkew), amz_date(now)));
  return {};
}

base::Result<void> check_scope(const Authorization& parsed, const SignatureScope& wanted) {
  if (!wanted.service.empty() && parsed.service != wanted.service)
    return refused("InvalidSignatureException",
                   fmt::format("Credential should be scoped to correct service: '{}'.", wanted.service));
  if (!wanted.region.empty() && parsed.region != wanted.region)
    return refused(
        "InvalidSignatureException",
        fmt::format("Credential should be scoped to a valid region. This cloud is '{}': set AWS_REGION "
                    "to it, or start tts-local with another --region.",
                    wanted.region));
  return {};
}

base::Result<std::string> canonical_headers(const net::Request& request, const std::string& signed_headers) {
  const auto names = split(signed_headers, ';');
  const auto covers = [&](std::string_view name) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view n) { return net::iequals(n, name); });
  };
  for (const auto& [name, value] : request.headers.rows()) {
    const bool needed = name.size() > 6 && net::iequals(std::string_view(name).substr(0, 6), "x-amz-");
    if (needed && !covers(name))
      return refused("InvalidSignatureException", fmt::format("'{}' must be a signed header", name));
  }
  if (!covers("host")) return refused("InvalidSignatureException", "'host' must be a signed header");
  std::string out;
  for (const auto name : names) out += fmt::format("{}:{}\n", name, header_value(request.headers, name));
  return out;
}

base::Result<std::string> payload_hash(const net::Request& request, bool event_stream) {
  constexpr std::string_view kEvents = "STREAMING-AWS4-HMAC-SHA256-EVENTS";
  const auto claimed = request.headers.find("x-amz-content-sha256");
  if (event_stream && claimed && *claimed == kEvents) return std::string(kEvents);
  std::string hash = base::sha256_hex(request.body);
  if (claimed && *claimed != hash)
    return refused("InvalidSignatureException", "x-amz-content-sha256 is not the hash of the body");
  return hash;
}

}  // namespace

std::string hmac_sha256(std::string_view key, std::string_view data) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(data.data()), data.size(), out, &size);
  return {reinterpret_cast<char*>(out), size};
}

std::string to_hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

std::string signing_key(const std::string& secret, const std::string& scope) {
  std::string key = "AWS4" + secret;
  for (const std::string_view part : split(scope, '/')) key = hmac_sha256(key, part);
  return key;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

base::Result<SignedScope> verify_signature(const net::Request& request, const Credentials& credentials,
                                           base::WallTime now, const SignatureScope& wanted) {
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
  if (const auto fresh = check_age(date, *signed_at, now); !fresh) return tl::unexpected(fresh.error());
  if (const auto scoped = check_scope(*parsed, wanted); !scoped) return tl::unexpected(scoped.error());
  const auto headers = canonical_headers(request, parsed->signed_headers);
  if (!headers) return tl::unexpected(headers.error());
  const auto hash = payload_hash(request, wanted.event_stream);
  if (!hash) return tl::unexpected(hash.error());
  const std::string canonical =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, uri_encode(request.path, true),
                  canonical_query(request.query), *headers, parsed->signed_headers, *hash);
  SignedScope out;
  out.scope = fmt::format("{}/{}/{}/aws4_request", parsed->date, parsed->region, parsed->service);
  out.key = signing_key(credentials.secret, out.scope);
  out.signature = to_hex(hmac_sha256(
      out.key, fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", date, out.scope, base::sha256_hex(canonical))));
  if (!equal_in_constant_time(out.signature, parsed->signature))
    return refused("InvalidSignatureException",
                   "The request signature we calculated does not match the signature you provided. Check "
                   "your AWS Secret Access Key and signing method. Consult the service documentation for "
                   "details.");
  return out;
}

}  // namespace headroom::cloud
