// The journal's lines: {"s":1,"ns":...,"n":...,"d":[[name,value]],...} names a series,
// [1,second,sum,minimum,maximum,count,[value,count,...]] is one second of it.
#include <cmath>

#include <fmt/format.h>

#include "cloud/json.hpp"
#include "cloud/metric_store.hpp"

namespace headroom::cloud {
namespace {

Json second_line(int number, std::int64_t second, const Readings& r) {
  Json raw = Json::array();
  for (const auto& [value, count] : r.raw) {
    raw.push_back(value);
    raw.push_back(count);
  }
  return Json::array({number, second, r.sum, r.minimum, r.maximum, r.count, std::move(raw)});
}

Readings read_second(const Json& line) {
  Readings r{line.at(2), line.at(3), line.at(4), line.at(5), {}};
  const Json& raw = line.at(6);
  for (std::size_t i = 0; i + 1 < raw.size(); i += 2) r.raw.emplace_back(raw[i], raw[i + 1]);
  return r;
}

}  // namespace

std::string MetricStore::take_journal() {
  std::string out;
  for (auto& [key, series] : series_) {
    if (series.fresh.empty()) continue;
    if (series.number == 0) {
      series.number = ++journal_series_;
      out += dump({{"s", series.number},
                   {"ns", key.metric_namespace},
                   {"n", key.name},
                   {"d", key.dimensions},
                   {"u", series.unit},
                   {"held", series.held_back},
                   {"gauge", series.gauge}}) +
             "\n";
    }
    for (const std::int64_t second : series.fresh) {
      const auto it = series.seconds.find(second);
      if (it != series.seconds.end()) out += dump(second_line(series.number, second, it->second)) + "\n";
    }
    series.fresh.clear();
  }
  return out;
}

void MetricStore::restart_journal() {
  journal_series_ = 0;
  for (auto& [key, series] : series_) series.number = 0;
}

void MetricStore::replay(std::string_view lines) {
  std::map<int, Series*> known;
  const auto oldest = static_cast<std::int64_t>(cloud_now_s() - 24 * 3600 * fast_);
  const auto latest =
      static_cast<std::int64_t>(cloud_now_s() + std::chrono::duration<double>(kLatestTaken).count() * fast_);
  for (std::size_t begin = 0, end = 0; (end = lines.find('\n', begin)) != std::string_view::npos;
       begin = end + 1) {
    const Json line = Json::parse(lines.substr(begin, end - begin), nullptr, false);
    try {
      if (line.is_object()) {
        Series& series = series_[make_key(line.at("ns"), line.at("n"), line.at("d"))];
        line.at("u").get_to(series.unit);
        line.at("held").get_to(series.held_back);
        line.at("gauge").get_to(series.gauge);
        known[line.at("s").get<int>()] = &series;
      } else if (line.is_array()) {
        const auto series = known.find(line.at(0).get<int>());
        const std::int64_t second = line.at(1);
        if (series == known.end() || second < oldest || second > latest) continue;
        series->second->seconds[second] = read_second(line);
        series->second->fresh.insert(second);
      }
    } catch (const Json::exception&) {
      continue;
    }
  }
}

}  // namespace headroom::cloud
