// Query forms, XML, CBOR and gzip.
#include <gtest/gtest.h>
#include <zlib.h>

#include "cloud/gzip.hpp"
#include "cloud/wire_cbor.hpp"
#include "cloud/wire_query.hpp"

namespace headroom::cloud {
namespace {

TEST(QueryForm, BecomesATree) {
  const auto form = parse_query_form(
      "Action=GetMetricData&Version=2010-08-01&MetricDataQueries.member.1.Id=a&MetricDataQueries.member.1."
      "MetricStat.Period=10"
      "&MetricDataQueries.member.2.Id=b%26c&Names.member.10=ten&Names.member.9=nine+9&Empty=");
  ASSERT_TRUE(form);
  EXPECT_EQ((*form)["MetricDataQueries"][1]["Id"], "b&c");
  EXPECT_EQ((*form)["MetricDataQueries"][0]["MetricStat"]["Period"], "10");
  EXPECT_EQ((*form)["Names"], (Json{"nine 9", "ten"}));
  EXPECT_FALSE(form->contains("Empty"));
}

TEST(QueryForm, RefusesDeepNames) {
  std::string key = "a";
  for (int i = 0; i < 1000; ++i) key += ".a";
  EXPECT_FALSE(parse_query_form(key + "=1"));
}

TEST(QueryReply, EscapesTextAndWritesTimes) {
  const std::string xml = query_reply(
      "X", "urn:n", {{"Name", "a<b&\x01"}, {"Timestamps", {1.5}}, {"List", {{{"A", true}}}}}, "id");
  EXPECT_NE(xml.find("<Name>a&lt;b&amp;?</Name>"), std::string::npos);
  EXPECT_NE(xml.find("<member>1970-01-01T00:00:01.500Z</member>"), std::string::npos);
  EXPECT_NE(xml.find("<List><member><A>true</A></member></List>"), std::string::npos);
}

// What the Go SDK sends: indefinite lengths, tag 1 with a double.
TEST(Cbor, ReadsIndefiniteMapsAndTaggedTimes) {
  const std::string bytes(
      "\xbf\x69StartTime\xc1\xfb\x41\xda\xd2\x74\x80\x00\x00\x00\x61l\x9f\x01\x20\xf5\xff\xff", 29);
  const auto value = decode_cbor(bytes);
  ASSERT_TRUE(value);
  EXPECT_EQ((*value)["StartTime"], 1'800'000'000.0);
  EXPECT_EQ((*value)["l"], (Json{1, -1, true}));
}

TEST(Cbor, ComesBackAsItWas) {
  const Json value{{"a", 1},
                   {"b", -300},
                   {"c", 2.5},
                   {"d", {"x", false}},
                   {"Timestamp", 12.0},
                   {"big", 5'000'000'000},
                   {"e", Json::object()}};
  EXPECT_EQ(*decode_cbor(encode_cbor(value)), value);
}

TEST(Cbor, ATagDoesNotNest) {
  Json value{{"StartTime", 1.0}};
  for (int i = 0; i < 31; ++i) value = Json{{"a", value}};  // the time lies as deep as is allowed
  const auto again = decode_cbor(encode_cbor(value));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, value);
  const std::string tags(100'000, '\xc1');
  EXPECT_EQ(decode_cbor("\xa1\x61"
                        "a" +
                        tags + "\x01")
                ->at("a"),
            1);
  EXPECT_FALSE(
      decode_cbor("\xa1\x61"
                  "a" +
                  tags));
}

TEST(Cbor, RefusesLyingLengthsDepthAndRest) {
  EXPECT_FALSE(decode_cbor(std::string("\xa1\x7b\xff\xff\xff\xff\xff\xff\xff\xf0", 10)));
  EXPECT_FALSE(decode_cbor(std::string("\xbb\x7f\xff\xff\xff\xff\xff\xff\xff", 9)));
  EXPECT_FALSE(decode_cbor(std::string("\xa0\xa0", 2)));
  EXPECT_FALSE(
      decode_cbor("\xa1\x61"
                  "a" +
                  std::string(100'000, '\x9f')));
  const std::string good = encode_cbor({{"name", "value"}, {"n", 1.5}});
  for (std::size_t cut = 1; cut < good.size(); ++cut) EXPECT_FALSE(decode_cbor(good.substr(0, cut))) << cut;
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(Gunzip, GivesTheTextBackAndStopsABomb) {
  const std::string text(100'000, 'x');
  EXPECT_EQ(*gunzip(gzip(text), 200'000), text);
  EXPECT_FALSE(gunzip(gzip(text), 50'000));
  EXPECT_FALSE(gunzip(gzip(text).substr(0, 40), 200'000));
  EXPECT_FALSE(gunzip("not gzip", 100));
}

}  // namespace
}  // namespace headroom::cloud
