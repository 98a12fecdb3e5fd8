// Counts, and chooses who is cut.
#include "net/unsent_answers.hpp"

#include <utility>
#include <vector>

namespace headroom::net {

UnsentAnswers::Hold UnsentAnswers::hold(std::size_t bytes, std::function<void()> cut) {
  std::vector<std::function<void()>> chosen;
  Rows::iterator newest;
  {
    auto state = state_.lock();
    newest = state->rows.insert(state->rows.end(), {bytes, std::move(cut)});
    state->bytes += bytes;
    state->kept += bytes;
    for (auto row = state->rows.begin(); state->kept > limit_ && row != newest; ++row) {
      if (row->bytes == 0 || !row->cut) continue;
      chosen.push_back(std::exchange(row->cut, nullptr));
      state->kept -= row->bytes;
      ++state->cut;
    }
  }
  for (auto& callback : chosen) callback();
  return {*this, newest};
}

void UnsentAnswers::release(Rows::iterator row) {
  Rows gone;  // its callback is destroyed without the lock
  auto state = state_.lock();
  state->bytes -= row->bytes;
  if (row->cut) state->kept -= row->bytes;
  gone.splice(gone.begin(), state->rows, row);
}

std::size_t UnsentAnswers::bytes() const {
  return state_.with([](const State& state) { return state.bytes; });
}

std::uint64_t UnsentAnswers::cut() const {
  return state_.with([](const State& state) { return state.cut; });
}

}  // namespace headroom::net
