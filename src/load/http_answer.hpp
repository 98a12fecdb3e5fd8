// HttpAnswer: reads one HTTP/1.1 answer from bytes as they come: status, headers, body pieces, its end.
//
// Knows Content-Length, chunked and until-close bodies (RFC 9112 section 6.3); skips 1xx answers. Copies no
// body bytes. Limits: 64 KiB of head, 16 hex digits of a chunk size. Single threaded. Errors are the state
// kBad with a reason; a body that ends early is one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::load {

class HttpAnswer {
 public:
  enum class State { kHead, kBody, kDone, kBad };
  struct Sink {
    virtual ~Sink() = default;
    virtual void head() = 0;                        // status and headers are known
    virtual void body(std::string_view piece) = 0;  // never empty
  };

  // Returns the bytes that belong to no part of this answer (only after kDone).
  std::string_view feed(std::string_view bytes, Sink& sink);
  void peer_closed();  // no more bytes will come

  State state() const { return state_; }
  int status() const { return status_; }
  std::string_view header(std::string_view lower_case_name) const;
  std::vector<std::pair<std::string, std::string>> take_headers() { return std::move(headers_); }
  bool chunked() const { return framing_ == Framing::kChunked; }
  bool keep_alive() const { return keep_alive_; }
  bool started() const { return started_; }  // any byte has come
  const std::string& why() const { return why_; }
  void reset();

 private:
  enum class Framing { kNone, kLength, kChunked, kUntilClose };
  enum class Chunk { kSize, kData, kDataEnd, kTrailer };
  // Takes a line, without its end, off the front of `bytes`. nullopt: it is not whole (and kept) or too long.
  std::optional<std::string_view> read_line(std::string_view& bytes);
  void head_line(std::string_view line, Sink& sink);
  void status_line(std::string_view line);
  void header_line(std::string_view line);
  void head_done(Sink& sink);
  void chunk_line(std::string_view line);
  void bad(std::string why);

  State state_ = State::kHead;
  Framing framing_ = Framing::kNone;
  Chunk chunk_ = Chunk::kSize;
  int status_ = 0;
  std::uint64_t left_ = 0;
  bool keep_alive_ = true;
  bool started_ = false;
  std::size_t head_bytes_ = 0;
  std::string line_;  // the beginning of one that was cut
  std::vector<std::pair<std::string, std::string>> headers_;
  std::string why_;
};

}  // namespace headroom::load
