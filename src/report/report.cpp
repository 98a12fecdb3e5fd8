// The page: style, header, the sections in the order in which people ask.
#include "report/report.hpp"

#include <fmt/format.h>

#include "report/html.hpp"
#include "report/sections.hpp"

namespace headroom::report {
namespace {

// Colours are told apart in both schemes and by people who see few of them (blue, orange, and grey tones);
// lines also differ by dash and label.
constexpr const char* kStyle = R"(
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#59636e;--line:#d6dbe1;--card:#f5f7f9;--c1:#0b62c4;--c2:#b35900;--c3:#6b3fa0;--c4:#00736b;--band:#0b62c41f;--bad:#b3261e;--warn:#8a5a00;--ok:#1a6b34}
@media(prefers-color-scheme:dark){:root{--bg:#14171a;--fg:#e6e9ec;--dim:#9aa5b1;--line:#343b43;--card:#1d2227;--c1:#6cb2ff;--c2:#ffab5e;--c3:#c3a1f5;--c4:#5fd0c5;--band:#6cb2ff26;--bad:#ff8a80;--warn:#ffcf70;--ok:#7bd694}}
*{box-sizing:border-box}body{margin:0 auto;max-width:60rem;padding:1.5rem 1rem 4rem;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.6rem;line-height:1.2;margin:0 0 .25rem;overflow-wrap:anywhere}h2{font-size:1.2rem;margin:2.5rem 0 .5rem}h3{font-size:1rem;margin:1.5rem 0 .25rem}
p{margin:.5rem 0}.quiet{color:var(--dim);font-size:.875rem}code{font-size:.85em;overflow-wrap:anywhere}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.5rem;margin:1rem 0}.tile{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.6rem .75rem;display:flex;flex-direction:column}.tile span,.tile small{color:var(--dim);font-size:.8rem}.tile b{font-size:1.25rem;line-height:1.3}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.875rem;margin:.5rem 0}th,td{text-align:left;padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line);vertical-align:top}th{color:var(--dim);font-weight:600}.n{font-variant-numeric:tabular-nums}
.level{white-space:nowrap}.FAIL{color:var(--bad)}.WARN{color:var(--warn)}.OK{color:var(--ok)}.FAIL::before{content:"\2716\00a0"}.WARN::before{content:"\25B2\00a0"}.OK::before{content:"\2713\00a0"}.INFO::before{content:"\25CB\00a0"}
figure{margin:1rem 0}figcaption{font-weight:600;font-size:.95rem;margin-bottom:.25rem}svg{width:100%;height:auto;display:block}
svg text{font:12px system-ui,sans-serif;fill:var(--dim)}.grid{stroke:var(--line)}.axis{stroke:var(--dim)}.rule{stroke:var(--fg);stroke-dasharray:4 3}.band{fill:var(--band)}svg .mark{fill:var(--fg)}.line{fill:none;stroke-width:2}.whisker{fill:none;stroke-width:1.5}.whisker.c1{stroke:var(--c1)}
.line.c1,.dot.c1{stroke:var(--c1)}.line.c2,.dot.c2{stroke:var(--c2)}.line.c3,.dot.c3{stroke:var(--c3)}.line.c4,.dot.c4{stroke:var(--c4)}.dot{fill:var(--bg);stroke-width:2}svg .end.c1{fill:var(--c1)}svg .end.c2{fill:var(--c2)}svg .end.c3{fill:var(--c3)}svg .end.c4{fill:var(--c4)}
.bar{display:flex;height:2.25rem;border-radius:.35rem;overflow:hidden;gap:1px}.part{min-width:1px;color:var(--bg);text-align:center;font-size:.8rem;line-height:2.25rem}.p0{background:var(--c1)}.p1{background:var(--c2)}.p2{background:var(--c3)}.p3{background:var(--c4)}.p4{background:var(--dim)}.p5{background:var(--fg)}.hatched{background-image:repeating-linear-gradient(45deg,transparent 0 5px,var(--bg) 5px 7px)}
.keys{columns:2;font-size:.875rem;padding-left:1.5rem;margin:.5rem 0}.keys li{break-inside:avoid}.key{display:inline-block;width:.75rem;height:.75rem;border-radius:.15rem;margin-right:.35rem}
.id{white-space:nowrap}summary{cursor:pointer;color:var(--dim);font-size:.9rem}@media(max-width:36rem){.keys{columns:1}h1{font-size:1.3rem}svg text{font-size:17px}}
@media print{details>*{display:block}}
)";

std::string missing(const char* what, const char* command) {
  return fmt::format("<section><h2>{}</h2><p class=quiet>Not measured yet: {}.</p></section>\n", what,
                     command);
}

}  // namespace

std::string render(const ReportInput& in) {
  std::string out = "<!doctype html>\n<html lang=en><head><meta charset=utf-8>\n";
  out += "<meta name=viewport content='width=device-width,initial-scale=1'>\n";
  // Nothing is loaded and nothing runs, whatever a string in an artifact tries.
  out +=
      "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "img-src data:\">\n";  // the empty icon, which keeps a browser from asking for one
  out += "<link rel=icon href='data:,'>\n";
  out +=
      fmt::format("<title>Headroom: {}</title>\n<style>{}</style></head><body>\n", escaped(in.title), kStyle);
  out += fmt::format(
      "<header><h1>{}</h1><p class=quiet>Capacity and scaling, measured. {}</p></header>\n<main>\n",
      escaped(in.title), escaped(in.created));
  out += tiles(in);
  out += in.plan ? findings_section(*in.plan) : missing("The plan", "tts-bench plan");
  out += in.qmax ? latency_section(*in.qmax) : missing("What one instance carries", "tts-bench qmax");
  out += in.ttotal ? stages_section(*in.ttotal) : missing("How long new capacity takes", "tts-bench ttotal");
  if (in.plan) out += plan_section(*in.plan);
  out += in.simulate ? simulation_section(*in.simulate, in.plan) : missing("Simulated", "tts-bench simulate");
  out += provenance_section(in);
  return out + "</main></body></html>\n";
}

}  // namespace headroom::report
