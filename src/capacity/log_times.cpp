// Shifts the log's times into the room that causality leaves them.
#include "capacity/log_times.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace headroom::capacity {
namespace {

constexpr base::Duration kLogResolution = std::chrono::milliseconds(1);
// A server may answer its health check a moment before it writes the line that says so.
constexpr base::Duration kReadyGrace = std::chrono::seconds(1);
// A log that is read later than this was published late, or its clock is behind.
constexpr base::Duration kLateReading = std::chrono::seconds(10);

// By how much times must (least) and may (most) be shifted.
struct Room {
  base::Duration least = base::Duration::min();
  base::Duration most = base::Duration::max();
  bool possible() const { return least <= most; }
  bool as_it_stands() const { return least <= kLogResolution && most >= -kLogResolution; }
};

base::Duration latest(const LogTime& time, const LogBounds& bounds) {
  if (time.name != "ready" || !bounds.in_service) return time.seen;
  return std::min(time.seen, *bounds.in_service + kReadyGrace);
}

Room room_of(const std::vector<LogTime>& times, const LogBounds& bounds) {
  Room room;
  for (const LogTime& time : times) {
    room.least = std::max(room.least, bounds.asked - time.at);
    room.most = std::min(room.most, latest(time, bounds) - time.at);
  }
  return room;
}

Stamp as_it_stands(const LogTime& time, const LogBounds& bounds) {
  return {time.name, std::clamp(time.at, bounds.asked, latest(time, bounds)), StageKind::kObserved,
          base::to_s(kLogResolution)};
}

std::string shift_note(const Room& room, const std::string& whose) {
  const bool ahead = room.most < base::Duration{};
  return fmt::format(
      "clock skew: {} is at least {:.3f} s {} this machine's, since its log has times {}; they were placed "
      "as "
      "late as they can have been, up to {:.1f} s too late",
      whose, base::to_s(ahead ? -room.most : room.least), ahead ? "ahead of" : "behind",
      ahead ? "after they were read or after InService" : "from before the instance was asked for",
      base::to_s(room.most - room.least));
}

std::string late_note(const Room& room, const std::string& whose) {
  return fmt::format(
      "clock skew unknown: the new instance's log was read {:.1f} s after its own times: it was published "
      "late, or {} is behind this machine's by up to that, and the stages from it are as much too early",
      base::to_s(room.most), whose);
}

// No one shift fits: the clock itself was set meanwhile.
PlacedLog each_apart(const std::vector<LogTime>& times, const LogBounds& bounds, const std::string& whose) {
  PlacedLog out;
  for (const LogTime& time : times) {
    const auto end = latest(time, bounds);
    if (time.at >= bounds.asked && time.at <= end)
      out.stamps.push_back(as_it_stands(time, bounds));
    else
      out.stamps.push_back({time.name, end, StageKind::kBounded, base::to_s(end - bounds.asked)});
  }
  out.notes.push_back(fmt::format(
      "clock skew: {} was set while it started, so that no one difference explains the times in its log; "
      "those that cannot be were placed where they were read",
      whose));
  return out;
}

PlacedLog of_one_clock(const std::vector<LogTime>& times, const LogBounds& bounds, const std::string& whose) {
  const Room room = room_of(times, bounds);
  if (!room.possible()) return each_apart(times, bounds, whose);
  PlacedLog out;
  const bool fits = room.as_it_stands();
  for (const LogTime& time : times) {
    if (fits)
      out.stamps.push_back(as_it_stands(time, bounds));
    else
      out.stamps.push_back({time.name, time.at + room.most, StageKind::kBounded,
                            base::to_s(std::max(room.most - room.least, kLogResolution))});
  }
  if (!fits)
    out.notes.push_back(shift_note(room, whose));
  else if (bounds.watched && !times.empty() && room.most > kLateReading)
    out.notes.push_back(late_note(room, whose));
  return out;
}

}  // namespace

PlacedLog place_log_times(const std::vector<LogTime>& times, const LogBounds& bounds) {
  constexpr const char* kInstance = "the instance's clock";
  if (room_of(times, bounds).possible()) return of_one_clock(times, bounds, kInstance);
  // Where one shift does not fit all, the log service's clock may be another than the instance's.
  std::vector<LogTime> own, service;
  for (const LogTime& time : times) (time.of_instance ? own : service).push_back(time);
  const PlacedLog by_instance = of_one_clock(own, bounds, kInstance);
  const PlacedLog by_service = of_one_clock(service, bounds, "the log service's clock");
  PlacedLog out;
  std::size_t i = 0, j = 0;
  for (const LogTime& time : times)
    out.stamps.push_back(time.of_instance ? by_instance.stamps[i++] : by_service.stamps[j++]);
  for (const PlacedLog* part : {&by_instance, &by_service})
    out.notes.insert(out.notes.end(), part->notes.begin(), part->notes.end());
  return out;
}

}  // namespace headroom::capacity
