// Workload: the texts that the load driver sends, fixed by name and seed, and the request bodies made from
// them.
//
// `short`: phrases of about 25 characters, like the published run. `agent`: turns of one to three sentences.
// `file:PATH`: JSONL, one {"text": "...", "t_s": seconds} a line (t_s optional, for traces). Texts repeat in
// order after the last. The hash covers every text and body setting: two runs with equal hashes sent the same
// requests. Immutable, shared. Errors: kInvalidArgument (unknown name), kIo and kInvalidData (file; the
// message names the line).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace headroom::load {

struct Utterance {
  std::string text;
  std::optional<base::Duration> at;  // from the start of the trace
};

// How a text becomes a request body.
struct BodyFormat {
  std::string content_type = "application/json";
  std::string accept;
  std::string text_template;  // {{text}} stands for the text, escaped for JSON if the content type is JSON
  // 16-bit samples: how the driver finds the first audible one. 0 = the rate is in the WAV header.
  int pcm_sample_rate = 24'000;
};

class Workload {
 public:
  static base::Result<Workload> make(std::string_view spec, std::uint64_t seed = 1);

  const Utterance& at(std::uint64_t index) const { return utterances_[index % utterances_.size()]; }
  std::size_t size() const { return utterances_.size(); }
  double mean_characters() const;
  const std::string& spec() const { return spec_; }
  std::string hash(const BodyFormat& body) const;  // the first 16 hex digits of a SHA-256

 private:
  std::string spec_;
  std::vector<Utterance> utterances_;
};

// `api`: sagemaker (ours: /invocations), openai (/v1/audio/speech),
// session (messages of /invocations-bidirectional-stream); `format`: wav, pcm, mp3 or opus.
base::Result<BodyFormat> body_format(std::string_view api, std::string_view voice, std::string_view format);
std::string render_body(const BodyFormat& format, std::string_view text);

}  // namespace headroom::load
