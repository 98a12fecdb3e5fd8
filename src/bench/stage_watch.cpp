// Reads log streams and endpoint states into stamps.
#include "bench/stage_watch.hpp"

#include <array>

#include <fmt/format.h>

#include "base/names.hpp"

namespace headroom::bench {
namespace {

// The log's names and those of the artifact (SPEC 1.5, 2.4).
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kStages{
    {{"container_start", "container_started"},
     {"weights_fetched", "weights_fetched"},
     {"framework_init", "framework_init"},
     {"weights_ready", "weights_ready"},
     {"warmup_done", "warmup_done"},
     {"ready", "ready"}}};
constexpr int kUnmovedReadings = 30;  // a second each

}  // namespace

std::optional<StageLine> parse_stage_line(std::string_view line) {
  constexpr std::string_view kOpen = "=== STAGE ";
  const auto start = line.find(kOpen);
  if (start == std::string_view::npos) return std::nullopt;
  line.remove_prefix(start + kOpen.size());
  const auto space = line.find(' ');
  if (space == std::string_view::npos || line.substr(space, 3) != " t=") return std::nullopt;
  const auto rest = line.substr(space + 3);
  const auto at = base::parse_iso8601(rest.substr(0, rest.find(' ')));
  if (!at) return std::nullopt;
  return StageLine{std::string(line.substr(0, space)), *at};
}

base::Result<StageWatch> StageWatch::begin(Session& session) {
  StageWatch watch;
  auto streams = session.logs().describe_streams(aws::endpoint_log_group(session.endpoint()),
                                                 session.variant() + "/", session.soon());
  if (!streams) return tl::unexpected(streams.error());
  for (const auto& stream : *streams) watch.old_streams_.insert(stream.name);
  return watch;
}

StageWatch StageWatch::resume(const std::vector<std::string>& old_streams) {
  StageWatch watch;
  watch.old_streams_.insert(old_streams.begin(), old_streams.end());
  watch.watched_ = false;
  return watch;
}

std::optional<std::string> ScaleOutWatch::see(const aws::EndpointDescription& endpoint) {
  const auto because = [&] {
    return endpoint.failure_reason.empty() ? std::string("; it gave no FailureReason")
                                           : "; FailureReason: " + endpoint.failure_reason;
  };
  if (endpoint.status == "Failed") return "the endpoint is Failed" + because();
  const auto* variant = endpoint.variant(variant_);
  if (!variant || !variant->desired_instance_count) return std::nullopt;
  const int desired = *variant->desired_instance_count;
  if (endpoint.status != "InService" || desired == wanted_) begun_ = true;
  if (endpoint.status != "InService" || desired == wanted_) return std::nullopt;
  if (!begun_ && ++unmoved_ < kUnmovedReadings) return std::nullopt;
  return fmt::format("the service went back to {} instance(s) instead of {}", desired, wanted_) + because();
}

void StageWatch::asked(Moment at, base::SteadyTime asked_after, const std::string& variant, int wanted) {
  wall_.emplace(at);
  last_question_ = at.steady;
  asked_after_ = asked_after;
  wanted_ = wanted;
  scale_out_.emplace(variant, wanted);
}

capacity::PlacedLog StageWatch::seen() const {
  std::vector<capacity::LogTime> times;
  for (const LogLine& line : log_)
    times.push_back(
        {line.stamp, on_steady(wall_->steady_at(line.at)), on_steady(line.seen), line.of_instance});
  capacity::LogBounds bounds{on_steady(asked_after_), std::nullopt, watched_};
  if (in_service_) bounds.in_service = on_steady(*in_service_);
  capacity::PlacedLog out = capacity::place_log_times(times, bounds);
  out.stamps.insert(out.stamps.begin(), stamps_.begin(), stamps_.end());
  if (auto set = wall_ ? wall_->note() : std::nullopt) out.notes.push_back(std::move(*set));
  return out;
}

void StageWatch::poll(Session& session) {
  const auto question = session.clock().steady();
  wall_->see(read_moment(session.clock()));
  if (!in_service_) {
    auto endpoint = session.sagemaker().describe_endpoint(session.endpoint(), session.shortly());
    const auto answer = session.clock().steady();
    const auto* variant = endpoint ? endpoint->variant(session.variant()) : nullptr;
    if (variant && endpoint->status == "InService" && variant->current_instance_count == wanted_) {
      in_service_ = answer;
      stamps_.push_back({"in_service", on_steady(answer), capacity::StageKind::kBounded,
                         base::to_s(answer - last_question_)});
    } else if (endpoint && scale_out_) {
      failure_ = scale_out_->see(*endpoint);
    }
    last_question_ = question;
  }
  if (!session.interrupt().requested()) read_stream(session);
}

void StageWatch::read_stream(Session& session) {
  if (known_.contains("ready")) return;
  const std::string group = aws::endpoint_log_group(session.endpoint());
  if (!stream_) {
    auto streams = session.logs().describe_streams(group, session.variant() + "/", session.shortly());
    if (!streams || session.interrupt().requested()) return;
    for (const auto& stream : *streams) {
      if (!old_streams_.contains(stream.name) && !stream_) stream_ = stream.name;
    }
  }
  if (!stream_) return;
  auto events = session.logs().get_events(group, *stream_, std::nullopt, session.shortly());
  if (!events || events->empty()) return;
  const auto now = session.clock().steady();
  if (known_.insert("instance_logging").second)
    log_.push_back({"instance_logging", events->front().at, now, false});
  for (const auto& event : *events) {
    const auto line = parse_stage_line(event.message);
    if (!line) continue;
    for (const auto& [logged, name] : kStages) {
      if (line->name == logged && known_.insert(std::string(logged)).second)
        log_.push_back({std::string(name), line->at, now, true});
    }
  }
}

}  // namespace headroom::bench
