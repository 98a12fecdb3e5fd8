// Heads and chunks, byte for byte.
#include "net/answer_bytes.hpp"

#include <gtest/gtest.h>

namespace headroom::net {
namespace {

TEST(AnswerBytes, AHeadSaysHowItsBodyEnds) {
  EXPECT_EQ(head_bytes(200, Headers{{"content-type", "audio/pcm"}}, {"s", "id-1", true, true}),
            "HTTP/1.1 200 OK\r\nServer: s\r\ncontent-type: audio/pcm\r\nx-request-id: id-1\r\n"
            "Transfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(
      head_bytes(503, Headers{}, {"s", "id-2", false, false}),
      "HTTP/1.1 503 Service Unavailable\r\nServer: s\r\nx-request-id: id-2\r\nConnection: close\r\n\r\n");
}

TEST(AnswerBytes, AChunkHasItsLengthInHexadecimal) {
  std::string bytes;
  append_chunk(bytes, std::string(26, 'a'));
  append_chunk(bytes, "b");
  EXPECT_EQ(bytes, "1a\r\n" + std::string(26, 'a') + "\r\n1\r\nb\r\n");
}

}  // namespace
}  // namespace headroom::net
