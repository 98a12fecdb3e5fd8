// Verification against AWS's published examples, and what is refused.
#include "cloud/signature.hpp"

#include <gtest/gtest.h>

#include "base/names.hpp"

namespace headroom::cloud {
namespace {

const Credentials kCredentials{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};
const base::WallTime kNow = *base::parse_iso8601("2015-08-30T12:36:30Z");

// "get-vanilla" and "get-vanilla-query-order-key-case" of the Signature Version 4 test suite.
net::Request signed_request(const std::string& query, const std::string& signature) {
  net::Request request;
  request.method = "GET";
  request.path = "/";
  request.query = query;
  request.headers = {{"Host", "example.amazonaws.com"},
                     {"X-Amz-Date", "20150830T123600Z"},
                     {"Authorization",
                      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
                      "SignedHeaders=host;x-amz-date, Signature=" +
                          signature}};
  return request;
}
const std::string kVanilla = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31";
const std::string kOrdered = "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500";

std::string refusal(const net::Request& request, base::WallTime now = kNow) {
  const auto verified = verify_signature(request, kCredentials, now);
  return verified ? "" : verified.error().context;
}

TEST(Signature, AcceptsThePublishedExamples) {
  EXPECT_EQ(refusal(signed_request("", kVanilla)), "");
  EXPECT_EQ(refusal(signed_request("Param2=value2&Param1=value1", kOrdered)), "");
}

TEST(Signature, RefusesAChangedBodyQueryOrHeader) {
  auto request = signed_request("", kVanilla);
  request.body = "x";
  EXPECT_EQ(refusal(request), "InvalidSignatureException");
  EXPECT_EQ(refusal(signed_request("a=b", kVanilla)), "InvalidSignatureException");
  request = signed_request("", kVanilla);
  request.headers.set("Host", "other");
  EXPECT_EQ(refusal(request), "InvalidSignatureException");
}

TEST(Signature, RefusesOldOnesStrangersAndNone) {
  EXPECT_EQ(refusal(signed_request("", kVanilla), kNow + std::chrono::minutes(10)),
            "InvalidSignatureException");
  net::Request none;
  EXPECT_EQ(refusal(none), "MissingAuthenticationTokenException");
  none.headers.set("Authorization", "AWS4-HMAC-SHA256 Credential=A/b");
  EXPECT_EQ(refusal(none), "IncompleteSignatureException");
  const auto stranger = verify_signature(signed_request("", kVanilla), {"OTHER", "x"}, kNow);
  EXPECT_EQ(stranger.error().context, "UnrecognizedClientException");
}

TEST(Signature, RefusesAHashThatIsNotTheBodys) {
  auto request = signed_request("", kVanilla);
  request.headers.set("x-amz-content-sha256", std::string(64, '0'));
  EXPECT_EQ(refusal(request), "InvalidSignatureException");
}

}  // namespace
}  // namespace headroom::cloud
