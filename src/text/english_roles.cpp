// Guessing a word's role from its neighbours, for the few hundred words whose sound depends on it.
#include <algorithm>
#include <array>
#include <span>

#include "text/english.hpp"

namespace headroom::text {
namespace {

using Words = std::span<const std::string_view>;

constexpr std::string_view kBeforeVerb[] = {
    "to",        "will",   "would",   "can",    "could",   "should", "must",  "may",   "might",    "shall",
    "do",        "does",   "did",     "don't",  "doesn't", "didn't", "won't", "can't", "couldn't", "wouldn't",
    "shouldn't", "cannot", "let's",   "please", "i",       "you",    "we",    "they",  "who",      "i'll",
    "you'll",    "we'll",  "they'll", "he'll",  "she'll",  "it'll",  "i'd",   "you'd", "we'd",     "they'd",
    "always",    "never",  "help",    "lets",   "us",      "them",   "then",  "just"};
constexpr std::string_view kThirdPerson[] = {"he",   "she",      "it",     "who",    "which",
                                             "that", "everyone", "nobody", "someone"};
constexpr std::string_view kBeforeNoun[] = {
    "the",  "a",     "an",    "this", "that", "these", "those",   "my",      "your", "his", "her",
    "its",  "our",   "their", "no",   "some", "any",   "each",    "every",   "of",   "in",  "for",
    "with", "on",    "at",    "by",   "from", "into",  "another", "one",     "two",  "new", "good",
    "more", "first", "last",  "own",  "high", "low",   "world",   "without", "per"};
constexpr std::string_view kBeforeAdjective[] = {
    "is",    "are",    "was", "were", "be",  "been",   "am",    "very",    "so",   "too",
    "quite", "really", "how", "it's", "i'm", "you're", "we're", "they're", "feel", "feels"};
constexpr std::string_view kBeforeParticiple[] = {
    "have", "has",    "had",   "was",     "were", "is",  "are",  "be",      "been", "being",
    "i've", "you've", "we've", "they've", "got",  "get", "well", "already", "not"};
constexpr std::string_view kDeterminers[] = {
    "the", "a",   "an",    "this", "that", "these", "those", "my",  "your", "his", "her",
    "its", "our", "their", "all",  "both", "it",    "them",  "him", "me",   "us",  "everything"};
constexpr std::string_view kBeforeLiving[] = {"in",    "with",    "at",      "together", "near", "by",
                                              "here",  "there",   "alone",   "for",      "to",   "under",
                                              "among", "forever", "happily", "longer",   "up",   "through"};

bool in(Words list, std::string_view word) { return std::find(list.begin(), list.end(), word) != list.end(); }

}  // namespace

std::string_view guess_role(std::string_view lower, const WordContext& c) {
  if (const auto reading = homograph(lower, c); reading && !reading->role.empty()) return reading->role;
  const std::string_view p = c.previous;
  const bool ends_in_s = !lower.empty() && lower.back() == 's';
  if (lower == "read" || lower == "reread" || lower == "wound") {
    if (in(kBeforeParticiple, p)) return "VBN";
    if (lower == "wound" && (p == "he" || p == "she" || p == "they" || p == "we" || p == "i")) return "VBD";
    if (lower == "wound") return c.next == "up" || c.next == "down" || c.next == "its" ? "VBD" : "DEFAULT";
    return p == "he" || p == "she" || p == "it" || p == "who" || p == "never" || p == "recently" ||
                   (c.past && p != "to")
               ? "VBD"
               : "DEFAULT";
  }
  if (lower == "used") return c.next == "to" && !in(kBeforeParticiple, p) ? "VBD" : "DEFAULT";
  if (lower == "live") {
    if (in(kBeforeVerb, p)) return "VERB";
    return in(kBeforeLiving, c.next) && !in(kBeforeAdjective, p) && !in(kBeforeNoun, p) ? "VERB" : "ADJ";
  }
  if (lower == "object" && c.next == "to") return "VERB";
  if (lower == "lives") return in(kThirdPerson, p) || in(kBeforeLiving, c.next) ? "VERB" : "NOUN";
  if (lower == "that") {
    constexpr std::string_view kAfterThing[] = {"is",   "was", "will", "would",  "one",  "way",
                                                "time", "day", "year", "moment", "point"};
    return in(kAfterThing, c.next) && p.empty() ? "DT" : "DEFAULT";
  }
  if (p == "and" || p == "or" || p == "not") {
    // "to record and present": the role of the word before the conjunction is unknown; an object after it
    // tells
    return in(kDeterminers, c.next) ? "VERB" : "DEFAULT";
  }
  if (in(kBeforeAdjective, p)) return "ADJ";
  if (in(kBeforeVerb, p) && !ends_in_s) return "VERB";
  if (in(kThirdPerson, p) && ends_in_s) return "VERB";
  if (in(kBeforeNoun, p)) return "NOUN";
  // "Close the door": an order, or a verb after its subject.
  if (in(kDeterminers, c.next)) return "VERB";
  return "DEFAULT";
}

}  // namespace headroom::text
