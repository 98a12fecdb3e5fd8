// H2Server: HTTP/2 over TLS (ALPN h2 only) for requests whose body and answer both flow, on libnghttp2 and
// OpenSSL.
//
// It knows no routes: one handler gets every stream when its headers are there. One thread serves all
// connections; handler and events run on it, in order, and must not block. H2Stream may be used from any
// thread; what it is told after the stream's end is dropped. Limits: 256 connections, 100 streams each, 16
// KiB of headers; a handshake, or a connection without streams, may take 30 s. Errors: kIo (the address
// cannot be bound; named), kInvalidData (certificate or key). Source: RFC 9113; official clients speak
// nothing else on this port.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "net/http.hpp"

namespace headroom::cloud {

class H2Stream {
 public:
  virtual ~H2Stream() = default;
  virtual const net::Request& request() const = 0;   // :authority as Host; no body
  virtual void respond(net::Response response) = 0;  // the whole answer
  virtual void begin(int status, net::Headers headers) = 0;
  virtual void write(std::string data) = 0;
  virtual void finish() = 0;
  virtual std::size_t buffered_bytes() const = 0;  // written and not yet taken by the connection
  // Back pressure towards the client: what arrives is no longer acknowledged, until resume().
  virtual void pause() = 0;
  virtual void resume() = 0;
  // Runs once when buffered_bytes() <= limit or the stream has ended.
  virtual void on_drained(std::size_t limit, std::function<void()> callback) = 0;
};

struct H2Events {
  std::function<void(std::string_view)> on_data;
  std::function<void()> on_end;   // the client sent all it has to send
  std::function<void()> on_gone;  // the stream was reset or its connection broke; the last event
};
using H2Handler = std::function<H2Events(std::shared_ptr<H2Stream>)>;

struct H2Options {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: a free one
  std::string certificate_file, key_file;
};

class H2Server {
 public:
  static base::Result<std::unique_ptr<H2Server>> start(H2Options options, H2Handler handler);
  virtual ~H2Server() = default;  // ends every connection
  virtual std::uint16_t port() const = 0;
  virtual void stop_accepting() = 0;  // no further connections and streams; open ones go on
  virtual std::size_t active_streams() const = 0;
};

}  // namespace headroom::cloud
