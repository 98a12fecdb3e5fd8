// EndedPieces: the ids of texts in pieces that ended (cancelled, failed, refused) before their last piece
// came.
//
// Their client learns of the end while further pieces are on the way; those belong to nothing and are
// dropped, up to and with the one that is final. It remembers the newest kMost ids and so stays small
// whatever a client sends. Single threaded; no errors.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>

namespace headroom::serve {

class EndedPieces {
 public:
  static constexpr std::size_t kMost = 64;

  void add(const std::string& id) {
    forget(id);
    ids_.push_back(id);
    if (ids_.size() > kMost) ids_.pop_front();
  }
  // Whether this piece belongs to a text that has ended; after its final one the id is free again.
  bool drop(std::string_view id, bool final) {
    const bool known = std::find(ids_.begin(), ids_.end(), id) != ids_.end();
    if (known && final) forget(id);
    return known;
  }
  // The id begins something new.
  void forget(std::string_view id) { std::erase(ids_, id); }

 private:
  std::deque<std::string> ids_;
};

}  // namespace headroom::serve
