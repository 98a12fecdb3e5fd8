// Drawing.
#include "report/chart.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/html.hpp"

namespace headroom::report {
namespace {

constexpr double kWidth = 720, kLeft = 64, kRight = 108, kTop = 18, kBottom = 44;

struct Scale {
  double top_x = 1, top_y = 1, height = 260;
  double x(double value) const { return kLeft + value / top_x * (kWidth - kLeft - kRight); }
  double y(double value) const { return height - kBottom - value / top_y * (height - kTop - kBottom); }
};

Scale scale_of(const LineChart& chart) {
  Scale scale;
  scale.height = chart.height;
  double x = 0, y = 0;
  for (const Series& series : chart.series) {
    for (const auto& [px, py] : series.points) {
      x = std::max(x, px);
      y = std::max(y, py);
    }
  }
  for (const Whisker& whisker : chart.whiskers) y = std::max(y, whisker.high);
  for (const Rule& rule : chart.rules) (rule.vertical ? x : y) = std::max(rule.vertical ? x : y, rule.at);
  for (const Band& band : chart.bands) x = std::max(x, band.to);
  scale.top_x = x > 0 ? x : 1;
  scale.top_y = y > 0 ? 1.06 * y : 1;
  return scale;
}

std::string axes(const LineChart& chart, const Scale& s) {
  std::string out;
  for (const double tick : ticks(s.top_y, 6)) {
    out += fmt::format("<line class=grid x1={:.1f} x2={:.1f} y1={:.1f} y2={:.1f} />", s.x(0), s.x(s.top_x),
                       s.y(tick), s.y(tick));
    out += fmt::format("<text class=tick text-anchor=end x={:.1f} y={:.1f}>{:g}</text>", s.x(0) - 6,
                       s.y(tick) + 4, tick);
  }
  for (const double tick : ticks(s.top_x, 9))
    out += fmt::format("<text class=tick text-anchor=middle x={:.1f} y={:.1f}>{:g}</text>", s.x(tick),
                       s.y(0) + 16, tick);
  out += fmt::format("<line class=axis x1={:.1f} x2={:.1f} y1={:.1f} y2={:.1f} />", s.x(0), s.x(s.top_x),
                     s.y(0), s.y(0));
  out += fmt::format("<text class=label text-anchor=middle x={:.1f} y={:.1f}>{}</text>", s.x(s.top_x / 2),
                     s.height - 8, escaped(chart.x_label));
  out += fmt::format(
      "<text class=label text-anchor=middle transform='translate(14 {:.1f}) rotate(-90)'>{}</text>",
      s.y(s.top_y / 2), escaped(chart.y_label));
  return out;
}

std::string marks(const LineChart& chart, const Scale& s) {
  std::string out;
  for (const Band& band : chart.bands) {
    out += fmt::format("<rect class=band x={:.1f} width={:.1f} y={:.1f} height={:.1f} />", s.x(band.from),
                       std::max(1.0, s.x(band.to) - s.x(band.from)), kTop, s.y(0) - kTop);
    out += fmt::format("<text class=mark text-anchor=middle x={:.1f} y={:.1f}>{}</text>",
                       s.x((band.from + band.to) / 2), kTop - 5, escaped(band.label));
  }
  for (const Rule& rule : chart.rules) {
    const double x1 = rule.vertical ? s.x(rule.at) : s.x(0), x2 = rule.vertical ? x1 : s.x(s.top_x);
    const double y1 = rule.vertical ? kTop : s.y(rule.at), y2 = rule.vertical ? s.y(0) : y1;
    out += fmt::format("<line class=rule x1={:.1f} x2={:.1f} y1={:.1f} y2={:.1f} />", x1, x2, y1, y2);
    out += rule.vertical ? fmt::format("<text class=mark x={:.1f} y={:.1f}>{}</text>", x1 + 4, s.y(0) - 6,
                                       escaped(rule.label))
                         : fmt::format("<text class=mark x={:.1f} y={:.1f}>{}</text>", s.x(0) + 6, y1 - 5,
                                       escaped(rule.label));
  }
  return out;
}

// An upright line with a foot and a head.
std::string whisker_path(const Whisker& w, const Scale& s) {
  constexpr double kHalf = 4;
  const double x = s.x(w.x), low = s.y(w.low), high = s.y(w.high);
  return fmt::format("<path class='whisker {}' d='M{:.1f} {:.1f}h{:.1f}m{:.1f} 0V{:.1f}m{:.1f} 0h{:.1f}' />",
                     w.css, x - kHalf, low, 2 * kHalf, -kHalf, high, -kHalf, 2 * kHalf);
}

std::string path_of(const Series& series, const Scale& s) {
  std::string path;
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const auto [x, y] = series.points[i];
    if (i > 0 && series.steps) path += fmt::format("H{:.1f}", s.x(x));
    path += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", s.x(x), s.y(y));
  }
  return path;
}

// Labels at the ends of the lines, pushed apart so that none covers another.
std::string end_labels(const LineChart& chart, const Scale& s) {
  struct Label {
    double y;
    const Series* series;
  };
  std::vector<Label> labels;
  for (const Series& series : chart.series) {
    if (!series.points.empty()) labels.push_back({s.y(series.points.back().second) + 4, &series});
  }
  std::sort(labels.begin(), labels.end(), [](const Label& a, const Label& b) { return a.y < b.y; });
  for (std::size_t i = 1; i < labels.size(); ++i) labels[i].y = std::max(labels[i].y, labels[i - 1].y + 14);
  const double below = labels.empty() ? 0 : std::max(0.0, labels.back().y - s.y(0));
  std::string out;
  for (const Label& label : labels)
    out += fmt::format("<text class='end {}' x={:.1f} y={:.1f}>{}</text>", label.series->css,
                       s.x(s.top_x) + 6, label.y - below, escaped(label.series->name));
  return out;
}

}  // namespace

std::vector<double> ticks(double top, int most) {
  if (!(top > 0) || !std::isfinite(top)) return {0};
  double step = std::pow(10, std::floor(std::log10(top / most)));
  for (const double factor : {2.0, 2.5, 2.0}) {  // 1, 2, 5, 10
    if (top / step <= most) break;
    step *= factor;
  }
  std::vector<double> out;
  for (int i = 0; i * step <= top * (1 + 1e-9); ++i) out.push_back(i * step);
  return out;
}

std::string svg(const LineChart& chart) {
  const Scale s = scale_of(chart);
  std::string out = fmt::format(
      "<figure><figcaption>{}</figcaption><svg viewBox='0 0 {:.0f} {:.0f}' role=img aria-label='{}'>",
      escaped(chart.title), kWidth, chart.height, escaped(chart.title + ". " + chart.description));
  out += axes(chart, s) + marks(chart, s);
  for (const Whisker& whisker : chart.whiskers) out += whisker_path(whisker, s);
  for (const Series& series : chart.series) {
    if (series.points.empty()) continue;
    out += fmt::format("<path class='line {}' d='{}'{} />", series.css, path_of(series, s),
                       series.dash.empty() ? "" : fmt::format(" stroke-dasharray='{}'", series.dash));
    if (!series.dots) continue;
    for (const auto& [x, y] : series.points)
      out += fmt::format(
          "<circle class='dot {}' cx={:.1f} cy={:.1f} r=3><title>{}: {:.4g}, {:.4g}</title></circle>",
          series.css, s.x(x), s.y(y), escaped(series.name), x, y);
  }
  return out + end_labels(chart, s) + "</svg></figure>\n";
}

std::string stacked_bar(const std::string& title, const std::vector<Part>& parts, const std::string& unit) {
  double total = 0;
  for (const Part& part : parts) total += part.value;
  std::string bar, list;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    const double share = total > 0 ? 100 * part.value / total : 0;
    bar += fmt::format("<span class='part p{}{}' style='flex-grow:{:.4f}' title='{}: {:.4g} {}'>{}</span>",
                       i % 6, part.hatched ? " hatched" : "", std::max(share, 0.2), escaped(part.name),
                       part.value, escaped(unit), share >= 6 ? fmt::format("{}", i + 1) : "");
    list += fmt::format("<li><i class='key p{}{}'></i>{} <b>{:.4g} {}</b> ({:.1f} %){}</li>", i % 6,
                        part.hatched ? " hatched" : "", escaped(part.name), part.value, escaped(unit), share,
                        part.note.empty() ? "" : ", " + escaped(part.note));
  }
  return fmt::format(
      "<figure><figcaption>{}</figcaption><div class=bar>{}</div><ol class=keys>{}</ol></figure>\n",
      escaped(title), bar, list);
}

}  // namespace headroom::report
