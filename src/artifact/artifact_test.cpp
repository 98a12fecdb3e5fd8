// Artifacts: round trips, schemas, what is refused and how it is said.
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "artifact/artifacts.hpp"
#include "artifact/schema_check.hpp"
#include "base/atomic_file.hpp"

namespace headroom::artifact {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::ordered_json;

Header header() {
  Header h;
  h.created = "2026-11-29T15:00:00.000Z";
  h.run_id = "0abcdefghi123";
  h.fingerprint = {"speech-a",        "AllTraffic", "ml.g5.xlarge",           "sha256:00",
                   "response-stream", "w1",         {{"TTS_ENGINE", "paced"}}};
  h.settings = {{"hold", "240s", "default"}};
  h.effective = {{"method", "ladder"}};
  h.notes = {"paced engine"};
  h.counts = capacity::Counts{10, 6, 1, 1, 1, 1};
  return h;
}

QmaxArtifact qmax() {
  QmaxArtifact a;
  a.header = header();
  a.method = "ladder";
  a.transport = "response-stream";
  for (const int n : {1, 5, 10}) {
    capacity::Rung r;
    r.n = n;
    r.p95_ms = n * 400.0;
    r.rps = 2.0;
    r.verdict = n < 10 ? capacity::RungVerdict::kPass : capacity::RungVerdict::kFail;
    r.counts = capacity::Counts{5, 5, 0, 0, 0, 0};
    r.metric_ratio = 1.01;
    a.rungs.push_back(r);
  }
  a.result = capacity::evaluate_qmax(a.rungs, a.slo_ms);
  a.knee_n = 1;
  a.unqueued = {390.0, 400.0, {380.0, 390.0, 400.0}};
  a.calibration.ratio = 1.01;
  a.paced_engine = true;
  a.server_queue_limit = 0;
  return a;
}

TtotalArtifact ttotal() {
  using namespace std::chrono_literals;
  TtotalArtifact a;
  a.header = header();
  a.transport = "response-stream";
  a.stages = *capacity::stages_from_stamps({{"load_applied", 0s},
                                            {"desired_set", 3s},
                                            {"in_service", 7s, capacity::StageKind::kBounded, 1},
                                            {"traffic_recovered", 9s}});
  a.measured_total_s = a.stages.measured_total_s;
  a.policy_lag_bound_s = 60;
  a.total_s = 66;
  a.client_bound = "one lane stood still for 3 s";
  return a;
}

PlanArtifact plan(capacity::Rule rule = capacity::Rule::kRecommended) {
  const auto q = qmax();
  capacity::PlanInput in;
  in.rule = rule;
  in.endpoint = "speech-a";
  in.rungs = q.rungs;
  in.q_max = q.result.q_max;
  in.unqueued_mean_ms = 390;
  in.unqueued_p95_ms = 400;
  in.calibration_ratio = 1.01;
  in.measured_total_s = 6;
  in.total_s = 66;
  in.peak_rps = 3;
  in.trough_rps = 1;
  PlanArtifact a;
  a.header = header();
  a.header.counts.reset();
  a.transport = "response-stream";
  a.plan = *capacity::make_plan(in);
  a.qmax_file = "q.json";
  return a;
}

TEST(QmaxArtifact, SurvivesTheRoundTrip) {
  const auto text = to_json_text(qmax());
  ASSERT_TRUE(text) << text.error().message;
  const auto back = parse_qmax(*text, "q.json");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*to_json_text(*back), *text);
  EXPECT_EQ(back->result.q_max, 5);
  EXPECT_EQ(back->rungs.size(), 3U);
  EXPECT_EQ(back->header.fingerprint, header().fingerprint);
  EXPECT_EQ(back->header.counts, header().counts);
  EXPECT_EQ(back->header.settings.at(0).source, "default");
  EXPECT_EQ(back->server_queue_limit, 0);
  EXPECT_THAT(back->unqueued.sample_ms, ElementsAre(380, 390, 400));
  EXPECT_FALSE(back->host_contended);
}

TEST(QmaxArtifact, HasTheKeysOthersRelyOn) {
  const Json j = Json::parse(*to_json_text(qmax()));
  EXPECT_EQ(j["schema"], "headroom/qmax");
  EXPECT_EQ(j["version"], 1);
  for (const char* key : {"rungs", "q_max", "q_max_estimate", "q_max_interval", "first_fail", "verdict",
                          "knee_n", "unqueued", "slo_ms", "transport", "fingerprint"})
    EXPECT_TRUE(j.contains(key)) << key;
  for (const char* key : {"n", "held_mean", "p50_ms", "p95_ms", "p99_ms", "rps", "verdict", "metric_ratio",
                          "started", "ok", "rejected", "failed", "timed_out", "aborted"})
    EXPECT_TRUE(j["rungs"][0].contains(key)) << key;
  EXPECT_TRUE(j["rungs"][0]["p50_ms"].is_null());  // unknown is null
  EXPECT_EQ(j["q_max_interval"], Json::array({5.0, 9.0}));
}

TEST(TtotalArtifact, SurvivesTheRoundTrip) {
  const auto text = to_json_text(ttotal());
  ASSERT_TRUE(text) << text.error().message;
  const auto back = parse_ttotal(*text, "t.json");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*to_json_text(*back), *text);
  const Json j = Json::parse(*text);
  EXPECT_EQ(j["stages"]["before_clock"][0]["to"], "desired_set");
  EXPECT_EQ(j["stages"]["measured"][0]["kind"], "bounded");
  EXPECT_EQ(j["measured_total_s"], 6.0);
}

TEST(PlanArtifact, SurvivesTheRoundTripWithItsWholePolicy) {
  for (const auto rule : {capacity::Rule::kRecommended, capacity::Rule::kPublished}) {
    const auto a = plan(rule);
    const auto text = to_json_text(a);
    ASSERT_TRUE(text) << text.error().message;
    const auto back = parse_plan(*text, "p.json");
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*to_json_text(*back), *text);
    EXPECT_EQ(back->plan.policy.scale_out, a.plan.policy.scale_out);
    EXPECT_EQ(back->plan.policy.scale_in, a.plan.policy.scale_in);
    EXPECT_EQ(back->plan.policy.alarms, a.plan.policy.alarms);
  }
}

TEST(PlanArtifact, HasTheKeysOthersRelyOn) {
  const Json j = Json::parse(*to_json_text(plan()));
  for (const char* key :
       {"rule", "scale_out_target", "scale_in_threshold", "queue_limit", "min_instances", "max_instances",
        "scale_out_cooldown_s", "scale_in_cooldown_s", "unqueued_alarm_ms", "safe_scale_in_minimum",
        "w_max_s", "utilisation", "policy", "alternatives", "verdict", "findings"})
    EXPECT_TRUE(j.contains(key)) << key;
  for (const char* key : {"carrier", "growth", "rate_per_instance_rps", "scale_out", "scale_in", "alarms"})
    EXPECT_TRUE(j["policy"].contains(key)) << key;
}

TEST(ValidateAndDrift, AreWrittenWithTheirChecks) {
  ValidateArtifact v{header(),
                     "plan.json",
                     {{"target.max", "ERROR", "5", "9", "tts-bench apply --plan plan.json"}},
                     "different"};
  const Json j = Json::parse(*to_json_text(v));
  EXPECT_EQ(j["checks"][0]["wanted"], "9");
  v.verdict = "perhaps";
  EXPECT_FALSE(to_json_text(v));
  DriftArtifact d{header(), {}, "clean"};
  EXPECT_TRUE(to_json_text(d));
}

TEST(Artifact, IsNotWrittenWhenItsCountsDoNotAddUp) {
  auto a = qmax();
  a.header.counts->ok++;
  EXPECT_THAT(to_json_text(a).error().message, HasSubstr("/counts"));
  a = qmax();
  a.rungs[1].counts->started++;
  EXPECT_THAT(to_json_text(a).error().message, HasSubstr("/rungs/1: started 6"));
}

TEST(Artifact, IsNotWrittenWithNanAndSaysWhere) {
  auto a = qmax();
  a.rungs[2].p95_ms = std::nan("");
  const auto text = to_json_text(a);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("/rungs/2/p95_ms"));
  auto t = ttotal();
  t.total_s = INFINITY;
  EXPECT_FALSE(to_json_text(t));
}

TEST(Artifact, RefusedOnReadingNamesFilePointerExpectationAndRemedy) {
  const auto error = [](auto change) {
    Json j = Json::parse(*to_json_text(qmax()));
    change(j);
    const auto back = parse_qmax(j.dump(), "some/qmax.json");
    return back ? "accepted" : back.error().message;
  };
  EXPECT_THAT(error([](Json& j) { j["rungs"][1]["n"] = "five"; }),
              HasSubstr("some/qmax.json: /rungs/1/n: expected integer, found \"five\""));
  EXPECT_THAT(error([](Json& j) { j.erase("q_max"); }),
              HasSubstr("/q_max: expected this key, found nothing"));
  EXPECT_THAT(error([](Json& j) { j["rungs"][0]["ok"] = 4; }), HasSubstr("started 5 is not ok + rejected"));
  EXPECT_THAT(error([](Json& j) { j["rungs"][0]["ok"] = -4; }), HasSubstr("at least 0"));
  EXPECT_THAT(error([](Json& j) { j["verdict"] = "maybe"; }), HasSubstr("one of"));
  EXPECT_THAT(error([](Json& j) { j["schema"] = "headroom/plan"; }),
              HasSubstr("expected 'headroom/qmax', found 'headroom/plan'"));
  EXPECT_THAT(error([](Json& j) { j["version"] = 2; }), HasSubstr("another version"));
  EXPECT_THAT(error([](Json& j) { j["rungs"] = Json::array(); }),
              HasSubstr("/rungs: expected at least 1 elements"));
  EXPECT_THAT(error([](Json& j) { j["q_max"] = 1e12; }), HasSubstr("does not fit"));
  EXPECT_THAT(error([](Json& j) { j["fingerprint"]["environment"]["A"] = 1; }),
              HasSubstr("/fingerprint/environment/A"));
  EXPECT_THAT(error([](Json& j) { j["slo_ms"] = nullptr; }), HasSubstr("/slo_ms"));
}

TEST(Artifact, AllowsUnknownKeys) {
  Json j = Json::parse(*to_json_text(qmax()));
  j["future"] = {{"a", 1}};
  j["rungs"][0]["extra"] = "x";
  EXPECT_TRUE(parse_qmax(j.dump(), "q"));
}

TEST(Artifact, OfBareResultsIsEnough) {
  const char* text =
      R"({"schema":"headroom/qmax","version":1,"slo_ms":3000,"q_max":5,"unqueued":{"mean_ms":61,"p95_ms":66},
    "rungs":[{"n":5,"p95_ms":286,"rps":17,"metric_ratio":1.0},{"n":60,"p95_ms":3300}],"transport":"buffered"})";
  const auto a = parse_qmax(text, "q");
  ASSERT_TRUE(a) << a.error().message;
  EXPECT_EQ(a->result.verdict, capacity::QmaxVerdict::kBracketed);
  EXPECT_EQ(a->result.first_fail, 60);
  EXPECT_EQ(a->knee_n, 5);
  EXPECT_EQ(a->calibration.ratio, 1.0);
  EXPECT_EQ(a->header.fingerprint.transport, "buffered");
  EXPECT_FALSE(a->header.fingerprint.known());
}

TEST(Artifact, NeverCrashesOnWhatIsNotOne) {
  for (const std::string text :
       {"", "{", "[]", "null", "5", "\"x\"", "{\"schema\":5}", "{\"schema\":\"headroom/qmax\"}", "\xff\xfe",
        "{\"schema\":\"headroom/qmax\",\"version\":1,\"rungs\":{}}"}) {
    const auto a = parse_qmax(text, "q.json");
    ASSERT_FALSE(a) << text;
    EXPECT_EQ(a.error().code, base::ErrorCode::kInvalidData);
    EXPECT_THAT(a.error().message, HasSubstr("q.json"));
  }
  std::string deep(100000, '[');
  EXPECT_FALSE(parse_qmax(deep, "q"));
  EXPECT_FALSE(parse_plan(
      "{\"schema\":\"headroom/plan\",\"version\":1,\"x\":" + deep + std::string(100000, ']') + "}", "p"));
}

TEST(Artifact, GoesToItsFileWholeWithItsFolder) {
  char name[] = "/tmp/headroom-artifact-XXXXXX";
  const std::string folder = ::mkdtemp(name);
  const std::string path = folder + "/a/b/qmax.json";
  ASSERT_TRUE(write_artifact(path, qmax()));
  EXPECT_TRUE(read_qmax(path));
  EXPECT_EQ(read_ttotal(path).error().code, base::ErrorCode::kInvalidData);
  const auto missing = read_plan(folder + "/none");
  EXPECT_EQ(missing.error().code, base::ErrorCode::kNotFound);
  EXPECT_NE(missing.error().message.find("tts-bench plan"), std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST(DefaultFolder, RefusesHostileEndpoints) {
  EXPECT_EQ(*default_folder("speech-a"), "artifacts/speech-a");
  for (const char* bad : {"../x", "a/b", "", "-a"}) EXPECT_FALSE(default_folder(bad));
}

TEST(Fingerprint, NamesEachDifference) {
  auto left = header().fingerprint;
  auto right = left;
  EXPECT_THAT(differences(left, right), IsEmpty());
  right.transport = "buffered";
  right.workload_hash = "w2";
  right.environment["TTS_WORKERS"] = "2";
  EXPECT_THAT(differences(left, right),
              ElementsAre("transport: 'response-stream' against 'buffered'",
                          "workload hash: 'w1' against 'w2'", "environment TTS_WORKERS: unset against '2'"));
}

TEST(Fingerprint, ComparesNeitherQueueDepthNorEmfNorTheUnknown) {
  auto left = header().fingerprint;
  auto right = left;
  right.environment["MAX_QUEUE_DEPTH"] = "50";
  right.environment["TTS_MAX_QUEUE_DEPTH"] = "50";
  right.environment["TTS_EMF"] = "1";
  right.image_digest.reset();
  EXPECT_THAT(differences(left, right), IsEmpty());
}

TEST(Fingerprint, StoresNoSecret) {
  EXPECT_EQ(environment_value("TTS_ENGINE", "openvino"), "openvino");
  for (const char* name : {"HF_TOKEN", "TTS_API_KEY", "DATABASE_URL", "AWS_SECRET_ACCESS_KEY"}) {
    const auto stored = environment_value(name, "hunter2");
    EXPECT_EQ(stored.rfind("sha256:", 0), 0U) << name;
    EXPECT_EQ(stored.find("hunter2"), std::string::npos);
    EXPECT_EQ(stored, environment_value(name, "hunter2"));
    EXPECT_NE(stored, environment_value(name, "hunter3"));
  }
}

TEST(Schemas, PromiseNothingThatIsNotChecked) {
  for (const char* name : {"qmax", "ttotal", "plan", "validate", "drift"}) {
    ASSERT_TRUE(schema_text(name)) << name;
    const Json schema = Json::parse(schema_text(name));
    EXPECT_THAT(unknown_keywords(schema), IsEmpty()) << name;
    const auto file = base::read_file(std::string("docs/schemas/") + name + ".schema.json");
    ASSERT_TRUE(file);
    EXPECT_EQ(Json::parse(*file), schema);  // what is embedded is what is documented
  }
  EXPECT_FALSE(schema_text("other"));
  EXPECT_THAT(unknown_keywords(Json{{"properties", {{"a", {{"pattern", "x"}}}}}}), ElementsAre("pattern"));
}

TEST(SchemaCheck, KnowsEachKeyword) {
  const auto problem = [](const char* value, const char* schema) {
    const auto p = check_schema(Json::parse(value), Json::parse(schema));
    return p ? p->pointer + " " + p->expected : "";
  };
  EXPECT_EQ(problem("1.0", R"({"type":"integer"})"), "");
  EXPECT_EQ(problem("1.5", R"({"type":"integer"})"), " integer");
  EXPECT_EQ(problem("null", R"({"type":["string","null"]})"), "");
  EXPECT_EQ(problem("true", R"({"type":["string","null"]})"), " string or null");
  EXPECT_EQ(problem("[1,2,3]", R"({"maxItems":2})"), " at most 2 elements");
  EXPECT_EQ(problem("[1,\"x\"]", R"({"items":{"type":"number"}})"), "/1 number");
  EXPECT_EQ(problem("6", R"({"maximum":5})"), " at most 5");
  EXPECT_EQ(problem(R"({"a/b":1})", R"({"properties":{"a/b":{"type":"string"}}})"), "/a~1b string");
  EXPECT_EQ(problem(R"({"x":1})", R"({"additionalProperties":false})"), "/x no such key");
  EXPECT_EQ(problem(R"({"x":1})", R"({"additionalProperties":{"type":"string"}})"), "/x string");
  EXPECT_EQ(problem("3", R"({"enum":[1,2]})"), " one of [1,2]");
}

}  // namespace
}  // namespace headroom::artifact
