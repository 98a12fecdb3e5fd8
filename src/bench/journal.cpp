// The two places a freeze is written down: a file on this machine and a tag on the endpoint.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

#include "base/atomic_file.hpp"
#include "base/names.hpp"
#include "base/sha256.hpp"
#include "bench/freeze.hpp"

namespace headroom::bench {
namespace {

using nlohmann::json;

std::string flags_text(const FreezeRecord& record) {
  if (!record.has_target) return "-";
  return fmt::format("{:d}{:d}{:d}", record.flags.scale_in, record.flags.scale_out, record.flags.scheduled);
}

bool read_flags(const std::string& text, FreezeRecord& record) {
  record.has_target = text != "-";
  if (!record.has_target) return true;
  if (text.size() != 3 || text.find_first_not_of("01") != std::string::npos) return false;
  record.flags = {text[0] == '1', text[1] == '1', text[2] == '1'};
  return true;
}

}  // namespace

std::string freeze_tag_text(const FreezeRecord& record) {
  const std::string variant = record.variant.empty() ? "" : " variant=" + record.variant;
  return fmt::format("v1 run={} desired={} flags={} t={}{}", record.run_id, record.desired,
                     flags_text(record), record.epoch_s, variant);
}

std::optional<FreezeRecord> parse_freeze_tag(const std::string& text) {
  std::istringstream words(text);
  std::string word;
  if (!(words >> word) || word != "v1") return std::nullopt;
  FreezeRecord record;
  int seen = 0;
  while (words >> word) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) return std::nullopt;
    const std::string key = word.substr(0, equals);
    const std::string value = word.substr(equals + 1);
    const auto number = base::parse_integer(value);
    if (key == "variant" && record.variant.empty() && base::is_sagemaker_name(value)) {
      record.variant = value;
      continue;
    }
    if (key == "run" && base::is_run_id(value))
      record.run_id = value;
    else if (key == "desired" && number && *number >= 0)
      record.desired = static_cast<int>(*number);
    else if (key == "t" && number)
      record.epoch_s = *number;
    else if (key != "flags" || !read_flags(value, record))
      return std::nullopt;
    ++seen;
  }
  return seen == 4 ? std::optional(record) : std::nullopt;
}

std::optional<std::string> frozen_variant(const FreezeRecord& tag, const aws::EndpointDescription& endpoint) {
  if (!tag.variant.empty()) return tag.variant;
  if (endpoint.variants.size() == 1) return endpoint.variants.front().name;
  return std::nullopt;
}

FreezeRecord truth_of(const std::optional<FreezeRecord>& tag, const std::optional<FreezeRecord>& journal) {
  const bool same_run = tag && journal && tag->run_id == journal->run_id;
  return tag && !same_run ? *tag : journal.value_or(FreezeRecord{});
}

std::string thaw_line(Commands commands, const FreezeRecord& record) {
  if (!record.variant.empty()) commands.variant = record.variant;
  return commands.thaw();
}

std::string journal_path(Session& session) {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  const std::string folder = state && *state ? state : fmt::format("{}/.local/state", home ? home : "/tmp");
  const auto where =
      session.settings().endpoint(aws::Service::kSageMaker).url() + " " + session.settings().region;
  return fmt::format("{}/headroom/freeze/{}.{}.{}.json", folder, session.endpoint(), session.variant(),
                     base::sha256_hex(where).substr(0, 12));
}

base::Result<void> write_journal(const std::string& path, FreezeRecord& record) {
  record.pid = getpid();
  const json body{{"schema", "headroom/freeze"},
                  {"version", 1},
                  {"run", record.run_id},
                  {"desired", record.desired},
                  {"flags", flags_text(record)},
                  {"t", record.epoch_s},
                  {"pid", record.pid}};
  if (auto made = base::make_directories(path.substr(0, path.rfind('/')), 0700); !made) return made;
  return base::write_file_atomically(path, body.dump(2) + "\n", 0600);
}

base::Result<std::optional<FreezeRecord>> read_journal(const std::string& path) {
  auto text = base::read_file(path, 64 << 10);
  if (!text && text.error().code == base::ErrorCode::kNotFound) return std::optional<FreezeRecord>{};
  if (!text) return tl::unexpected(text.error());
  const json body = json::parse(*text, nullptr, false);
  FreezeRecord record;
  const auto bad = [&] {
    return base::fail(
        base::ErrorCode::kInvalidData,
        fmt::format("{} is not a freeze journal; restore the endpoint by hand, then delete it", path));
  };
  try {
    if (body.at("schema").get<std::string>() != "headroom/freeze") return bad();
    record.run_id = body.at("run").get<std::string>();
    record.desired = body.at("desired").get<int>();
    record.epoch_s = body.at("t").get<std::int64_t>();
    record.pid = body.at("pid").get<int>();
    if (!read_flags(body.at("flags").get<std::string>(), record)) return bad();
  } catch (const json::exception&) {
    return bad();
  }
  return std::optional(record);
}

base::Result<std::optional<FreezeRecord>> read_freeze_tag(Session& session, const std::string& endpoint_arn) {
  auto tags = session.sagemaker().list_tags(endpoint_arn, session.soon());
  if (!tags) return tl::unexpected(tags.error());
  for (const auto& tag : *tags) {
    if (tag.key != kFreezeTag) continue;
    auto record = parse_freeze_tag(tag.value);
    if (record) return record;
    return base::fail(base::ErrorCode::kInvalidData,
                      fmt::format("the tag {} of endpoint '{}' reads '{}', which is not ours; delete it by "
                                  "hand once the endpoint is as it should be",
                                  kFreezeTag, session.endpoint(), tag.value));
  }
  return std::optional<FreezeRecord>{};
}

base::Result<JournalLock> JournalLock::take(const std::string& journal) {
  if (auto made = base::make_directories(journal.substr(0, journal.rfind('/')), 0700); !made)
    return tl::unexpected(made.error());
  const std::string path = journal + ".lock";
  const int descriptor = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0)
    return base::fail(base::ErrorCode::kIo, fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    ::close(descriptor);
    return base::fail(base::ErrorCode::kConflict,
                      fmt::format("another process holds {}: it is measuring this endpoint; wait until it "
                                  "ends, or stop it (it restores by itself)",
                                  path));
  }
  return JournalLock(descriptor);
}

JournalLock::~JournalLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace headroom::bench
