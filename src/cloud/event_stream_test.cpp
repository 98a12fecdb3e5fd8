// The captured frames of the official clients, and what is refused.
#include "cloud/event_stream.hpp"

#include <gtest/gtest.h>

#include "aws/event_frame.hpp"
#include "base/names.hpp"

namespace headroom::cloud {
namespace {

std::string unhex(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return out;
}

// Sent by the Python client: {"text":"hi"} as one UTF8 event, then the end of the input.
const std::string kEvent = unhex(
    "000000f400000043374339de053a6461746508000001a2276b698d103a6368756e6b2d7369676e6174757265060020340563f812"
    "d580ec92bc2d9a337739e3e4aac997923757c6461a76466f4d3f77000000a100000084c2b02e760d3a6d6573736167652d747970"
    "650700056576656e740b3a6576656e742d7479706507000b5061796c6f6164506172740844617461547970650700045554463"
    "80f436f6d706c6574696f6e5374617465070008434f4d504c4554450d3a636f6e74656e742d747970650700186170706c696361"
    "74696f6e2f6f637465742d73747265616d7b2274657874223a226869227d08e4ce9723dc742b");
const std::string kEnd = unhex(
    "0000005300000043f5447a58053a6461746508000001a2276b6a16103a6368756e6b2d7369676e617475726506002"
    "05ef786f739d5c5ab7bb75bec6fbff91fc90055155f850af08dfdc692222cca85ca3ade52");
const std::string kPrior = "ca421577154af0622849cd3f7b160391645f7be9ec64d60694f607435147fbd6";
const base::WallTime kNow = *base::parse_iso8601("2026-11-29T00:00:00Z");

SignedScope scope(const std::string& prior = kPrior) {
  const std::string name = "20261129/us-east-1/sagemaker/aws4_request";
  return {prior, name, signing_key("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", name)};
}

base::WallTime date_of(const Event& event) {
  std::uint64_t ms = 0;
  for (const char c : event.find(":date")->value) ms = ms << 8U | static_cast<unsigned char>(c);
  return base::WallTime{std::chrono::milliseconds{static_cast<std::int64_t>(ms)}};
}

TEST(EventStream, ReadsAndVerifiesWhatThePythonClientSends) {
  EventReader reader;
  for (const char c : kEvent + kEnd) reader.feed({&c, 1});
  const auto first = reader.next(), second = reader.next();
  ASSERT_TRUE(first && *first && second && *second);
  EXPECT_FALSE(reader.inside_frame());
  EventVerifier verifier{scope()};
  const auto checked = verifier.check(**first, date_of(**first));
  EXPECT_TRUE(checked) << checked.error().message;
  const auto inner = decode_event((*first)->payload);
  ASSERT_TRUE(inner);
  EXPECT_EQ(inner->text(":event-type"), "PayloadPart");
  EXPECT_EQ(inner->text("DataType"), "UTF8");
  EXPECT_EQ(inner->payload, R"({"text":"hi"})");
  EXPECT_TRUE((*second)->payload.empty());
  EventVerifier last{scope("de0b2daaa7cc76515c71e20200ba45db09b2bdc2d1b1039cba4580c7c533d402")};
  EXPECT_TRUE(last.check(**second, date_of(**second)));
}

TEST(EventStream, RefusesAnotherChainSecretTimeOrPayload) {
  const auto event = decode_event(kEvent);
  ASSERT_TRUE(event);
  const auto at = date_of(*event);
  const auto code = [&](EventVerifier verifier, const Event& e, base::WallTime now) {
    const auto checked = verifier.check(e, now);
    return checked ? "" : checked.error().context;
  };
  EXPECT_EQ(code(EventVerifier{scope(std::string(64, '0'))}, *event, at), "InvalidSignatureException");
  SignedScope other = scope();
  other.key[0] = static_cast<char>(other.key[0] ^ 1);
  EXPECT_EQ(code(EventVerifier{other}, *event, at), "InvalidSignatureException");
  EXPECT_EQ(code(EventVerifier{scope()}, *event, at + std::chrono::minutes(6)), "InvalidSignatureException");
  Event changed = *event;
  changed.payload += 'x';
  EXPECT_EQ(code(EventVerifier{scope()}, changed, at), "InvalidSignatureException");
  EventVerifier twice{scope()};
  EXPECT_TRUE(twice.check(*event, at));
  EXPECT_FALSE(twice.check(*event, at));  // an event cannot be played again
}

TEST(EventStream, WithoutCredentialsOnlyTheFormIsChecked) {
  Event event = *decode_event(kEvent);
  EXPECT_TRUE(EventVerifier{std::nullopt}.check(event, kNow));
  event.headers.pop_back();
  EXPECT_FALSE(EventVerifier{std::nullopt}.check(event, kNow));
}

TEST(EventStream, RefusesEveryChangedByteAndEveryCut) {
  for (std::size_t i = 0; i < kEvent.size(); ++i) {
    std::string changed = kEvent;
    changed[i] = static_cast<char>(changed[i] ^ 0x40);
    EXPECT_FALSE(decode_event(changed)) << i;
    EXPECT_FALSE(decode_event(kEvent.substr(0, i))) << i;
  }
}

TEST(EventStream, ReadsWhatOurOwnEncoderWrites) {
  const std::string frame = aws::encode_event_frame({{{":event-type", "PayloadPart"}}, "RIFF"});
  const auto event = decode_event(frame);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->payload, "RIFF");
  EventReader reader;
  reader.feed(std::string("\xff\xff\xff\xff", 4) + frame.substr(4));
  EXPECT_FALSE(reader.next());
}

}  // namespace
}  // namespace headroom::cloud
