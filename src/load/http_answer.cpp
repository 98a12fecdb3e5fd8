// The reading of HTTP/1.1 answers.
#include "load/http_answer.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace headroom::load {
namespace {

constexpr std::size_t kLongestHead = 64 * 1024;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

void HttpAnswer::reset() { *this = HttpAnswer(); }

void HttpAnswer::bad(std::string why) {
  state_ = State::kBad;
  why_ = std::move(why);
}

std::string_view HttpAnswer::header(std::string_view lower_case_name) const {
  for (const auto& [name, value] : headers_) {
    if (name == lower_case_name) return value;
  }
  return {};
}

std::optional<std::string_view> HttpAnswer::read_line(std::string_view& bytes) {
  const auto end = bytes.find('\n');
  std::string_view line = bytes.substr(0, end);
  head_bytes_ += line.size();
  if (head_bytes_ > kLongestHead) {
    bad("the answer's head is longer than 64 KiB");
    return std::nullopt;
  }
  if (end == std::string_view::npos) {
    line_ += line;
    bytes = {};
    return std::nullopt;
  }
  bytes.remove_prefix(end + 1);
  if (!line_.empty()) {
    line_ += line;
    line = line_;
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

void HttpAnswer::status_line(std::string_view line) {
  // HTTP/1.1 200 OK
  if (line.size() < 12 || !line.starts_with("HTTP/1.") || line[8] != ' ') {
    return bad("this is no HTTP/1.1 answer");
  }
  const auto [end, error] = std::from_chars(line.data() + 9, line.data() + 12, status_);
  if (error != std::errc() || end != line.data() + 12 || status_ < 100) return bad("the status is no number");
  keep_alive_ = line[7] != '0';
}

void HttpAnswer::header_line(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return bad("a header line has no colon");
  headers_.emplace_back(lower(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
}

void HttpAnswer::head_done(Sink& sink) {
  if (status_ < 200) {  // 100 Continue and the like: the real answer follows
    status_ = 0;
    headers_.clear();
    return;
  }
  const std::string connection = lower(header("connection"));
  if (connection.find("close") != std::string::npos) keep_alive_ = false;
  if (connection.find("keep-alive") != std::string::npos) keep_alive_ = true;
  const std::string_view length = header("content-length");
  if (lower(header("transfer-encoding")).find("chunked") != std::string::npos) {
    framing_ = Framing::kChunked;
  } else if (status_ == 204 || status_ == 304) {
    framing_ = Framing::kNone;
  } else if (!length.empty()) {
    framing_ = Framing::kLength;
    const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), left_);
    if (error != std::errc() || end != length.data() + length.size())
      return bad("the Content-Length is no number");
  } else {
    framing_ = Framing::kUntilClose;
    keep_alive_ = false;
  }
  const bool empty = framing_ == Framing::kNone || (framing_ == Framing::kLength && left_ == 0);
  state_ = empty ? State::kDone : State::kBody;
  head_bytes_ = 0;
  sink.head();
}

void HttpAnswer::head_line(std::string_view line, Sink& sink) {
  if (status_ == 0) {
    if (!line.empty()) status_line(line);
  } else if (line.empty()) {
    head_done(sink);
  } else {
    header_line(line);
  }
}

void HttpAnswer::chunk_line(std::string_view line) {
  head_bytes_ = 0;
  if (chunk_ == Chunk::kDataEnd) {
    if (!line.empty()) return bad("a chunk is longer than it says");
    chunk_ = Chunk::kSize;
  } else if (chunk_ == Chunk::kTrailer) {
    if (line.empty()) state_ = State::kDone;
  } else {
    const std::string_view size = trimmed(line.substr(0, line.find(';')));
    const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), left_, 16);
    if (error != std::errc() || end != size.data() + size.size()) return bad("a chunk's size is no number");
    chunk_ = left_ == 0 ? Chunk::kTrailer : Chunk::kData;
  }
}

std::string_view HttpAnswer::feed(std::string_view bytes, Sink& sink) {
  started_ = started_ || !bytes.empty();
  while (!bytes.empty() && (state_ == State::kHead || state_ == State::kBody)) {
    const bool in_lines = state_ == State::kHead || (framing_ == Framing::kChunked && chunk_ != Chunk::kData);
    if (in_lines) {
      const auto line = read_line(bytes);
      if (!line) continue;
      state_ == State::kHead ? head_line(*line, sink) : chunk_line(*line);
      line_.clear();
      continue;
    }
    const std::size_t take = framing_ == Framing::kUntilClose
                                 ? bytes.size()
                                 : static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
    if (framing_ != Framing::kUntilClose) left_ -= take;
    const std::string_view piece = bytes.substr(0, take);
    bytes.remove_prefix(take);
    if (left_ == 0 && framing_ == Framing::kChunked) chunk_ = Chunk::kDataEnd;
    if (left_ == 0 && framing_ == Framing::kLength) state_ = State::kDone;
    sink.body(piece);
  }
  return bytes;
}

void HttpAnswer::peer_closed() {
  if (state_ == State::kDone || state_ == State::kBad) return;
  if (state_ == State::kBody && framing_ == Framing::kUntilClose) {
    state_ = State::kDone;
    return;
  }
  bad(state_ == State::kBody ? "the connection closed in the middle of the answer"
                             : "the connection closed before an answer");
}

}  // namespace headroom::load
