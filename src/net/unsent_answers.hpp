// UnsentAnswers: the common bound of finished answers whose clients have not taken them yet.
//
// An answer given by respond(), and what is queued of a stream when it is finished, lies in memory until its
// last byte has gone to the socket, long after the work on it has ended, so a client that reads slowly holds
// what no limit of the work counts. Here all of them are counted together: where one more would pass the
// limit, the connection that has been taking its answer the longest is cut. So nobody who reads is refused
// for those who do not; what has just been made is never cut, and neither is what fits. A stream that is not
// finished is not counted: whoever makes it waits (on_drained).
// Units: bytes of bodies. Thread safe; a cut callback runs on the thread that asked for the next hold,
// without the lock. No errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <utility>

#include "base/guarded.hpp"

namespace headroom::net {

class UnsentAnswers {
  struct Row {
    std::size_t bytes = 0;
    std::function<void()> cut;  // empty: it has been called
  };
  using Rows = std::list<Row>;  // the oldest first

 public:
  static constexpr std::size_t kDefaultLimit = std::size_t{512} << 20;

  explicit UnsentAnswers(std::size_t limit) : limit_(limit) {}
  UnsentAnswers(const UnsentAnswers&) = delete;
  UnsentAnswers& operator=(const UnsentAnswers&) = delete;

  // One answer, from when it is finished to its last byte or to the end of its connection.
  class Hold {
   public:
    Hold(Hold&& other) noexcept : of_(std::exchange(other.of_, nullptr)), row_(other.row_) {}
    Hold& operator=(Hold&&) = delete;
    ~Hold() {
      if (of_ != nullptr) of_->release(row_);
    }

   private:
    friend class UnsentAnswers;
    Hold(UnsentAnswers& of, Rows::iterator row) : of_(&of), row_(row) {}
    UnsentAnswers* of_;  // null: moved from
    Rows::iterator row_;
  };
  // `cut` is to end the connection; it runs at most once, and perhaps at the moment at which the hold ends.
  Hold hold(std::size_t bytes, std::function<void()> cut);
  std::size_t bytes() const;
  std::uint64_t cut() const;  // answers, since the beginning

 private:
  struct State {
    Rows rows;
    std::size_t bytes = 0;  // of all rows
    std::size_t kept = 0;   // of those that have not been cut
    std::uint64_t cut = 0;
  };
  void release(Rows::iterator row);

  const std::size_t limit_;
  base::Guarded<State> state_;
};

}  // namespace headroom::net
