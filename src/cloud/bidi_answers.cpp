// The few members of the session's messages that tell.
#include "cloud/bidi_answers.hpp"

#include <algorithm>

#include "cloud/json.hpp"

namespace headroom::cloud {
namespace {

std::string type_of(const Json& message) {
  const auto type = message.find("type");
  return type != message.end() && type->is_string() ? type->get<std::string>() : "";
}

}  // namespace

void OpenAnswers::asked(const std::string& message) {
  sent_ = true;
  const Json read = Json::parse(message, nullptr, false);
  if (!read.is_object() || !read.contains("text")) return;
  // Of a text in pieces the last one counts.
  const auto final = read.find("final");
  if (type_of(read) != "text" || (final != read.end() && *final == true)) ++open_;
}

void OpenAnswers::said(const std::string& message, bool text) {
  heard_ = true;
  if (!text) return;
  const Json read = Json::parse(message, nullptr, false);
  if (!read.is_object()) return;
  const std::string type = type_of(read);
  if (type == "synthesis_start") session_ = speaking_ = true;
  if (type == "synthesis_complete" || (type == "error" && read.contains("request_id"))) session_ = true;
  if (type != "synthesis_complete" && type != "error") return;
  speaking_ = false;
  open_ -= std::min<std::size_t>(open_, 1);  // an error may belong to no request
}

bool OpenAnswers::outstanding() const {
  if (!heard_) return sent_;
  return session_ && (speaking_ || open_ > 0);
}

}  // namespace headroom::cloud
