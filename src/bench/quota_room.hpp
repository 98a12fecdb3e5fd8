// What the account's quota of instances leaves for the variant that is measured.
//
// Reads only. Instances of the endpoint's type are counted over all endpoints of the region, each variant as
// what it has or wants, whichever is more. What other variants hold is unknown where it cannot be read, or
// would take over 100 calls: the service itself refuses what is too much, and a freeze is taken back.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "bench/session.hpp"

namespace headroom::bench {

struct QuotaRoom {
  std::string name, code;
  double limit = 0;                   // instances of this type in the account and region
  std::optional<int> held_elsewhere;  // by every other variant; nullopt: unknown
  double left() const { return limit - held_elsewhere.value_or(0); }
  bool has_room_for(int instances) const { return left() >= instances; }
  // What to ask for, so that `instances` have room beside the others.
  int needed_for(int instances) const { return instances + held_elsewhere.value_or(0); }
};
// "4 instances of ml.g5.xlarge in this account and region, 2 of them held by other variants".
std::string room_text(const QuotaRoom& room, const std::string& instance_type);

// The words of the AWS CLI that ask for it, to go into Commands::aws.
std::string ask_for_more(const QuotaRoom& room, int instances);

// nullopt: there is no quota for the type. Errors: those of Service Quotas.
base::Result<std::optional<QuotaRoom>> quota_room(Session& session, const std::string& instance_type);

// For ttotal, which starts a second instance. An unreadable quota stops nothing. Errors: kRefused.
base::Result<void> room_for_two(Session& session, const LiveEndpoint& live);

}  // namespace headroom::bench
