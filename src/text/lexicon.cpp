// Loading and looking up pronunciations; see lexicon.hpp. The files have a flat form, read here in one pass
// and kept as they are: entries are views into the file's bytes, so that 180,000 words load in a few
// milliseconds.
#include "text/lexicon.hpp"

#include <cstring>
#include <fstream>

#include "text/utf8.hpp"

namespace headroom::text {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

std::uint64_t hash_of(std::string_view s) {  // FNV-1a
  std::uint64_t h = 1469598103934665603ULL;
  for (const char c : s) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return h ^ (h >> 29U);
}

// A cursor over the JSON text: just the forms these files contain.
class Reader {
 public:
  Reader(std::string_view text, std::deque<std::string>& arena) : text_(text), arena_(arena) {}

  bool expect(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  std::optional<std::string_view> string() {
    if (!expect('"')) return std::nullopt;
    const std::size_t from = at_;
    bool escaped = false;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\') {
        escaped = true;
        ++at_;
      }
      ++at_;
    }
    if (at_ >= text_.size()) return std::nullopt;
    const std::string_view raw = text_.substr(from, at_ - from);
    ++at_;
    return escaped ? unescape(raw) : raw;
  }
  bool null() {
    skip();
    if (text_.substr(at_, 4) != "null") return false;
    at_ += 4;
    return true;
  }
  std::optional<std::string_view> object_text() {  // of string: string|null members, checked as it goes
    skip();
    const std::size_t from = at_;
    if (!expect('{')) return std::nullopt;
    do {
      if (!string() || !expect(':')) return std::nullopt;
      if (peek() == '"' ? !string().has_value() : !null()) return std::nullopt;
    } while (expect(','));
    if (!expect('}')) return std::nullopt;
    return text_.substr(from, at_ - from);
  }

 private:
  void skip() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
      ++at_;
  }

  std::optional<std::string_view> unescape(std::string_view raw) {
    std::string out;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] != '\\') {
        out.push_back(raw[i]);
        continue;
      }
      if (++i >= raw.size()) return std::nullopt;
      if (raw[i] == 'u') {
        if (i + 4 >= raw.size()) return std::nullopt;
        char32_t c = 0;
        for (int k = 0; k < 4; ++k) {
          const char h = raw[++i];
          const int v = h >= '0' && h <= '9'                     ? h - '0'
                        : (h | 0x20) >= 'a' && (h | 0x20) <= 'f' ? (h | 0x20) - 'a' + 10
                                                                 : -1;
          if (v < 0) return std::nullopt;
          c = c * 16 + static_cast<char32_t>(v);
        }
        append_utf8(out, c);
      } else {
        out.push_back(raw[i] == 'n' ? '\n' : raw[i] == 't' ? '\t' : raw[i]);
      }
    }
    return arena_.emplace_back(std::move(out));
  }

  std::string_view text_;
  std::deque<std::string>& arena_;
  std::size_t at_ = 0;
};

}  // namespace

Result<Lexicon> Lexicon::load(const std::filesystem::path& gold, const std::filesystem::path& silver) {
  Lexicon lexicon;
  lexicon.entries_.reserve(220'000);
  lexicon.rehash(std::size_t{1} << 19U);
  if (auto ok = lexicon.add_file(gold, true); !ok) return tl::unexpected(ok.error());
  if (auto ok = lexicon.add_file(silver, false); !ok) return tl::unexpected(ok.error());
  return lexicon;
}

Result<void> Lexicon::add_file(const std::filesystem::path& file, bool gold) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) {
    return fail(ErrorCode::kNotFound,
                "cannot read '" + file.string() + "'; run './dev setup' or name another --model-dir",
                "load lexicon");
  }
  std::string bytes(static_cast<std::size_t>(in.tellg()), '\0');
  in.seekg(0);
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const std::string_view text = arena_.emplace_back(std::move(bytes));
  Reader r(text, arena_);
  const auto bad = [&] {
    return fail(ErrorCode::kInvalidData,
                "'" + file.string() + "' is not a lexicon (after " + std::to_string(entries_.size()) +
                    " words); run './dev setup' again",
                "load lexicon");
  };
  if (!r.expect('{')) return bad();
  do {
    const auto key = r.string();
    if (!key || !r.expect(':')) return bad();
    const bool variants = r.peek() == '{';
    const auto value = variants ? r.object_text() : r.string();
    if (!value) return bad();
    insert({*key, *value, variants, gold});
  } while (r.expect(','));
  if (!r.expect('}')) return bad();
  return {};
}

void Lexicon::rehash(std::size_t slots) {
  slots_.assign(slots, 0);
  const auto all = std::move(entries_);
  entries_.clear();
  entries_.reserve(all.capacity());
  for (const auto& e : all) insert(e);
}

void Lexicon::insert(const Entry& entry) {
  if ((entries_.size() + 1) * 2 > slots_.size()) rehash(slots_.size() * 2);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = hash_of(entry.key) & mask;; i = (i + 1) & mask) {
    if (slots_[i] == 0) {
      entries_.push_back(entry);
      slots_[i] = static_cast<std::uint32_t>(entries_.size());
      return;
    }
    if (entries_[slots_[i] - 1].key == entry.key) return;  // the first wins: gold before silver
  }
}

const Lexicon::Entry* Lexicon::find_exact(std::string_view word) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = hash_of(word) & mask; slots_[i] != 0; i = (i + 1) & mask) {
    if (entries_[slots_[i] - 1].key == word) return &entries_[slots_[i] - 1];
  }
  return nullptr;
}

const Lexicon::Entry* Lexicon::find(std::string_view word) const {
  const Entry* exact = find_exact(word);
  if ((exact != nullptr && exact->gold) || word.size() < 2) return exact;
  // "The" finds "the"; "london" finds "London". Words with other capitals have only their exact spelling.
  const auto first = static_cast<char32_t>(static_cast<unsigned char>(word[0]));
  if (!is_ascii_letter(first)) return exact;
  for (const char c : word.substr(1)) {
    if (c >= 'A' && c <= 'Z') return exact;
  }
  std::string other(word);
  other[0] = static_cast<char>(other[0] ^ 0x20);
  const Entry* cased = find_exact(other);
  if (exact == nullptr) return cased;
  return cased != nullptr && cased->gold ? cased : exact;
}

std::optional<std::string_view> Lexicon::variant(const Entry& entry, std::string_view tag, bool* has_tag) {
  if (has_tag != nullptr) *has_tag = false;
  if (!entry.variants) return entry.value;
  std::deque<std::string> scratch;
  Reader r(entry.value, scratch);
  r.expect('{');
  do {
    const auto key = r.string();
    if (!key || !r.expect(':')) return std::nullopt;
    const bool text = r.peek() == '"';
    const auto value = text ? r.string() : std::nullopt;
    if (!text) r.null();
    if (*key == tag) {
      if (has_tag != nullptr) *has_tag = true;
      return value;
    }
  } while (r.expect(','));
  return std::nullopt;
}

}  // namespace headroom::text
