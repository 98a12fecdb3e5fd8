// A world for unit tests: a clock to turn, one call per operation, an endpoint in few words. Tests only.
#pragma once

#include <algorithm>
#include <string>

#include "cloud/fleet.hpp"
#include "cloud/operations.hpp"

namespace headroom::cloud {

struct TestWorld {
  base::FakeClock clock;
  World world{clock};

  base::Result<Json> call(std::string_view operation, const Json& in) {
    for (const Service& service : services()) {
      if (const OperationRow* row = find_operation(service, operation)) {
        Api api{world, clock.wall()};
        return row->run(api, in);
      }
    }
    return base::fail(base::ErrorCode::kInternal, "no such operation");
  }

  std::string refusal(std::string_view operation, const Json& in) {
    const auto result = call(operation, in);
    return result ? "" : result.error().message;
  }

  void make_endpoint(int count = 1, const Json& variant_extra = Json::object()) {
    if (world.models.empty())
      call("CreateModel",
           {{"ModelName", "m"},
            {"PrimaryContainer", {{"Image", "i"}, {"Environment", {{"TTS_ENGINE", "paced"}}}}}})
          .value();
    Json variant{{"VariantName", "v"},
                 {"ModelName", "m"},
                 {"InstanceType", "ml.g5.xlarge"},
                 {"InitialInstanceCount", count}};
    variant.update(variant_extra);
    call("CreateEndpointConfig", {{"EndpointConfigName", "c"}, {"ProductionVariants", {variant}}}).value();
    call("CreateEndpoint", {{"EndpointName", "e"}, {"EndpointConfigName", "c"}}).value();
  }

  // One look of the supervisor, with processes that start, answer and end as told at once.
  Step look() {
    Step step = advance(world, clock.wall());
    for (const Order& order : step.orders) {
      Instance* instance = world.instance(order.endpoint, order.instance);
      if (order.kind == Order::Kind::kStart) {
        instance->pid = 1000;
        instance->answered_ping = answers;
        instance->exited = dies;
      } else {
        instance->exited = true;
      }
    }
    return step;
  }
  bool answers = true, dies = false;

  void settle(int looks = 10) {
    for (int i = 0; i < looks; ++i) {
      look();
      clock.advance(std::chrono::milliseconds(50));
    }
  }

  Endpoint& endpoint() { return world.endpoints.at("e"); }
  int serving() { return count_in_state(endpoint(), "v", InstanceState::kInService); }
  std::string status() { return world.endpoints.count("e") > 0 ? endpoint().status : "gone"; }
  std::string scale(int count) {
    return refusal(
        "UpdateEndpointWeightsAndCapacities",
        {{"EndpointName", "e"},
         {"DesiredWeightsAndCapacities", {{{"VariantName", "v"}, {"DesiredInstanceCount", count}}}}});
  }
};

}  // namespace headroom::cloud
