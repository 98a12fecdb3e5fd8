// Heads through Beast's own serializer, chunks by hand.
#include "net/answer_bytes.hpp"

#include <iterator>

#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

namespace headroom::net {

namespace beast = boost::beast;
namespace http = boost::beast::http;

std::string head_bytes(int status, const Headers& headers, const HeadForm& form) {
  http::response<http::empty_body> message{static_cast<http::status>(status), 11};
  message.set(http::field::server, form.server);
  for (const auto& [name, value] : headers.rows()) message.insert(name, value);
  message.set("x-request-id", form.request_id);
  message.keep_alive(form.keep_alive);
  message.chunked(form.chunked);
  http::response_serializer<http::empty_body> serializer{message};
  serializer.split(true);  // the head alone
  std::string bytes;
  boost::system::error_code error;
  serializer.next(error, [&](boost::system::error_code&, const auto& buffers) {
    bytes = beast::buffers_to_string(buffers);
  });
  return bytes;
}

void append_chunk(std::string& to, std::string_view chunk) {
  fmt::format_to(std::back_inserter(to), "{:x}\r\n", chunk.size());
  to.append(chunk).append("\r\n");
}

}  // namespace headroom::net
