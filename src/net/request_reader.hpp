// RequestReader: the requests of one connection, one after another, within the limits of size and time.
//
// Internal to net. It says why a request was refused and answers nothing itself. Units: chrono durations.
// To be used on the connection's strand only; `owner` keeps reader and transport while a timer runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include "net/server.hpp"
#include "net/transport.hpp"

namespace headroom::net {

class RequestReader {
 public:
  // `transport` and `options` outlive the reader.
  RequestReader(Transport& transport, const ServerOptions& options);

  struct Outcome {
    std::optional<Request> request;
    bool keep_alive = false;
    // Without a request: the status of the refusal, and as much as was understood. None: the connection has
    // ended, and there is nobody to answer.
    std::optional<int> refusal;
    Request seen;
  };
  // Waits for the first bytes of the next request. False: none came, or not in time.
  boost::asio::awaitable<bool> wait();
  boost::asio::awaitable<Outcome> read(std::shared_ptr<void> owner);
  // Bytes that have been read and belong to no request yet lie here.
  bool ahead() const { return buffer_.size() > 0; }

 private:
  void lose_patience_after(std::chrono::milliseconds limit, std::shared_ptr<void> owner);
  std::optional<int> refusal_of(const boost::system::error_code& error) const;

  Transport& transport_;
  const ServerOptions& options_;
  boost::asio::steady_timer patience_;  // while a request comes in
  std::uint64_t patience_round_ = 0;    // a wait of an earlier request means nothing any more
  bool too_slow_ = false;               // this request's time is up
  boost::beast::flat_buffer buffer_;
};

}  // namespace headroom::net
