// Tests of signed events against bytes captured from an official client.
#include "aws/event_signer.hpp"

#include <gtest/gtest.h>

#include "aws/event_frame.hpp"
#include "aws/runtime.hpp"

namespace headroom::aws {
namespace {

std::string hex(const std::string& bytes) {
  std::string out;
  for (const unsigned char c : bytes) {
    out += "0123456789abcdef"[c >> 4];
    out += "0123456789abcdef"[c & 15];
  }
  return out;
}

base::WallTime ms(std::int64_t since_epoch) { return base::WallTime(std::chrono::milliseconds(since_epoch)); }

TEST(EventSigner, SignsAsTheOfficialClientDoes) {
  auto runtime = *Runtime::start();
  {
    aws_credentials* const keys =
        aws_credentials_new(runtime->impl().allocator, cursor("AKIDEXAMPLE"),
                            cursor("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"), cursor(""), UINT64_MAX);
    const EventScope scope{"us-east-1", "sagemaker", keys};
    SignedEvent got;
    const auto keep = [&got](SignedEvent event) { got = std::move(event); };
    const std::string inner = encode_event_frame({{{":message-type", "event"},
                                                   {":event-type", "PayloadPart"},
                                                   {"DataType", "UTF8"},
                                                   {"CompletionState", "COMPLETE"},
                                                   {":content-type", "application/octet-stream"}},
                                                  R"({"text":"hi"})"});
    sign_event(runtime->impl().allocator, scope, inner,
               "ca421577154af0622849cd3f7b160391645f7be9ec64d60694f607435147fbd6", ms(0x1a2276b698d), keep);
    EXPECT_EQ(got.error, 0);
    EXPECT_EQ(
        hex(got.frame),
        "000000f400000043374339de053a6461746508000001a2276b698d103a6368756e6b2d7369676e6174757265060020340563"
        "f812d580ec92bc2d9a337739e3e4aac997923757c6461a76466f4d3f77000000a100000084c2b02e760d3a6d657373616765"
        "2d747970650700056576656e740b3a6576656e742d7479706507000b5061796c6f6164506172740844617461547970650700"
        "04555446380f436f6d706c6574696f6e5374617465070008434f4d504c4554450d3a636f6e74656e742d7479706507001861"
        "70706c69636174696f6e2f6f637465742d73747265616d7b2274657874223a226869227d08e4ce9723dc742b");
    sign_event(runtime->impl().allocator, scope, "",
               "de0b2daaa7cc76515c71e20200ba45db09b2bdc2d1b1039cba4580c7c533d402", ms(0x1a2276b6a16), keep);
    EXPECT_EQ(got.error, 0) << crt_error_text(got.error);
    EXPECT_EQ(
        hex(got.frame),
        "0000005300000043f5447a58053a6461746508000001a2276b6a16103a6368756e6b2d7369676e61747572650600205ef786"
        "f739d5c5ab7bb75bec6fbff91fc90055155f850af08dfdc692222cca85ca3ade52");
    aws_credentials_release(keys);
  }
  Runtime::stop(std::move(runtime));
}

}  // namespace
}  // namespace headroom::aws
