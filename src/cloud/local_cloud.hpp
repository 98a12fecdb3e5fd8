// LocalCloud: tts-local as one object. Speaks the AWS APIs over HTTP on this machine; its instances are real
// tts-serve processes.
//
// Thread safety: start(), up() and stop() from one thread. Errors: kConflict for a state folder in use, kIo
// for a port in use, kInvalidArgument for options that must not go together (names them).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace headroom::cloud {

struct LocalCloudOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 4599;    // 0: a free one
  std::uint16_t bidi_port = 0;  // of the bidirectional stream; 0: the next after `port` or a free one
  std::string state_folder;
  std::string serve_binary;
  int instance_cores = 1;
  base::Duration provision_delay{0};
  int quota = 4;
  double fast = 1;
  bool scale_on_desired = false;     // policies multiply the desired count, not the one in service
  bool scale_while_updating = true;  // policies act while an earlier change is being carried out
  std::string region = "us-east-1";
  std::string credentials;              // "AKID:SECRET"; empty: any signature is taken
  std::vector<std::string> host_names;  // further names in the Host header
  std::string control_token;            // of the control route; empty: off
  std::function<void(std::string_view)> log;
};

struct UpRequest {
  std::string model_file;    // a path
  std::string model_folder;  // ModelDataUrl file://...; empty: none
};

class LocalCloud {
 public:
  static base::Result<std::unique_ptr<LocalCloud>> start(LocalCloudOptions options);
  // Makes the certificate of a state folder if there is none; its CA's path. Needs no running cloud.
  static base::Result<std::string> prepare_trust(const LocalCloudOptions& options);
  ~LocalCloud();  // stop()

  std::uint16_t port() const;
  std::uint16_t bidi_port() const;
  std::string ca_file() const;  // what clients of the bidirectional stream must trust
  bool checks_signatures() const;
  // Creates or replaces model, config and endpoint of a model file and waits until it is InService. `wanted`
  // is asked now and then whether to go on. Returns the endpoint's name.
  base::Result<std::string> up(const UpRequest& request, const std::function<bool()>& wanted);
  // Lets running requests finish (30 s at most), then ends the instances. The state stays.
  void stop();

 private:
  struct Impl;
  explicit LocalCloud(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace headroom::cloud
