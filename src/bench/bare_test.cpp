// The request of a bare server.
#include "bench/bare.hpp"

#include <gtest/gtest.h>

namespace headroom::bench {
namespace {

TEST(BareServer, PutsTheVoiceIntoEveryPlaceWhateverItReads) {
  BareServer server;
  server.form = "template";
  server.body_template = "{{voice}} and {{voice}}: {{text}}";
  for (const char* voice : {"af_heart", "", "{{voice}}", "x{{voice}}"}) {
    const auto body = bare_body({}, server, voice);
    ASSERT_TRUE(body);
    EXPECT_EQ(body->text_template, std::string(voice) + " and " + voice + ": {{text}}");
  }
}

}  // namespace
}  // namespace headroom::bench
