// OpenAnswers: whether a container that speaks the session protocol still owes an answer.
//
// Read from the messages both ways: a text in asks, synthesis_complete or error ends an answer
// (docs/serving-api.md, "WebSocket"). A container that was asked and has said nothing yet owes one; one that
// speaks, but not this protocol, is not known to owe anything. Pure, single threaded.
#pragma once

#include <cstddef>
#include <string>

namespace headroom::cloud {

class OpenAnswers {
 public:
  void asked(const std::string& message);            // to the container
  void said(const std::string& message, bool text);  // by the container
  bool outstanding() const;

 private:
  bool sent_ = false, heard_ = false, session_ = false, speaking_ = false;
  std::size_t open_ = 0;  // asked and not ended
};

}  // namespace headroom::cloud
