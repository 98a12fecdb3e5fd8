// Options: one table for flags, environment, defaults and help.
#include "base/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headroom::base {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

struct Values {
  int queue = 0;
  double service_ms = 55.9;
  bool emf = false;
  std::string voice = "af_heart";
  Duration hold = 240s;
  std::vector<int> rungs{1, 5, 10};
  std::optional<double> ratio;
  std::string endpoint = "";
  std::string file;
  std::vector<std::string> words;

  Program program() {
    Program p;
    p.name = "prog";
    p.help = "Does things.";
    p.options = {
        {.name = "max-queue-depth",
         .help = "limit",
         .target = &queue,
         .env = {"MAX_QUEUE_DEPTH"},
         .min = 0,
         .max = 1000},
        {.name = "service-ms", .help = "time", .target = &service_ms, .min = 0},
        {.name = "emf", .help = "emit", .target = &emf},
        {.name = "voice", .help = "voice", .target = &voice, .choices = {"af_heart", "bm_george"}},
    };
    p.commands = {
        {"measure",
         "measures",
         {{.name = "hold", .help = "hold", .target = &hold, .min = 1},
          {.name = "rungs", .help = "rungs", .target = &rungs, .min = 1},
          {.name = "assume-ratio", .help = "ratio", .target = &ratio},
          {.name = "file", .help = "file", .target = &file, .positional = true, .required = true}}},
        {"list", "lists", {{.name = "words", .help = "w", .target = &words, .positional = true}}},
    };
    return p;
  }
};

TEST(Options, TakeTheDefaultWhenNothingIsSaid) {
  Values v;
  const auto r = parse_options(v.program(), {"list"}, {});
  ASSERT_FALSE(r.exit_code) << r.text;
  EXPECT_EQ(r.command, "list");
  EXPECT_EQ(v.queue, 0);
  EXPECT_EQ(v.service_ms, 55.9);
}

TEST(Options, PreferTheCommandLineToTheEnvironmentAndOursToTheExtraVariable) {
  Values v;
  const Environment env{{"TTS_MAX_QUEUE_DEPTH", "7"}, {"MAX_QUEUE_DEPTH", "9"}, {"TTS_EMF", "on"}};
  ASSERT_FALSE(parse_options(v.program(), {"list"}, env).exit_code);
  EXPECT_EQ(v.queue, 7);
  EXPECT_TRUE(v.emf);
  ASSERT_FALSE(parse_options(v.program(), {"list", "--max-queue-depth", "50", "--emf=false"}, env).exit_code);
  EXPECT_EQ(v.queue, 50);
  EXPECT_FALSE(v.emf);
  ASSERT_FALSE(parse_options(v.program(), {"list"}, {{"MAX_QUEUE_DEPTH", "9"}}).exit_code);
  EXPECT_EQ(v.queue, 9);
}

TEST(Options, AcceptCommonOptionsBeforeAndAfterTheCommand) {
  Values v;
  const auto r = parse_options(
      v.program(),
      {"--service-ms=1.5", "measure", "a.json", "--hold", "2m", "--emf", "--rungs", "1,2", "--rungs", "3"},
      {});
  ASSERT_FALSE(r.exit_code) << r.text;
  EXPECT_EQ(v.service_ms, 1.5);
  EXPECT_EQ(v.hold, 120s);
  EXPECT_TRUE(v.emf);
  EXPECT_EQ(v.file, "a.json");
  EXPECT_THAT(v.rungs, ElementsAre(1, 2, 3));
}

TEST(Options, NameAnUnknownOptionAndTheNearestOne) {
  Values v;
  const auto r = parse_options(v.program(), {"list", "--max-que-depth", "5"}, {});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.text, HasSubstr("unknown option '--max-que-depth'"));
  EXPECT_THAT(r.text, HasSubstr("--max-queue-depth"));
}

TEST(Options, NameAnUnknownCommandAndTheNearestOne) {
  Values v;
  const auto r = parse_options(v.program(), {"mesure", "x"}, {});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.text, HasSubstr("unknown command 'mesure'; did you mean 'measure'?"));
}

TEST(Options, RefuseWhatIsNotANumberOrOutOfRange) {
  const std::vector<std::vector<std::string>> bad{{"--max-queue-depth", "x"},    {"--max-queue-depth", "-1"},
                                                  {"--max-queue-depth", "1001"}, {"--max-queue-depth", "1.5"},
                                                  {"--service-ms", "nan"},       {"--service-ms", "inf"},
                                                  {"--service-ms", "1ms"},       {"--voice", "zz"},
                                                  {"--max-queue-depth"},         {"--emf=perhaps"}};
  for (auto args : bad) {
    Values v;
    args.insert(args.begin(), "list");
    const auto r = parse_options(v.program(), args, {});
    EXPECT_EQ(r.exit_code, 2) << args.back();
    EXPECT_THAT(r.text, HasSubstr(args[1].substr(0, args[1].find('=')))) << r.text;
  }
}

TEST(Options, NameTheEnvironmentVariableThatDoesNotParse) {
  Values v;
  const auto r = parse_options(v.program(), {"list"}, {{"MAX_QUEUE_DEPTH", "many"}});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.text, HasSubstr("MAX_QUEUE_DEPTH"));
}

TEST(Options, WarnAboutAVariableThatBelongsToNoOption) {
  Values v;
  const auto r = parse_options(v.program(), {"list"}, {{"TTS_SERVICE_M", "1"}, {"OTHER", "1"}});
  ASSERT_EQ(r.warnings.size(), 1U);
  EXPECT_THAT(r.warnings[0], HasSubstr("TTS_SERVICE_MS"));
}

TEST(Options, DemandARequiredWordAndTakeAListOfWords) {
  Values v;
  const auto missing = parse_options(v.program(), {"measure"}, {});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.text, HasSubstr("FILE"));
  ASSERT_FALSE(parse_options(v.program(), {"list", "a", "b", "--emf"}, {}).exit_code);
  EXPECT_THAT(v.words, ElementsAre("a", "b"));
  EXPECT_EQ(parse_options(v.program(), {}, {}).exit_code, 2);
}

TEST(Options, TakeTheDefaultCommandWhenNoneIsNamed) {
  Values v;
  auto p = v.program();
  p.default_command = "list";
  const auto r = parse_options(p, {"--emf"}, {});
  ASSERT_FALSE(r.exit_code) << r.text;
  EXPECT_EQ(r.command, "list");
}

TEST(Options, PrintEveryOptionWithDefaultAndEnvironmentInHelp) {
  Values v;
  const auto r = parse_options(v.program(), {"measure", "--help"}, {});
  EXPECT_EQ(r.exit_code, 0);
  for (const char* part : {"--hold TIME", "default 240s", "TTS_MAX_QUEUE_DEPTH, MAX_QUEUE_DEPTH",
                           "one of af_heart|bm_george", "FILE"})
    EXPECT_THAT(r.text, HasSubstr(part));
  EXPECT_EQ(parse_options(v.program(), {"--version"}, {}).text, "prog 0.1.0\n");
  EXPECT_THAT(parse_options(v.program(), {"--help"}, {}).text, HasSubstr("measure"));
}

TEST(Options, RecordWhereEachValueCameFrom) {
  Values v;
  auto p = v.program();
  p.options[3].secret = true;
  const auto r = parse_options(p, {"list", "--max-queue-depth", "5"}, {{"TTS_SERVICE_MS", "2"}});
  ASSERT_EQ(r.settings.size(), 5U);
  EXPECT_EQ(r.settings[0].value + " " + r.settings[0].source, "5 command line");
  EXPECT_EQ(r.settings[1].value + " " + r.settings[1].source, "2 environment TTS_SERVICE_MS");
  EXPECT_EQ(r.settings[2].source, "default");
  EXPECT_EQ(r.settings[3].value, "(secret)");
}

TEST(Durations, AreReadWithTheirUnitOrAsSeconds) {
  EXPECT_EQ(*parse_duration("500ms"), 500ms);
  EXPECT_EQ(*parse_duration("0s"), 0s);
  EXPECT_EQ(*parse_duration("2m"), 120s);
  EXPECT_EQ(*parse_duration("1.5h"), 90min);
  EXPECT_EQ(*parse_duration("20"), 20s);
  for (const char* bad : {"", "s", "-1s", "1d", "1 s", "nan", "1e5", "99999999999999h"})
    EXPECT_FALSE(parse_duration(bad)) << bad;
  EXPECT_EQ(format_duration(250ms), "250ms");
  EXPECT_EQ(format_duration(120s), "120s");
}

}  // namespace
}  // namespace headroom::base
