// The page itself.
#include "cloud/status_page.hpp"

namespace headroom::cloud {
namespace {

constexpr std::string_view kPage = R"html(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>tts-local</title>
<link rel="icon" href="data:,">
<style nonce="NONCE">
:root { color-scheme: light dark; --ink: #1b2430; --soft: #5d6b7c; --line: #d6dce3; --card: #fff; --back: #f3f5f8;
  --good: #197a43; --busy: #a15c00; --bad: #b3261e; --live: #1f5fbf; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf1; --soft: #98a5b5; --line: #333d4a; --card: #1b222b; --back: #12171d;
  --good: #5cc98b; --busy: #e7a94a; --bad: #ff8a80; --live: #7db0ff; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 24px; background: var(--back); color: var(--ink); font: 14px/1.5 system-ui, sans-serif; }
main { max-width: 1080px; margin: auto; display: grid; gap: 16px; }
header { display: flex; gap: 16px; align-items: baseline; flex-wrap: wrap; }
h1 { font-size: 20px; margin: 0; } h2 { font-size: 15px; margin: 0 0 8px; } h3 { font-size: 14px; margin: 12px 0 4px; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 16px; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: 4px 12px 4px 0; vertical-align: top; }
th { color: var(--soft); font-weight: 500; border-bottom: 1px solid var(--line); } td.n { font-variant-numeric: tabular-nums; }
.soft { color: var(--soft); } .good { color: var(--good); } .busy { color: var(--busy); } .bad { color: var(--bad); }
.mark { font-weight: 600; } svg { width: 100%; height: 120px; display: block; } svg text { font-size: 11px; fill: var(--soft); }
.curve { fill: none; stroke: var(--live); stroke-width: 2; } .dot { fill: var(--live); } .rule { stroke: var(--busy); stroke-dasharray: 5 4; }
.axis { stroke: var(--line); }
</style>
<main>
<header><h1>tts-local</h1><span id="head" class="soft">connecting…</span></header>
<div id="endpoints"></div>
<section><h2>Alarms</h2><div id="alarms"></div></section>
<section><h2>Scaling activities</h2><div id="activities"></div></section>
</main>
<script nonce="NONCE">
"use strict";
const history = new Map(), seconds = 120;
const el = (tag, text, kind) => { const e = document.createElement(tag); if (text !== undefined) e.textContent = text; if (kind) e.className = kind; return e; };
const put = (parent, ...children) => { parent.append(...children); return parent; };
const tone = s => ({ InService: "good", OK: "good", "in service": "good", Successful: "good", Failed: "bad", ALARM: "bad" }[s] || "busy");
const svg = (tag, attributes, text) => { const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v); if (text !== undefined) e.textContent = text; return e; };
function table(names, rows) {
  if (!rows.length) return el("p", "none", "soft");
  const t = el("table"), h = el("tr");
  for (const n of names) h.append(el("th", n));
  t.append(h);
  for (const row of rows) { const r = el("tr"); for (const [text, kind] of row) r.append(el("td", text, kind)); t.append(r); }
  return t;
}
function chart(key, variant, now) {
  const points = history.get(key) || []; history.set(key, points);
  points.push([now, variant.busiest]);
  while (points[0][0] < now - seconds) points.shift();
  const top = Math.max(4, ...points.map(p => p[1]), ...variant.lines.map(l => l.value)) * 1.15;
  const x = t => 40 + (t - now + seconds) / seconds * 950, y = v => 105 - v / top * 95;
  const s = svg("svg", { viewBox: "0 0 1000 120", preserveAspectRatio: "none", role: "img" });
  s.append(svg("title", {}, "Requests in flight on the busiest instance, last two minutes"));
  s.append(svg("line", { x1: 40, x2: 990, y1: 105, y2: 105, class: "axis" }), svg("text", { x: 0, y: 14 }, top.toFixed(0)), svg("text", { x: 0, y: 108 }, "0"));
  variant.lines.forEach((line, i) => s.append(svg("line", { x1: 40, x2: 990, y1: y(line.value), y2: y(line.value), class: "rule" }),
    svg("text", { x: 46 + i % 4 * 235, y: y(line.value) - 4 }, line.name.slice(-28) + " " + line.value)));
  s.append(svg("polyline", { points: points.map(p => x(p[0]) + "," + y(p[1])).join(" "), class: "curve" }),
    svg("circle", { cx: x(now), cy: y(variant.busiest), r: 4, class: "dot" }));
  return s;
}
function endpoint(e, now) {
  const box = el("section");
  put(box, put(el("h2"), el("span", e.name + " "), el("span", e.status, "mark " + tone(e.status)),
    el("span", " config " + e.config + (e.pending ? ", changing to " + e.pending : ""), "soft")));
  if (e.reason) box.append(el("p", e.reason, "bad"));
  for (const v of e.variants) {
    const bounds = v.max === undefined ? "no scalable target" : "scalable " + v.min + " to " + v.max;
    put(box, put(el("h3"), el("span", v.name + " "), el("span", v.in_flight + " in flight, desired " + v.desired + ", weight " + v.weight +
      ", model " + v.model + ", " + bounds, "soft")), chart(e.name + "/" + v.name, v, now),
      table(["instance", "state", "in flight", "for"], v.instances.map(i => [[i.id], [i.state + (i.new ? " (new fleet)" : ""), tone(i.state)],
        [i.in_flight, "n"], [i.for_s.toFixed(0) + " s", "n"]])));
  }
  return box;
}
function show(s) {
  const time = t => new Date(t * 1000).toLocaleTimeString();
  document.getElementById("head").textContent = s.region + " · " + s.used + " of " + s.quota + " instances" +
    (s.fast > 1 ? " · time ×" + s.fast : "") + " · " + time(s.time);
  const fill = (id, ...what) => document.getElementById(id).replaceChildren(...what);
  fill("endpoints", ...(s.endpoints.length ? s.endpoints.map(e => endpoint(e, s.time)) : [put(el("section"), el("p", "no endpoints", "soft"))]));
  fill("alarms", table(["alarm", "state", "metric", "reason"], s.alarms.map(a => [[a.name], [a.state, "mark " + tone(a.state)], [a.metric], [a.reason]])));
  fill("activities", table(["time", "resource", "what", "cause", "status"], s.activities.map(a =>
    [[time(a.time), "n"], [a.resource], [a.what], [a.cause], [a.status, tone(a.status)]])));
}
const source = new EventSource("events" + location.search);
source.onmessage = m => { show(JSON.parse(m.data)); document.body.dataset.live = "yes"; };
source.onerror = () => { document.getElementById("head").textContent = "tts-local does not answer; trying again"; };
</script>
</html>
)html";

}  // namespace

std::string status_page(const std::string& nonce) {
  constexpr std::string_view kMark = "NONCE";
  std::string out(kPage);
  for (std::size_t at = 0; (at = out.find(kMark, at)) != std::string::npos; at += nonce.size())
    out.replace(at, kMark.size(), nonce);
  return out;
}

}  // namespace headroom::cloud
