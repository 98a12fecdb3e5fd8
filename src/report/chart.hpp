// Chart: line charts and stacked bars as inline SVG that follows the page's colours. Used inside report
// alone.
//
// No script, no image, no request. Lines differ by dash and by a label at their end as well as by colour, so
// that a chart reads without colour; every chart carries a title and a text alternative. Points that are
// unknown are left out, not drawn as zero. Pure, thread safe, no errors.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace headroom::report {

struct Series {
  std::string name;
  std::string css;  // c1, c2, c3, c4: colours of the page
  std::vector<std::pair<double, double>> points;
  std::string dash{};  // SVG dash pattern; empty: solid
  bool steps = false;  // holds its value until the next point
  bool dots = false;
};

struct Rule {  // a horizontal or vertical line with a word
  double at = 0;
  std::string label;
  bool vertical = false;
};

struct Band {  // a shaded range of x
  double from = 0, to = 0;
  std::string label;
};

struct Whisker {  // how far a value may lie, upright at x
  double x = 0, low = 0, high = 0;
  std::string css;
};

struct LineChart {
  std::string title, x_label, y_label;
  std::string description;  // the text alternative: what is to be seen
  std::vector<Series> series;
  std::vector<Rule> rules;
  std::vector<Band> bands;
  std::vector<Whisker> whiskers;
  double height = 260;
};
std::string svg(const LineChart& chart);

struct Part {
  std::string name;
  double value = 0;
  std::string note{};    // "observed", "bounded to 10 s"
  bool hatched = false;  // a bound, not a measurement
};
// One horizontal bar, its parts in order; names and values below it.
std::string stacked_bar(const std::string& title, const std::vector<Part>& parts, const std::string& unit);

// Round values that cover [0, top]: 1, 2 or 5 times a power of ten apart, at most `most` of them.
std::vector<double> ticks(double top, int most);

}  // namespace headroom::report
