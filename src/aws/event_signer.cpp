// Signing by aws-c-auth, framing by aws-c-event-stream.
#include "aws/event_signer.hpp"

#include <array>
#include <memory>

#include <aws/auth/signable.h>
#include <aws/auth/signing.h>
#include <aws/auth/signing_config.h>
#include <aws/auth/signing_result.h>
#include <aws/common/string.h>
#include <aws/event-stream/event_stream.h>
#include <aws/io/stream.h>

namespace headroom::aws {
namespace {

constexpr std::size_t kSignatureBytes = 32;

struct Signing {
  aws_allocator* allocator = nullptr;
  std::string payload, prior;
  std::int64_t date_ms = 0;
  std::function<void(SignedEvent)> done;
  aws_input_stream* stream = nullptr;
  aws_signable* signable = nullptr;
  ~Signing() {
    if (signable != nullptr) aws_signable_destroy(signable);
    if (stream != nullptr) aws_input_stream_release(stream);
  }
};

std::array<std::uint8_t, kSignatureBytes> from_hex(const std::string& hex) {
  std::array<std::uint8_t, kSignatureBytes> out{};
  const auto digit = [](char c) { return static_cast<std::uint8_t>(c <= '9' ? c - '0' : c - 'a' + 10); };
  for (std::size_t i = 0; i < out.size() && 2 * i + 1 < hex.size(); ++i)
    out[i] = static_cast<std::uint8_t>(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
  return out;
}

std::string outer_frame(const Signing& s, const std::string& signature) {
  std::string out;
  auto bytes = from_hex(signature);
  aws_array_list headers;
  if (aws_event_stream_headers_list_init(&headers, s.allocator) != AWS_OP_SUCCESS) return out;
  aws_byte_buf payload = aws_byte_buf_from_array(s.payload.data(), s.payload.size());
  aws_event_stream_message message;
  if (aws_event_stream_add_timestamp_header(&headers, ":date", 5, s.date_ms) == AWS_OP_SUCCESS &&
      aws_event_stream_add_bytebuf_header(&headers, ":chunk-signature", 16, bytes.data(), kSignatureBytes,
                                          1) == AWS_OP_SUCCESS &&
      aws_event_stream_message_init(&message, s.allocator, &headers, &payload) == AWS_OP_SUCCESS) {
    out.assign(reinterpret_cast<const char*>(aws_event_stream_message_buffer(&message)),
               aws_event_stream_message_total_length(&message));
    aws_event_stream_message_clean_up(&message);
  }
  aws_event_stream_headers_list_cleanup(&headers);
  return out;
}

void on_signed(aws_signing_result* result, int error, void* user_data) {
  const std::unique_ptr<Signing> mine(static_cast<Signing*>(user_data));
  SignedEvent out;
  out.error = error;
  aws_string* signature = nullptr;
  if (error == 0 && result != nullptr)
    aws_signing_result_get_property(result, g_aws_signature_property_name, &signature);
  if (signature != nullptr) {
    out.signature = aws_string_c_str(signature);
    out.frame = outer_frame(*mine, out.signature);
  }
  if (out.error == 0 && out.frame.empty()) out.error = AWS_ERROR_UNKNOWN;
  mine->done(std::move(out));
}

}  // namespace

void sign_event(aws_allocator* allocator, const EventScope& scope, std::string payload, std::string prior,
                base::WallTime date, std::function<void(SignedEvent)> done) {
  auto signing = std::make_unique<Signing>();
  signing->allocator = allocator;
  signing->payload = std::move(payload);
  signing->prior = std::move(prior);
  signing->date_ms = std::chrono::duration_cast<std::chrono::milliseconds>(date.time_since_epoch()).count();
  signing->done = std::move(done);
  const aws_byte_cursor bytes = cursor(signing->payload);
  if (!signing->payload.empty()) signing->stream = aws_input_stream_new_from_cursor(allocator, &bytes);
  signing->signable = aws_signable_new_chunk(allocator, signing->stream, cursor(signing->prior));
  aws_signing_config_aws config{};
  config.config_type = AWS_SIGNING_CONFIG_AWS;
  config.algorithm = AWS_SIGNING_ALGORITHM_V4;
  config.signature_type = AWS_ST_HTTP_REQUEST_EVENT;
  config.region = cursor(scope.region);
  config.service = cursor(scope.service);
  aws_date_time_init_epoch_millis(&config.date, static_cast<std::uint64_t>(signing->date_ms));
  config.credentials = scope.credentials;
  Signing* const raw = signing.release();
  if (aws_sign_request_aws(allocator, raw->signable,
                           reinterpret_cast<const aws_signing_config_base*>(&config), on_signed,
                           raw) != AWS_OP_SUCCESS) {
    const std::unique_ptr<Signing> mine(raw);
    mine->done({aws_last_error(), {}, {}});
  }
}

}  // namespace headroom::aws
