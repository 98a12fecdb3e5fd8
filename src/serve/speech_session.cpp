// Turns messages into requests and answers them in order.
#include "serve/speech_session.hpp"

#include <deque>
#include <mutex>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include "serve/ended_pieces.hpp"
#include "serve/gathered_text.hpp"
#include "serve/log_words.hpp"
#include "serve/request_fields.hpp"
#include "serve/request_json.hpp"
#include "serve/session_sink.hpp"
#include "serve/speech_json.hpp"
#include "serve/unheard.hpp"

namespace headroom::serve {
namespace {

using nlohmann::json;
constexpr std::string_view kRoute = "/invocations-bidirectional-stream";
constexpr std::size_t kMaxPipelined = 64;
constexpr std::size_t kMaxIdBytes = 128;
// A piece that ends like a sentence is taken as one when nothing follows it for this long.
constexpr auto kPause = std::chrono::milliseconds(150);

ApiFailure id_in_use(std::string_view id) {
  return {ApiError::kInvalidField,
          fmt::format("request_id '{}' is in use; give each request its own", shown(id))};
}

// One request from its first message to its last.
struct Turn {
  std::string id;
  std::unique_ptr<Admission::Ticket> ticket;  // until its job takes it
  std::optional<SpeechRequest> request;       // until its job takes it
  bool pieces = false;
  bool failed = false;  // its error is on the way: it is neither started nor fed
  GatheredText text;    // of pieces
  std::shared_ptr<SessionSink> sink;
  std::shared_ptr<SpeechJob> job;  // once its turn has come
};

class SessionImpl final : public SpeechSession, public std::enable_shared_from_this<SessionImpl> {
 public:
  SessionImpl(SessionContext& context, std::shared_ptr<net::WebSocket> socket, std::string id)
      : context_(context), socket_(std::move(socket)), id_(std::move(id)), unheard_(socket_) {}

  void on_message(const std::string& message);
  void on_close(const net::WsEnd& end);
  void leave_when_idle() override;

 private:
  using Lock = std::unique_lock<std::mutex>;
  using TurnPtr = std::shared_ptr<Turn>;

  void speak(const json& message, std::string id);
  void speak_piece(const json& message, std::string id);
  TurnPtr admit(const json& message, const std::string& id, bool piece);
  TurnPtr turn_away(const ApiFailure& failure, std::string_view id);
  void refuse(const ApiFailure& failure, std::string_view id);
  void note_end(std::string_view id, std::string_view outcome, const ApiFailure* why = nullptr);
  void add_piece(const TurnPtr& turn, const tl::expected<TextPiece, ApiFailure>& piece);
  void cancel(const std::string& id);
  void say_error(const ApiFailure& failure, std::string_view id);
  TurnPtr find(const std::string& id);
  void run_front(Lock& lock);
  bool client_is_behind();
  void feed(Turn& turn);
  bool erase(const TurnPtr& turn);
  bool take_out(const TurnPtr& turn);
  void end_turn(const TurnPtr& turn, std::string last);
  void after_pause(const TurnPtr& turn, std::uint64_t piece_count);
  void watch_pieces(const TurnPtr& turn, base::Duration wait);
  void fail_turn(const TurnPtr& turn, const ApiFailure& failure);
  void close_if_done(Lock& lock);

  SessionContext& context_;
  const std::shared_ptr<net::WebSocket> socket_;
  const std::string id_;
  Unheard unheard_;
  std::mutex mutex_;  // guards what follows
  std::deque<TurnPtr> turns_;
  EndedPieces ended_pieces_;
  std::uint64_t unnamed_ = 0;
  bool ended_ = false;
  bool waits_for_client_ = false;  // to take what it was sent; then the first turn is looked at
  std::optional<std::pair<std::uint16_t, std::string>> leaving_;  // close with this when nothing is left
};

void SessionImpl::say_error(const ApiFailure& failure, std::string_view id) {
  socket_->send_text(error_json(failure, id));
  unheard_.count();
}

void SessionImpl::on_message(const std::string& message) {
  const auto object = parse_object(message, "a message");
  if (!object) return say_error(object.error(), {});
  const json& parsed = *object;
  std::string type;
  std::string id;
  if (auto done = read_string(parsed, "request_id", id, ApiError::kInvalidField); !done)
    return say_error(done.error(), {});
  if (id.size() > kMaxIdBytes) {
    return say_error({ApiError::kInvalidField, fmt::format("'request_id' is over {} bytes", kMaxIdBytes)},
                     {});
  }
  if (auto done = read_string(parsed, "type", type, ApiError::kInvalidField); !done)
    return say_error(done.error(), id);
  if (type.empty() || type == "synthesize") return speak(parsed, std::move(id));
  if (type == "text") return speak_piece(parsed, std::move(id));
  if (type == "cancel") return cancel(id);
  if (type == "close") {
    Lock lock(mutex_);
    leaving_ = {1000, "closed as asked"};
    return close_if_done(lock);
  }
  say_error({ApiError::kInvalidField,
             fmt::format("type '{}' is unknown; use text, cancel or close, or leave it out", shown(type))},
            id);
}

SessionImpl::TurnPtr SessionImpl::find(const std::string& id) {
  for (const auto& turn : turns_) {
    if (turn->id == id) return turn;
  }
  return nullptr;
}

void SessionImpl::speak(const json& message, std::string id) {
  Lock lock(mutex_);
  if (ended_) return;
  if (!id.empty() && find(id)) return say_error(id_in_use(id), id);
  ended_pieces_.forget(id);
  if (id.empty()) id = fmt::format("{}-{}", id_, ++unnamed_);
  if (admit(message, id, false)) run_front(lock);
}

// A piece without text neither opens a request nor keeps one alive: a place costs something to say.
void SessionImpl::speak_piece(const json& message, std::string id) {
  Lock lock(mutex_);
  if (ended_) return;
  if (id.empty()) {
    return say_error({ApiError::kInvalidField, "text in pieces needs a 'request_id' that joins them"}, {});
  }
  const auto piece = read_text_piece(message);
  const bool final = piece && piece->final;
  TurnPtr turn = find(id);
  if (turn && !(turn->pieces && !turn->text.final())) return say_error(id_in_use(id), id);
  if (!turn && ended_pieces_.drop(id, final)) return;
  if (!turn && piece && is_blank(piece->text)) {
    if (!final) return;
    context_.jobs.metrics.offered(kRoute);
    context_.admission.count_refused();
    return refuse({ApiError::kMissingText, "the pieces of this request hold no text; send words"}, id);
  }
  if (!turn) turn = admit(message, id, true);
  if (!turn) {
    if (!final) ended_pieces_.add(id);
    return;
  }
  add_piece(turn, piece);
  run_front(lock);
}

// Of a request without a job: a job notes its end itself.
void SessionImpl::note_end(std::string_view id, std::string_view outcome, const ApiFailure* why) {
  const std::string_view code = why != nullptr ? api_error_row(why->error).code : "";
  if (why != nullptr) context_.jobs.metrics.rejected(code);
  context_.jobs.metrics.outcome(kRoute, outcome);
  spdlog::info("{}", request_end(id, kRoute, outcome, code));
}

void SessionImpl::refuse(const ApiFailure& failure, std::string_view id) {
  note_end(id, "rejected", &failure);
  say_error(failure, id);
}

// At a limit: without a line, which would be work for each request that is too many.
SessionImpl::TurnPtr SessionImpl::turn_away(const ApiFailure& failure, std::string_view id) {
  context_.jobs.metrics.rejected(api_error_row(failure.error).code);
  context_.jobs.metrics.outcome(kRoute, "rejected");
  say_error(failure, id);
  return nullptr;
}

// Null: it was refused and the client told.
SessionImpl::TurnPtr SessionImpl::admit(const json& message, const std::string& id, bool piece) {
  auto& metrics = context_.jobs.metrics;
  metrics.offered(kRoute);
  auto barred = context_.barred();
  if (leaving_) barred = {ApiError::kDraining, "this session is closing; open another"};
  if (!barred && turns_.size() >= kMaxPipelined) {
    barred = {ApiError::kQueueSaturated,
              fmt::format("{} requests wait in this session, its limit", kMaxPipelined)};
  }
  if (barred) {
    context_.admission.count_refused();
    return turn_away(*barred, id);
  }
  auto ticket = context_.admission.enter();
  if (!ticket) {
    return turn_away({ApiError::kQueueSaturated,
                      fmt::format("{} requests are outstanding, the limit of this instance; retry later",
                                  context_.admission.limit())},
                     id);
  }
  metrics.accepted(kRoute);
  auto parsed = read_session_request(message, piece, context_.jobs.limits, context_.jobs.voices);
  if (!parsed) return refuse(parsed.error(), id), nullptr;
  auto turn = std::make_shared<Turn>();
  turn->id = id;
  turn->pieces = piece;
  turn->ticket = std::move(ticket);
  turn->request = std::move(*parsed);
  if (piece) turn->request->text.clear();
  turn->sink = std::make_shared<SessionSink>(
      socket_, turn->id, [weak = weak_from_this(), ended = std::weak_ptr(turn)](std::string last) {
        if (const auto self = weak.lock()) self->end_turn(ended.lock(), std::move(last));
      });
  turns_.push_back(turn);
  socket_->set_busy(true);
  return turn;
}

void SessionImpl::add_piece(const TurnPtr& turn, const tl::expected<TextPiece, ApiFailure>& piece) {
  if (!piece) return fail_turn(turn, piece.error());
  GatheredText& text = turn->text;
  if (turn->failed) return text.note_final(piece->final);
  const auto& jobs = context_.jobs;
  const bool begins = !text.begun();
  const auto pieces = text.pieces();
  if (const auto why = text.add(*piece, jobs.clock.steady(), jobs.limits.max_characters))
    return fail_turn(turn, *why);
  if (begins && text.begun()) watch_pieces(turn, jobs.max_age);
  if (text.pieces() == pieces || !text.may_end_here()) return;
  jobs.loop.after(kPause, [weak = weak_from_this(), left = std::weak_ptr(turn), count = text.pieces()] {
    const auto self = weak.lock();
    const auto waiting = left.lock();
    if (self && waiting) self->after_pause(waiting, count);
  });
}

// Under the lock. Pieces that the client sent before it heard of the end are none of a new request.
bool SessionImpl::erase(const TurnPtr& turn) {
  if (std::erase(turns_, turn) == 0) return false;
  if (turn->pieces && !turn->text.final()) ended_pieces_.add(turn->id);
  return true;
}

// For a turn without a job, under the lock: it can no longer be started, and its place is free before its
// client hears that it has ended. False: it has ended already.
bool SessionImpl::take_out(const TurnPtr& turn) {
  turn->ticket.reset();
  return erase(turn);
}

// Under the lock; the client is told later and without it: the end of a turn takes it.
void SessionImpl::fail_turn(const TurnPtr& turn, const ApiFailure& failure) {
  if (std::exchange(turn->failed, true)) return;
  context_.text_loop.post([turn, failure, self = shared_from_this()] {
    std::shared_ptr<SpeechJob> job;
    {
      Lock lock(self->mutex_);
      job = turn->job;
      if (!job && !self->take_out(turn)) return;
    }
    if (job) return job->refuse(failure);
    self->note_end(turn->id, "rejected", &failure);
    turn->sink->fail(failure);
  });
}

// A request whose text stops coming would hold its place for ever.
void SessionImpl::watch_pieces(const TurnPtr& turn, base::Duration wait) {
  context_.jobs.loop.after(wait, [weak = weak_from_this(), left = std::weak_ptr(turn)] {
    const auto self = weak.lock();
    const auto waiting = left.lock();
    if (!self || !waiting) return;
    Lock lock(self->mutex_);
    if (self->ended_ || waiting->text.final() || waiting->failed) return;
    const auto& jobs = self->context_.jobs;
    const auto now = jobs.clock.steady();
    if (const auto why = waiting->text.stale(now, jobs.max_age)) return self->fail_turn(waiting, *why);
    self->watch_pieces(waiting, waiting->text.patience(now, jobs.max_age));
  });
}

void SessionImpl::after_pause(const TurnPtr& turn, std::uint64_t piece_count) {
  Lock lock(mutex_);
  if (!ended_ && !turn->failed && turn->text.end_after(piece_count)) run_front(lock);
}

// Starts the first turn if it has not been started, and gives it what has come in since.
void SessionImpl::run_front(Lock& lock) {
  (void)lock;
  if (turns_.empty() || ended_) return;
  Turn& turn = *turns_.front();
  if (turn.failed) return;  // its end calls again
  if (turn.job) return feed(turn);
  if (turn.pieces && !turn.text.has_sentences() && !turn.text.final()) return;  // nothing to say yet
  if (client_is_behind()) return;
  turn.job = std::make_shared<SpeechJob>(context_.jobs, turn.sink, std::move(turn.ticket),
                                         std::string(kRoute), context_.next_number());
  auto request = std::make_shared<SpeechRequest>(std::move(*turn.request));
  turn.request.reset();
  context_.text_loop.post([job = turn.job, request, pieces = turn.pieces] {
    job->attempt([&] { pieces ? job->open(std::move(*request)) : job->prepare(std::move(*request)); });
  });
  feed(turn);
}

// Under the lock. Nothing counts a request that has ended, so its audio must be taken before more is made:
// else many short ones would heap up before a client that reads slowly.
bool SessionImpl::client_is_behind() {
  if (socket_->buffered_bytes() <= kBufferedLimit) return false;
  if (std::exchange(waits_for_client_, true)) return true;
  socket_->on_drained(kBufferedLimit, [weak = weak_from_this()] {
    const auto session = weak.lock();
    if (!session) return;
    session->context_.text_loop.post([session] {  // not here: this may run at once, under the lock
      Lock lock(session->mutex_);
      session->waits_for_client_ = false;
      session->run_front(lock);
    });
  });
  return true;
}

void SessionImpl::feed(Turn& turn) {
  if (!turn.pieces || (!turn.text.has_sentences() && !turn.text.final())) return;
  context_.text_loop.post(
      [job = turn.job, sentences = turn.text.take_sentences(), final = turn.text.final()] {
        job->attempt([&] {
          for (std::size_t i = 0; i < sentences.size(); ++i)
            job->append(sentences[i], final && i + 1 == sentences.size());
        });
      });
}

void SessionImpl::cancel(const std::string& id) {
  TurnPtr turn;
  std::shared_ptr<SpeechJob> job;
  {
    Lock lock(mutex_);
    turn = find(id);
    if (turn) job = turn->job;
    if (turn && !job) take_out(turn);
  }
  if (!turn) {
    return say_error(
        {ApiError::kNotFound, fmt::format("no request '{}' is running in this session", shown(id))}, id);
  }
  if (job && !job->cancel("cancelled")) return;  // its end is on its way already
  if (!job) note_end(id, "cancelled");
  turn->sink->end(cancelled_json(id));
  unheard_.count();
}

// All of it under the lock: the client may answer the last message with its next request, which then finds
// id and place free, and nothing of the next turn overtakes it.
void SessionImpl::end_turn(const TurnPtr& turn, std::string last) {
  Lock lock(mutex_);
  if (turn) erase(turn);
  socket_->send_text(std::move(last));
  if (turns_.empty()) socket_->set_busy(false);
  run_front(lock);
  close_if_done(lock);
}

void SessionImpl::close_if_done(Lock& lock) {
  (void)lock;
  if (leaving_ && turns_.empty()) socket_->close(leaving_->first, leaving_->second);
}

void SessionImpl::leave_when_idle() {
  Lock lock(mutex_);
  if (!leaving_) leaving_ = {1001, "the instance is shutting down"};
  close_if_done(lock);
}

void SessionImpl::on_close(const net::WsEnd& end) {
  std::deque<TurnPtr> left;
  {
    Lock lock(mutex_);
    ended_ = true;
    left.swap(turns_);
  }
  for (const auto& turn : left) {
    if (turn->job)
      turn->job->cancel("aborted");
    else
      note_end(turn->id, "aborted");
  }
  spdlog::info("session id={} route={} close_code={}{}", id_, kRoute, end.code,
               end.error ? " error=\"" + end.error->message + '"' : "");
}

}  // namespace

std::shared_ptr<SpeechSession> make_session(SessionContext& context, std::shared_ptr<net::WebSocket> socket,
                                            std::string session_id, net::WsEvents& events) {
  auto session = std::make_shared<SessionImpl>(context, std::move(socket), std::move(session_id));
  events.on_message = [session](const std::string& message, bool) { session->on_message(message); };
  events.on_close = [session](const net::WsEnd& end) { session->on_close(end); };
  return session;
}

}  // namespace headroom::serve
