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

std::string said(const net::Request& request, base::WallTime now, const SignatureScope& scope = {}) {
  const auto verified = verify_signature(request, kCredentials, now, scope);
  return verified ? "" : verified.error().message;
}

TEST(Signature, SaysWhichWayTheClocksDiffer) {
  const auto request = signed_request("", kVanilla);
  EXPECT_EQ(
      said(request, kNow + std::chrono::minutes(5)),
      "Signature expired: 20150830T123600Z is now earlier than 20150830T123630Z (20150830T124130Z - 5 min.)");
  EXPECT_EQ(said(request, kNow - std::chrono::minutes(6)),
            "Signature not yet current: 20150830T123600Z is still later than 20150830T123530Z "
            "(20150830T123030Z + 5 "
            "min.)");
  EXPECT_EQ(said(request, kNow + std::chrono::minutes(4)), "");
}

TEST(Signature, MustBeForThisServiceAndRegion) {
  const auto request = signed_request("", kVanilla);
  EXPECT_EQ(said(request, kNow, {"us-east-1", "service"}), "");
  EXPECT_NE(said(request, kNow, {"us-east-1", "sagemaker"}).find("correct service: 'sagemaker'"),
            std::string::npos);
  EXPECT_NE(said(request, kNow, {"eu-west-1", "service"}).find("valid region"), std::string::npos);
}

TEST(Signature, MustCoverHostAndEveryAmzHeader) {
  auto request = signed_request("", kVanilla);
  request.headers.add("X-Amz-Target", "SageMaker.DeleteEndpoint");
  EXPECT_NE(said(request, kNow).find("must be a signed header"), std::string::npos);
}

TEST(Signature, OfAnEventStreamMayNameItsKindInsteadOfAHash) {
  auto request = signed_request("", kVanilla);
  request.headers.set("x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-EVENTS");
  request.headers.set("Authorization",
                      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
                      "SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=" +
                          kVanilla);
  SignatureScope scope;
  EXPECT_NE(said(request, kNow, scope).find("not the hash of the body"), std::string::npos);
  scope.event_stream = true;  // then it is the signature that does not fit
  EXPECT_NE(said(request, kNow, scope).find("does not match"), std::string::npos);
}

TEST(Signature, RefusesAHashThatIsNotTheBodys) {
  auto request = signed_request("", kVanilla);
  request.headers.set("x-amz-content-sha256", std::string(64, '0'));
  EXPECT_EQ(refusal(request), "InvalidSignatureException");
}

}  // namespace
}  // namespace headroom::cloud
