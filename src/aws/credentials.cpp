// Builds the credentials chain from the Common Runtime's providers and waits for them at the end.
#include "aws/credentials.hpp"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "aws/crt.hpp"

namespace headroom::aws {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::uint64_t kRefreshMs = 15 * 60 * 1000;

// Providers end asynchronously; nothing they use may go before the last has called back.
class Latch {
 public:
  aws_credentials_provider_shutdown_options options() {
    return {[](void* self) { static_cast<Latch*>(self)->down(); }, this};
  }
  // A provider that could not be made never calls back.
  aws_credentials_provider* count(aws_credentials_provider* provider) {
    if (provider != nullptr) {
      std::lock_guard lock(mutex_);
      ++open_;
    }
    return provider;
  }
  void wait() {
    std::unique_lock lock(mutex_);
    empty_.wait_for(lock, std::chrono::seconds{10}, [this] { return open_ == 0; });
  }

 private:
  void down() {
    std::lock_guard lock(mutex_);
    --open_;
    empty_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable empty_;
  int open_ = 0;
};

struct Fetch {
  std::mutex mutex;
  std::condition_variable done;
  bool finished = false;
  int error = 0;
  std::string key_id;
};

class Provider final : public Credentials {
 public:
  Provider() = default;
  ~Provider() override {
    if (handle_.provider != nullptr) aws_credentials_provider_release(handle_.provider);
    latch_.wait();
  }

  base::Result<std::string> access_key_id(base::Deadline deadline) override {
    auto fetch = std::make_shared<Fetch>();
    auto* held = new std::shared_ptr<Fetch>(fetch);  // the callback may come after the deadline
    const auto callback = [](aws_credentials* credentials, int error, void* user_data) {
      std::unique_ptr<std::shared_ptr<Fetch>> mine(static_cast<std::shared_ptr<Fetch>*>(user_data));
      Fetch& f = **mine;
      std::lock_guard lock(f.mutex);
      f.error = error;
      // A failed fetch may report error 0: only the pointer tells.
      if (credentials != nullptr) f.key_id = view(aws_credentials_get_access_key_id(credentials));
      f.finished = true;
      f.done.notify_all();
    };
    if (handle_.provider == nullptr ||
        aws_credentials_provider_get_credentials(handle_.provider, callback, held) != AWS_OP_SUCCESS) {
      delete held;
      return none(aws_last_error());
    }
    std::unique_lock lock(fetch->mutex);
    if (!fetch->done.wait_until(lock, deadline.at, [&] { return fetch->finished; })) {
      return fail(ErrorCode::kTimeout,
                  "the AWS credentials did not arrive in time; check the profile's role, "
                  "credential_process or the instance metadata service");
    }
    if (fetch->key_id.empty()) return none(fetch->error);
    return fetch->key_id;
  }

  Handle& handle() override { return handle_; }
  Latch& latch() { return latch_; }

 private:
  static tl::unexpected<base::Error> none(int error) {
    return fail(
        ErrorCode::kUnauthenticated,
        "no AWS credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, name a profile with "
        "--profile, or log in with `aws sso login` (for tts-local any values do: `tts-local up` prints them)",
        std::string(kNoCredentials) + (error == 0 ? "" : ": " + crt_error_text(error)));
  }
  Handle handle_;
  Latch latch_;
};

}  // namespace

bool is_dummy_key(const std::string& access_key_id) { return access_key_id.size() < 16; }

base::Result<void> Credentials::allowed_to(const EndpointUrl& endpoint, base::Deadline deadline) {
  if (endpoint.tls || endpoint.loopback()) return {};
  auto key = access_key_id(deadline);
  if (!key) return tl::unexpected(key.error());
  if (is_dummy_key(*key)) return {};
  return fail(ErrorCode::kRefused, "real AWS credentials are not sent over plain http to " + endpoint.url() +
                                       "; use https, a loopback address, or dummy credentials");
}

std::shared_ptr<Credentials> Credentials::fixed(Runtime& runtime, const std::string& access_key_id,
                                                const std::string& secret, const std::string& session_token) {
  auto out = std::make_shared<Provider>();
  aws_credentials_provider_static_options options{};
  options.shutdown_options = out->latch().options();
  options.access_key_id = cursor(access_key_id);
  options.secret_access_key = cursor(secret);
  if (!session_token.empty()) options.session_token = cursor(session_token);
  out->handle().provider =
      out->latch().count(aws_credentials_provider_new_static(runtime.impl().allocator, &options));
  return out;
}

std::shared_ptr<Credentials> Credentials::chain(Runtime& runtime, const Settings& settings) {
  auto out = std::make_shared<Provider>();
  Runtime::Impl& impl = runtime.impl();
  Latch& latch = out->latch();
  std::vector<aws_credentials_provider*> sources;
  // A constructor returns null where its settings are missing: then that source is simply not there.
  const auto add = [&](aws_credentials_provider* provider) {
    if (latch.count(provider) != nullptr) sources.push_back(provider);
  };
  const Environment environment = process_environment();
  if (!settings.profile_named && environment("AWS_ACCESS_KEY_ID") && environment("AWS_SECRET_ACCESS_KEY")) {
    // The chain would end here in any case; without the rest no TLS context has to be made.
    aws_credentials_provider_environment_options options{};
    options.shutdown_options = latch.options();
    out->handle().provider = latch.count(aws_credentials_provider_new_environment(impl.allocator, &options));
    return out;
  }
  aws_credentials_provider_profile_options profile{};
  profile.shutdown_options = latch.options();
  profile.profile_name_override = cursor(settings.profile);
  profile.bootstrap = impl.bootstrap;
  profile.tls_ctx = impl.tls();
  add(aws_credentials_provider_new_profile(impl.allocator, &profile));

  aws_credentials_provider_sso_options sso{};
  sso.shutdown_options = latch.options();
  sso.profile_name_override = cursor(settings.profile);
  sso.bootstrap = impl.bootstrap;
  sso.tls_ctx = impl.tls();
  if (sso.tls_ctx != nullptr) add(aws_credentials_provider_new_sso(impl.allocator, &sso));

  aws_credentials_provider_sts_web_identity_options web{};
  web.shutdown_options = latch.options();
  web.bootstrap = impl.bootstrap;
  web.tls_ctx = impl.tls();
  web.profile_name_override = cursor(settings.profile);
  if (web.tls_ctx != nullptr) add(aws_credentials_provider_new_sts_web_identity(impl.allocator, &web));

  aws_credentials_provider_ecs_environment_options ecs{};
  ecs.shutdown_options = latch.options();
  ecs.bootstrap = impl.bootstrap;
  ecs.tls_ctx = impl.tls();
  aws_credentials_provider* container =
      ecs.tls_ctx == nullptr ? nullptr
                             : aws_credentials_provider_new_ecs_from_environment(impl.allocator, &ecs);
  add(container);
  const auto no_imds = environment("AWS_EC2_METADATA_DISABLED");
  if (container == nullptr && !(no_imds && *no_imds == "true")) {
    aws_credentials_provider_imds_options imds{};
    imds.shutdown_options = latch.options();
    imds.bootstrap = impl.bootstrap;
    add(aws_credentials_provider_new_imds(impl.allocator, &imds));
  }
  if (sources.empty()) return out;

  aws_credentials_provider_chain_options chain{};
  chain.shutdown_options = latch.options();
  chain.providers = sources.data();
  chain.provider_count = sources.size();
  aws_credentials_provider* joined = latch.count(aws_credentials_provider_new_chain(impl.allocator, &chain));
  for (aws_credentials_provider* source : sources)
    aws_credentials_provider_release(source);  // the chain holds them
  if (joined == nullptr) return out;
  aws_credentials_provider_cached_options cached{};
  cached.shutdown_options = latch.options();
  cached.source = joined;
  cached.refresh_time_in_milliseconds = kRefreshMs;
  out->handle().provider = latch.count(aws_credentials_provider_new_cached(impl.allocator, &cached));
  aws_credentials_provider_release(joined);
  return out;
}

}  // namespace headroom::aws
