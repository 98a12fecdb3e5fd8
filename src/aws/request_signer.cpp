// Signatures of requests.
#include "aws/request_signer.hpp"

#include <memory>

#include <aws/auth/signable.h>
#include <aws/auth/signing.h>
#include <aws/auth/signing_config.h>
#include <aws/auth/signing_result.h>
#include <aws/common/string.h>

#include "aws/crt.hpp"

namespace headroom::aws {
namespace {

struct Signing {
  aws_allocator* allocator = nullptr;
  aws_http_message* message = nullptr;
  std::function<void(std::string, int)> done;
  aws_signable* signable = nullptr;

  ~Signing() {
    if (signable != nullptr) aws_signable_destroy(signable);
  }
};

aws_signing_config_aws config_of(const RequestSignature& how) {
  aws_signing_config_aws config{};
  config.config_type = AWS_SIGNING_CONFIG_AWS;
  config.algorithm = AWS_SIGNING_ALGORITHM_V4;
  config.signature_type = AWS_ST_HTTP_REQUEST_HEADERS;
  config.region = cursor(how.region);
  config.service = cursor(how.service);
  aws_date_time_init_now(&config.date);
  config.flags.use_double_uri_encode = true;
  config.flags.should_normalize_uri_path = true;
  config.signed_body_header = AWS_SBHT_NONE;
  config.credentials_provider = how.provider;
  config.credentials = how.credentials;
  if (how.signed_events) {
    config.signed_body_value = g_aws_signed_body_value_streaming_aws4_hmac_sha256_events;
    config.signed_body_header = AWS_SBHT_X_AMZ_CONTENT_SHA256;
  }
  return config;
}

void on_signed(aws_signing_result* result, int error, void* user_data) {
  const std::unique_ptr<Signing> mine(static_cast<Signing*>(user_data));
  aws_string* signature = nullptr;
  if (error == 0 && result != nullptr &&
      aws_apply_signing_result_to_http_request(mine->message, mine->allocator, result) == AWS_OP_SUCCESS)
    aws_signing_result_get_property(result, g_aws_signature_property_name, &signature);
  if (signature != nullptr) return mine->done(aws_string_c_str(signature), 0);
  const int why = error != 0 ? error : aws_last_error();
  mine->done("", why != 0 ? why : AWS_ERROR_UNKNOWN);
}

}  // namespace

void sign_request(aws_allocator* allocator, aws_http_message* message, const RequestSignature& how,
                  std::function<void(std::string signature, int error)> done) {
  auto signing = std::make_unique<Signing>();
  signing->allocator = allocator;
  signing->message = message;
  signing->done = std::move(done);
  signing->signable = aws_signable_new_http_request(allocator, message);
  const aws_signing_config_aws config = config_of(how);
  Signing* const mine = signing.release();
  if (aws_sign_request_aws(allocator, mine->signable,
                           reinterpret_cast<const aws_signing_config_base*>(&config), on_signed,
                           mine) == AWS_OP_SUCCESS)
    return;
  const int error = aws_last_error();  // then on_signed is not called
  const std::unique_ptr<Signing> back(mine);
  back->done("", error);
}

}  // namespace headroom::aws
