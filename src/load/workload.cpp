// The built-in texts and the JSONL reader.
#include "load/workload.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <random>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"

namespace headroom::load {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kTexts = 240;
constexpr std::size_t kLongestLine = 64 * 1024;
constexpr std::size_t kMostLines = 1'000'000;

// Phrases of a phone agent, 19 to 32 characters, 25.2 on average as in the published run.
constexpr std::array kShort{
    "Your order is on its way.",    "How may I help you today?",     "Please hold for a moment.",
    "The train leaves at seven.",   "I have booked your table.",     "Thank you for your call.",
    "That will be ten dollars.",    "Could you repeat that?",        "We open at nine tomorrow.",
    "Your flight is on time.",      "Let me look that up now.",      "The weather is fine today.",
    "I found three good matches.",  "Is there anything else?",       "Your bill has been paid.",
    "Turn left at the next light.", "The doctor can see you now.",   "I sent you a new password.",
    "Please say your full name.",   "Our office is closed now.",     "The package has arrived.",
    "I can call you back later.",   "Your room is number twelve.",   "The price includes dinner.",
    "We will start in an hour.",    "Good morning, and welcome.",    "Your card was not accepted.",
    "I will transfer you now.",     "The meeting is on Monday.",     "Please check your e-mail.",
    "Two seats are still free.",    "The repair takes two days.",    "It should reach you soon.",
    "I am sorry for the delay.",    "Take the second door, please.", "Your account is active.",
    "The line is busy right now.",  "Have a very pleasant day.",     "We are happy to help you.",
    "The parcel weighs two kilos."};

// Sentences of an agent that explains things: 40 to 110 characters.
constexpr std::array kSentences{
    "I checked your account, and the last payment arrived on Tuesday morning.",
    "The technician will call you half an hour before arriving at your house.",
    "You can change the delivery address until six o'clock this evening.",
    "If you prefer, I can send the same information to your e-mail address.",
    "There are two direct trains, one at a quarter past eight and one at ten.",
    "The warranty covers the battery for two years, but not damage from water.",
    "Let me explain the three plans we offer, so you can choose the right one.",
    "Your appointment with Doctor Reyes is confirmed for Thursday at half past two.",
    "The store on Market Street still has four of them, and they will hold one for you.",
    "Before I make that change, I need the last four digits of your customer number.",
    "It usually takes about five working days until the refund shows on your statement.",
    "The update fixes the problem you described, and installing it takes ten minutes.",
    "We had a short outage this morning, and everything has been running again since nine.",
    "I have added the second driver to your policy without any extra charge.",
    "Breakfast is served from seven to half past ten in the room next to the lobby.",
    "Please keep the receipt, because the museum accepts it for the afternoon as well."};

// The distribution classes of the standard library differ between implementations; a plain modulus does not.
std::size_t pick(std::mt19937_64& random, std::size_t n) { return static_cast<std::size_t>(random() % n); }

std::vector<Utterance> make_short(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Utterance> out;
  while (out.size() < kTexts) {  // whole shuffled rounds, so that every phrase comes equally often
    std::vector<const char*> round(kShort.begin(), kShort.end());
    for (std::size_t i = round.size(); i > 1; --i) std::swap(round[i - 1], round[pick(random, i)]);
    for (const char* text : round) out.push_back({text, std::nullopt});
  }
  return out;
}

std::vector<Utterance> make_agent(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Utterance> out;
  while (out.size() < kTexts) {
    std::string turn;
    const std::size_t sentences = 1 + pick(random, 3);
    std::size_t last = kSentences.size();
    for (std::size_t i = 0; i < sentences; ++i) {
      std::size_t next = pick(random, kSentences.size());
      if (next == last) next = (next + 1) % kSentences.size();
      last = next;
      turn += (i == 0 ? "" : " ") + std::string(kSentences[next]);
    }
    out.push_back({std::move(turn), std::nullopt});
  }
  return out;
}

base::Result<std::vector<Utterance>> read_file(const std::string& path) {
  std::ifstream in(path);
  if (!in) return fail(ErrorCode::kIo, "cannot read the workload file '" + path + "'; check the path");
  std::vector<Utterance> out;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    const auto bad = [&](const std::string& why) {
      return fail(ErrorCode::kInvalidData, path + ":" + std::to_string(number) + ": " + why +
                                               "; write one {\"text\": \"...\"} a line");
    };
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (line.size() > kLongestLine) return bad("the line is longer than 64 KiB");
    if (out.size() >= kMostLines) return bad("there are over 1,000,000 lines");
    const auto parsed = nlohmann::json::parse(line, nullptr, false);
    if (!parsed.is_object()) return bad("this is not a JSON object");
    const auto text = parsed.find("text");
    if (text == parsed.end() || !text->is_string() || text->get_ref<const std::string&>().empty()) {
      return bad("there is no text");
    }
    Utterance one{text->get<std::string>(), std::nullopt};
    if (const auto at = parsed.find("t_s"); at != parsed.end()) {
      if (!at->is_number() || !std::isfinite(at->get<double>()) || at->get<double>() < 0 ||
          at->get<double>() > 1e7) {
        return bad("t_s is not a number of seconds");
      }
      one.at = base::from_s(at->get<double>());
    }
    out.push_back(std::move(one));
  }
  if (out.empty()) return fail(ErrorCode::kInvalidData, "the workload file '" + path + "' holds no text");
  return out;
}

std::string json_escaped(std::string_view text) {
  const std::string quoted =
      nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2);
}

}  // namespace

base::Result<Workload> Workload::make(std::string_view spec, std::uint64_t seed) {
  Workload out;
  out.spec_ = spec;
  if (spec == "short") {
    out.utterances_ = make_short(seed);
  } else if (spec == "agent") {
    out.utterances_ = make_agent(seed);
  } else if (spec.starts_with("file:")) {
    auto read = read_file(std::string(spec.substr(5)));
    if (!read) return tl::unexpected(read.error());
    out.utterances_ = std::move(*read);
  } else {
    return fail(ErrorCode::kInvalidArgument,
                "unknown workload '" + std::string(spec) + "'; choose short, agent or file:PATH");
  }
  return out;
}

double Workload::mean_characters() const {
  double sum = 0;
  for (const Utterance& one : utterances_) {
    for (char c : one.text) sum += (static_cast<unsigned char>(c) & 0xC0) != 0x80;  // code points, not bytes
  }
  return sum / static_cast<double>(utterances_.size());
}

std::string Workload::hash(const BodyFormat& body) const {
  std::string all = body.content_type + "\n" + body.accept + "\n" + body.text_template + "\n";
  for (const Utterance& one : utterances_) {
    all += one.text;
    if (one.at) all += "\t" + std::to_string(one.at->count());
    all += "\n";
  }
  return base::sha256_hex(all).substr(0, 16);
}

base::Result<BodyFormat> body_format(std::string_view api, std::string_view voice, std::string_view format) {
  BodyFormat out;
  if (format != "wav" && format != "pcm" && format != "mp3" && format != "opus") {
    return fail(ErrorCode::kInvalidArgument, "unknown audio format '" + std::string(format) +
                                                 "' for measuring; choose wav, pcm, mp3 or opus");
  }
  out.pcm_sample_rate = format == "pcm" ? 24'000 : 0;
  const std::string spoken = json_escaped(voice);
  if (api == "sagemaker") {
    out.text_template = R"({"text":"{{text}}","voice":")" + spoken + R"(","format":")" + std::string(format) +
                        R"(","stream":true})";
  } else if (api == "session") {  // of a WebSocket or bidirectional stream: always pcm
    out.pcm_sample_rate = 24'000;
    out.text_template = R"({"text":"{{text}}","voice":")" + spoken + R"(","request_id":"load"})";
  } else if (api == "openai") {
    out.text_template = R"({"model":"kokoro","input":"{{text}}","voice":")" + spoken +
                        R"(","response_format":")" + std::string(format) + R"("})";
  } else {
    return fail(ErrorCode::kInvalidArgument,
                "unknown API '" + std::string(api) + "'; choose sagemaker, openai or session");
  }
  return out;
}

std::string render_body(const BodyFormat& format, std::string_view text) {
  static constexpr std::string_view kPlace = "{{text}}";
  const bool json = format.content_type.find("json") != std::string::npos;
  const std::string filling = json ? json_escaped(text) : std::string(text);
  std::string out;
  std::string_view rest = format.text_template;
  for (auto at = rest.find(kPlace); at != std::string_view::npos; at = rest.find(kPlace)) {
    out += rest.substr(0, at);
    out += filling;
    rest.remove_prefix(at + kPlace.size());
  }
  out += rest;
  return out;
}

}  // namespace headroom::load
