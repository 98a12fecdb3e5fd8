// Tests of the choice of region and endpoint, from options, environment and profile files.
#include "aws/settings.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aws/bidi_invoker.hpp"
#include "aws/credentials.hpp"

namespace headroom::aws {
namespace {

using testing::HasSubstr;

class SettingsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("headroom-settings-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    set_files("", "");
    runtime_ = std::move(*Runtime::start({.loops = 1, .descriptors = 0, .trace_memory = true}));
  }
  void TearDown() override {
    EXPECT_EQ(Runtime::stop(std::move(runtime_)), 0u);
    std::filesystem::remove_all(folder_);
    ::unsetenv("AWS_CONFIG_FILE");
    ::unsetenv("AWS_SHARED_CREDENTIALS_FILE");
  }
  void set_files(const std::string& config, const std::string& credentials) {
    std::ofstream(folder_ / "config") << config;
    std::ofstream(folder_ / "credentials") << credentials;
    ::setenv("AWS_CONFIG_FILE", (folder_ / "config").c_str(), 1);
    ::setenv("AWS_SHARED_CREDENTIALS_FILE", (folder_ / "credentials").c_str(), 1);
  }
  base::Result<Settings> load(const SettingsOptions& options,
                              std::map<std::string, std::string> environment) {
    return load_settings(*runtime_, options,
                         [environment](const std::string& name) -> std::optional<std::string> {
                           const auto found = environment.find(name);
                           if (found == environment.end()) return std::nullopt;
                           return found->second;
                         });
  }

  std::filesystem::path folder_;
  std::unique_ptr<Runtime> runtime_;
};

TEST_F(SettingsTest, UsesPublicHostsWithoutRedirection) {
  const auto settings = load({}, {{"AWS_REGION", "eu-central-1"}});
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->endpoint(Service::kSageMaker).url(),
            "https://api.sagemaker.eu-central-1.amazonaws.com");
  EXPECT_EQ(settings->endpoint(Service::kSageMakerRuntime).host,
            "runtime.sagemaker.eu-central-1.amazonaws.com");
  EXPECT_EQ(settings->endpoint(Service::kCloudWatch).host, "monitoring.eu-central-1.amazonaws.com");
  EXPECT_FALSE(settings->endpoint(Service::kSts).redirected);
}

TEST_F(SettingsTest, PrefersTheServicesOwnVariable) {
  const auto settings = load({}, {{"AWS_REGION", "us-east-1"},
                                  {"AWS_ENDPOINT_URL", "http://127.0.0.1:1"},
                                  {"AWS_ENDPOINT_URL_CLOUDWATCH_LOGS", "http://127.0.0.1:2"}});
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->endpoint(Service::kLogs).port, 2);
  EXPECT_EQ(settings->endpoint(Service::kSageMaker).port, 1);
}

TEST_F(SettingsTest, OptionWinsOverEverythingAndIgnoreSkipsTheRest) {
  SettingsOptions options;
  options.endpoint_url = "http://localhost:4599/";
  const auto chosen = load(options, {{"AWS_ENDPOINT_URL_STS", "http://127.0.0.1:2"},
                                     {"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"}});
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->endpoint(Service::kSts).url(), "http://localhost:4599");
  EXPECT_EQ(chosen->region, "us-east-1");  // everything is on this machine
  const auto ignored = load({}, {{"AWS_REGION", "us-east-1"},
                                 {"AWS_ENDPOINT_URL", "http://127.0.0.1:1"},
                                 {"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"}});
  ASSERT_TRUE(ignored);
  EXPECT_TRUE(ignored->endpoint(Service::kSageMaker).tls);
}

TEST_F(SettingsTest, ReadsProfileRegionServicesAndUrl) {
  set_files(
      "[profile local]\nregion = eu-west-1\nendpoint_url = http://127.0.0.1:5\nservices = mine\n"
      "[services mine]\nsagemaker_runtime =\n  endpoint_url = http://127.0.0.1:6\n",
      "[local]\naws_access_key_id = a\naws_secret_access_key = b\n");
  for (const bool by_option : {true, false}) {
    SettingsOptions options;
    std::map<std::string, std::string> environment;
    if (by_option) {
      options.profile = "local";
    } else {
      environment["AWS_PROFILE"] = "local";
    }
    const auto settings = load(options, environment);
    ASSERT_TRUE(settings) << settings.error().message;
    EXPECT_EQ(settings->region, "eu-west-1");
    EXPECT_EQ(settings->profile_named, by_option);
    EXPECT_EQ(settings->endpoint(Service::kSageMakerRuntime).port, 6);
    EXPECT_EQ(settings->endpoint(Service::kSageMaker).port, 5);
  }
}

TEST_F(SettingsTest, NamesWhatIsWrong) {
  EXPECT_THAT(load({}, {}).error().message, HasSubstr("region"));
  EXPECT_THAT(load({}, {{"AWS_REGION", "EU west"}}).error().message, HasSubstr("'EU west'"));
  SettingsOptions options;
  options.profile = "nobody";
  EXPECT_THAT(load(options, {{"AWS_REGION", "us-east-1"}}).error().message, HasSubstr("'nobody'"));
  const auto bad = load({}, {{"AWS_REGION", "us-east-1"}, {"AWS_ENDPOINT_URL", "localhost:1"}});
  EXPECT_THAT(bad.error().message, HasSubstr("'localhost:1'"));
  EXPECT_THAT(bad.error().context, HasSubstr("AWS_ENDPOINT_URL"));
}

TEST_F(SettingsTest, TheBidirectionalStreamStaysOnTheHostThatWasNamed) {
  const Environment none = [](const std::string&) { return std::nullopt; };
  for (const auto& [given, expected] :
       std::map<std::string, std::string>{{"http://[::1]:4599", "https://[::1]:4600"},
                                          {"http://127.0.0.2:4599", "https://127.0.0.2:4600"},
                                          {"http://localhost:4599", "https://localhost:4600"},
                                          {"https://localhost:4599", "https://localhost:4599"}}) {
    const auto settings = load({.endpoint_url = given}, {});
    ASSERT_TRUE(settings);
    EXPECT_EQ(bidi_endpoint(*settings, none).url(), expected);
  }
  const auto settings = load({.endpoint_url = "http://[::1]:4599"}, {});
  const auto own = bidi_endpoint(*settings, [](const std::string& name) -> std::optional<std::string> {
    if (name != "AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME_HTTP2") return std::nullopt;
    return "https://localhost:7000";
  });
  EXPECT_EQ(own.url(), "https://localhost:7000");
}

TEST(EndpointUrl, ParsesAndRefuses) {
  const auto six = parse_endpoint_url("http://[::1]:80");
  ASSERT_TRUE(six);
  EXPECT_TRUE(six->loopback());
  EXPECT_EQ(six->host_header(), "[::1]");
  EXPECT_EQ(parse_endpoint_url("https://h.example:8443/a/b/")->url(), "https://h.example:8443/a/b");
  for (const char* bad : {"ftp://x", "http://", "http://h:0", "http://h:99999", "http://h:", "http://u@h",
                          "http://h/?q", "http://[::1", "http://a b", "http://h\r\nX: y"}) {
    EXPECT_FALSE(parse_endpoint_url(bad)) << bad;
  }
  for (const char* near :
       {"http://127.0.0.1.example.com", "http://localhost.example.com", "http://10.0.0.1"}) {
    EXPECT_FALSE(parse_endpoint_url(near)->loopback()) << near;
  }
  EXPECT_TRUE(parse_endpoint_url("http://127.8.9.1")->loopback());
}

TEST_F(SettingsTest, FindsCredentialsOfAProfile) {
  set_files("", "[local]\naws_access_key_id = profilekey\naws_secret_access_key = b\n");
  SettingsOptions options;
  options.profile = "local";
  options.endpoint_url = "http://127.0.0.1:1";
  const auto settings = load(options, {});
  ASSERT_TRUE(settings);
  const auto credentials = Credentials::chain(*runtime_, *settings);
  const auto key = credentials->access_key_id(
      base::Deadline::after(base::SystemClock::instance(), std::chrono::seconds{5}));
  ASSERT_TRUE(key) << key.error().message;
  EXPECT_EQ(*key, "profilekey");
}

}  // namespace
}  // namespace headroom::aws
