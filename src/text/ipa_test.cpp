// Tests of the mapping from espeak-ng's IPA to the model's alphabet.
#include "text/ipa.hpp"

#include <gtest/gtest.h>

namespace headroom::text {
namespace {

TEST(Ipa, MapsAmericanSounds) {
  EXPECT_EQ(english_from_ipa("ʃˈe^ɪd", false), "ʃˈAd");
  EXPECT_EQ(english_from_ipa("tˈa^ɪm", false), "tˈIm");
  EXPECT_EQ(english_from_ipa("hˈa^ʊs", false), "hˈWs");
  EXPECT_EQ(english_from_ipa("bˈɔ^ɪ", false), "bˈY");
  EXPECT_EQ(english_from_ipa("ɡˈo^ʊ", false), "ɡˈO");
  EXPECT_EQ(english_from_ipa("d^ʒˈʌd^ʒ", false), "ʤˈʌʤ");
  EXPECT_EQ(english_from_ipa("t^ʃˈɜːt^ʃ", false), "ʧˈɜɹʧ");
  EXPECT_EQ(english_from_ipa("rˈɛd", false), "ɹˈɛd");
  EXPECT_EQ(english_from_ipa("wˈɔːɾɚ", false), "wˈɔTəɹ");
  EXPECT_EQ(english_from_ipa("bˈʌʔn\u0329", false), "bˈʌtn");
  EXPECT_EQ(english_from_ipa("lˈɪɾə^l", false), "lˈɪTᵊl");
  EXPECT_EQ(english_from_ipa("sˈiː", false), "sˈi");
}

TEST(Ipa, MapsBritishSounds) {
  EXPECT_EQ(english_from_ipa("ɡˈə^ʊ", true), "ɡˈQ");
  EXPECT_EQ(english_from_ipa("hˈe^ə", true), "hˈɛː");
  EXPECT_EQ(english_from_ipa("sˈiː", true), "sˈiː");
  EXPECT_EQ(english_from_ipa("bˈɜːd", true), "bˈɜːd");
}

TEST(Ipa, RemovesLanguageFlagsAndTies) {
  EXPECT_EQ(english_from_ipa("(fr)bɔ̃ʒˈuʁ(en-us) hˈa^ɪ", false).find('('), std::string::npos);
  EXPECT_EQ(foreign_from_ipa("(en)hˈa^ɪ(es) t^ʃˈao "), "hˈI ʧˈao");
  EXPECT_EQ(foreign_from_ipa(""), "");
}

}  // namespace
}  // namespace headroom::text
