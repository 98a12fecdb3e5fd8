// The saved form.
#include "cloud/scaling_state.hpp"

namespace headroom::cloud {
namespace {

Json optional_time(const std::optional<double>& at, double fast) { return at ? Json(*at / fast) : Json(); }

std::optional<double> load_time(const Json& saved, double fast) {
  return saved.is_number() ? std::optional(saved.get<double>() * fast) : std::nullopt;
}

}  // namespace

Json save_scaling(const ScalingState& state, double fast) {
  Json memory = Json::object();
  for (const auto& [resource, m] : state.memory) {
    memory[resource] = {{"out_at", optional_time(m.out_at_s, fast)},
                        {"out_cooldown_s", m.out_cooldown_s},
                        {"out_from", {m.out_from_in_service, m.out_from_desired}},
                        {"in_at", optional_time(m.in_at_s, fast)},
                        {"in_cooldown_s", m.in_cooldown_s}};
  }
  return {{"memory", memory},
          {"history", state.history},
          {"scheduled", state.scheduled},
          {"scheduled_after", state.scheduled_after}};
}

void load_scaling(const Json& saved, double fast, ScalingState& state) {
  for (const auto& [resource, m] : saved.at("memory").items()) {
    state.memory[resource] = {load_time(m.at("out_at"), fast), m.at("out_cooldown_s"),
                              m.at("out_from").at(0),          m.at("out_from").at(1),
                              load_time(m.at("in_at"), fast),  m.at("in_cooldown_s")};
  }
  saved.at("history").get_to(state.history);
  saved.at("scheduled").get_to(state.scheduled);
  saved.at("scheduled_after").get_to(state.scheduled_after);
}

}  // namespace headroom::cloud
