// Normalising rules for e-mail addresses, URLs and file names: read as people read them aloud.
#include "text/normalise_rules.hpp"

namespace headroom::text::rules {
namespace {

struct Spoken {
  char symbol;
  std::string_view words;
};
constexpr Spoken kSpoken[] = {
    {'.', "dot"},   {'/', "slash"},   {'-', "dash"}, {'_', "underscore"},    {'@', "at"},
    {'+', "plus"},  {'=', "equals"},  {'&', "and"},  {'?', "question mark"}, {'#', "hash"},
    {':', "colon"}, {'%', "percent"}, {'~', "tilde"}};

// Labels that are spelled, or said otherwise than they are written.
struct Label {
  std::string_view label;
  std::string_view words;
};
constexpr Label kLabels[] = {
    {"www", "W.W.W"},    {"io", "I.O"},      {"ai", "A.I"},    {"uk", "U.K"},       {"tv", "T.V"},
    {"de", "D.E"},       {"edu", "E.D.U"},   {"gov", "guv"},   {"html", "H.T.M.L"}, {"pdf", "P.D.F"},
    {"txt", "T.X.T"},    {"py", "P.Y"},      {"js", "J.S"},    {"ts", "T.S"},       {"csv", "C.S.V"},
    {"png", "P.N.G"},    {"jpg", "J.P.G"},   {"mp", "M.P"},    {"exe", "E.X.E"},    {"yml", "Y.M.L"},
    {"md", "M.D"},       {"sh", "S.H"},      {"cpp", "C.P.P"}, {"hpp", "H.P.P"},    {"xls", "X.L.S"},
    {"xlsx", "X.L.S.X"}, {"css", "C.S.S"},   {"toml", "toml"}, {"cfg", "C.F.G"},    {"log", "log"},
    {"gz", "G.Z"},       {"bz2", "B.Z two"}, {"xz", "X.Z"},    {"tgz", "T.G.Z"},    {"xml", "X.M.L"},
    {"svg", "S.V.G"},    {"sql", "S.Q.L"}};

std::string address_words(std::string_view address) {
  constexpr std::size_t kLongest = 400;  // what lies beyond is not worth hearing
  std::string out;
  std::string label;
  const auto flush = [&] {
    if (label.empty()) return;
    std::string_view words = label;
    for (const auto& l : kLabels) {
      if (l.label == label) words = l.words;
    }
    if (!out.empty()) out.push_back(' ');
    out += words;
    label.clear();
  };
  char last = '\0';
  for (const char c : address.substr(0, kLongest)) {
    if (alnum(c) || static_cast<unsigned char>(c) >= 0x80) {
      label.push_back(c);
    } else {
      flush();
      for (const auto& s : kSpoken) {
        if (s.symbol != c || last == c) continue;
        if (!out.empty()) out.push_back(' ');
        out += s.words;
      }
    }
    last = c;
  }
  flush();
  return out;
}

std::optional<std::string> email(const Match& m) { return address_words(m.g(0)); }

// "user:secret@host/path" is read "user at host slash path": a password is not for every ear.
std::string without_password(std::string_view address) {
  const std::string_view authority = address.substr(0, address.find_first_of("/?#"));
  const auto at = authority.rfind('@');
  const auto colon = authority.find(':');
  if (at == std::string_view::npos || colon == std::string_view::npos || colon > at)
    return std::string(address);
  return std::string(address.substr(0, colon)) + std::string(address.substr(at));
}

std::optional<std::string> url(const Match& m) {
  std::string_view written = m.g(0);
  const auto scheme = written.find("://");
  if (scheme != std::string_view::npos) written.remove_prefix(scheme + 3);
  const std::string spoken = without_password(written);
  std::string_view address = spoken;
  // Punctuation that ends the sentence is not part of the address.
  std::string_view tail = address;
  const auto end = address.find_last_not_of(".,;:!?)('/-");
  if (end == std::string_view::npos) return std::string(" ");
  tail.remove_prefix(end + 1);
  address = address.substr(0, end + 1);
  std::string out = address_words(address);
  for (const char c : tail.substr(0, 8)) {
    if (c != '/' && c != '-' && c != '\'') out.push_back(c);
  }
  return out;
}

std::optional<std::string> file_path(const Match& m) {  // "/etc/app.conf"
  return std::string(m.g(1)) + address_words(m.g(2));
}

std::optional<std::string> file_name(const Match& m) { return address_words(m.g(0)); }

std::optional<std::string> entity(const Match& m) {
  if (m.g(1) == "amp") return std::string("&");
  if (m.g(1) == "lt") return std::string(" < ");
  if (m.g(1) == "gt") return std::string(" > ");
  if (m.g(1) == "apos" || m.g(1) == "#39") return std::string("'");
  return std::string(" ");
}

std::optional<std::string> tag(const Match& m) { return std::string(letter(m.before_char()) ? "" : " "); }

}  // namespace

void add_web(std::vector<Rule>& out) {
  out.push_back({NormaliseKind::kSymbol, R"(</?[A-Za-z][A-Za-z0-9]{0,15}(?: [^<>\n]{0,200})?/?>)", tag});
  out.push_back({NormaliseKind::kSymbol, R"(&(amp|lt|gt|quot|apos|nbsp|#39);)", entity});
  // Before e-mail: "user@host" inside a URL belongs to it.
  out.push_back({NormaliseKind::kUrl, R"((?i)\b(?:https?|ftp|wss?)://[^\s“”<>()\[\]]*)", url});
  out.push_back({NormaliseKind::kEmail,
                 R"(\b[A-Za-z0-9._%+\-]+@[A-Za-z0-9\-]+(?:\.[A-Za-z0-9\-]*[A-Za-z0-9])+)", email});
  out.push_back({NormaliseKind::kUrl, R"((?i)\bwww\.[^\s“”<>()\[\]]+)", url});
  out.push_back(
      {NormaliseKind::kUrl,
       R"(\b(?:[A-Za-z0-9][A-Za-z0-9\-]*\.)+(?:com|org|net|edu|gov|io|ai|dev|app|info|biz|tv|co\.uk)\b(?:/[^\s“”<>()\[\]]*)?)",
       url});
  out.push_back({NormaliseKind::kUrl,
                 R"((^|[ (“])(~?/[A-Za-z0-9_.\-]*[A-Za-z0-9](?:/[A-Za-z0-9_.\-]*[A-Za-z0-9])*))", file_path});
  out.push_back(
      {NormaliseKind::kUrl,
       R"(\b[A-Za-z0-9_\-]+(?:\.[A-Za-z0-9_\-]+)*\.(?:txt|pdf|py|js|ts|cpp|hpp|json|toml|yaml|yml|md|html|css|csv|png|jpg|gif|mp3|mp4|wav|zip|exe|docx?|xlsx?|sh|log|cfg|gz|bz2|xz|tgz|tar|xml|svg|jpeg|sql|TXT|PDF|MD|CSV|PNG|JPG|GIF|MP3|MP4|ZIP|EXE|DOCX?|XLSX?)\b)",
       file_name});
}

}  // namespace headroom::text::rules
