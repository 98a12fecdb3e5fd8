// The report's promises: nothing unescaped, nothing unknown shown as a number, the artifacts' own figures.
#include "report/report.hpp"

#include <gtest/gtest.h>

#include "report/chart.hpp"
#include "report/html.hpp"

namespace headroom::report {
namespace {

bool has(const std::string& page, const std::string& text) { return page.find(text) != std::string::npos; }

artifact::QmaxArtifact measured() {
  artifact::QmaxArtifact qmax;
  for (const auto& [n, p95] : {std::pair{1, 65.4}, {10, 568.5}, {50, 2805.7}, {60, 3374.8}}) {
    capacity::Rung rung;
    rung.n = n;
    rung.p50_ms = 0.97 * p95;
    rung.p95_ms = p95;
    rung.rps = n == 1 ? 16.08 : 17.9;
    rung.verdict = p95 <= 3000 ? capacity::RungVerdict::kPass : capacity::RungVerdict::kFail;
    qmax.rungs.push_back(rung);
  }
  qmax.result = capacity::evaluate_qmax(qmax.rungs, 3000);
  qmax.knee_n = 10;
  return qmax;
}

TEST(Report, EscapesWhateverComesFromAnArtifact) {
  ReportInput in;
  in.title = "<script>alert(1)</script>";
  in.qmax = measured();
  in.qmax->result.sentence = "<img src=x onerror=alert(1)>";
  in.qmax->header.run_id = "'\"&<b>";
  const std::string page = render(in);
  EXPECT_FALSE(has(page, "<script"));
  EXPECT_FALSE(has(page, "<img"));
  EXPECT_TRUE(has(page, "&lt;script&gt;alert(1)&lt;/script&gt;"));
  EXPECT_TRUE(has(page, "&#39;&quot;&amp;&lt;b&gt;"));
}

TEST(Report, AsksForNothingFromOutside) {
  ReportInput in;
  in.qmax = measured();
  const std::string page = render(in);
  for (const char* sign : {"http://", "https://", "src=", "@import", "url("})
    EXPECT_FALSE(has(page, sign)) << sign;
}

TEST(Report, ShowsTheArtifactsOwnFigures) {
  ReportInput in;
  in.qmax = measured();
  const std::string page = render(in);
  EXPECT_TRUE(has(page, "<span>Q_max</span><b>50</b>"));
  EXPECT_TRUE(has(page, "2805.7 ms"));
  EXPECT_TRUE(has(page, "SLO 3000 ms"));
  EXPECT_TRUE(has(page, "knee 10"));
}

TEST(Report, DrawsTheIntervalOfARungThatHasOne) {
  ReportInput in;
  in.qmax = measured();
  EXPECT_FALSE(has(render(in), "<path class='whisker"));
  capacity::Rung& rung = in.qmax->rungs[1];
  rung.mean_ms = 500;
  rung.sd_ms = 40;
  rung.rounds = 30;
  rung.noise_ratio = 1.2;
  const std::string page = render(in);
  EXPECT_TRUE(has(page, "<path class='whisker c1'"));
  EXPECT_TRUE(has(page, "95 % interval"));
}

TEST(Report, SaysUnknownWhereNothingIsKnown) {
  ReportInput in;
  in.qmax.emplace();
  in.ttotal.emplace();
  in.plan.emplace();
  const std::string page = render(in);
  EXPECT_TRUE(has(page, "<span>Q_max</span><b>unknown</b>"));
  EXPECT_TRUE(has(page, "<span>T_total</span><b>unknown</b>"));
  EXPECT_TRUE(has(page, "unknown per million characters"));
  EXPECT_FALSE(has(page, "nan"));
  EXPECT_TRUE(has(render({}), "tts-bench qmax"));
}

TEST(Html, NumbersKeepTheirDigitsAndLoseTheirZeros) {
  EXPECT_EQ(shown(37.5), "37.5");
  EXPECT_EQ(shown(1234567.0), "1234567");
  EXPECT_EQ(shown(0.01234), "0.01234");
  EXPECT_EQ(shown(0.04, 2), "0.04");
  EXPECT_EQ(shown(std::optional<double>{}), "unknown");
  EXPECT_EQ(share_percent(0.99999), "99.99 %");
  EXPECT_EQ(share_percent(1.0), "100.00 %");
  EXPECT_EQ(bad_percent(0.00001), "0.01 %");
  EXPECT_EQ(bad_percent(0.0), "0.00 %");
}

TEST(Chart, TicksAreRoundAndCoverTheAxis) {
  EXPECT_EQ(ticks(60, 6), (std::vector<double>{0, 10, 20, 30, 40, 50, 60}));
  EXPECT_EQ(ticks(3374, 6).back(), 3000);
  EXPECT_EQ(ticks(0, 6), std::vector<double>{0});
  for (const double top : {0.003, 1.0, 7.0, 99.0, 12345.0}) {
    EXPECT_LE(ticks(top, 6).size(), 7U) << top;
    EXPECT_GE(ticks(top, 6).size(), 2U) << top;
  }
}

TEST(Chart, LeavesOutASeriesWithoutPoints) {
  LineChart chart;
  chart.title = "t";
  chart.series = {{"nothing", "c1", {}}};
  EXPECT_FALSE(has(svg(chart), "<path"));
}

}  // namespace
}  // namespace headroom::report
