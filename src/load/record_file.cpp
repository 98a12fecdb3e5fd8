// Compressed JSON lines through zlib.
#include "load/record_file.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <optional>
#include <system_error>

#include <nlohmann/json.hpp>
#include <zlib.h>

#include "base/names.hpp"

namespace headroom::load {
namespace {

using base::ErrorCode;
using base::fail;
using nlohmann::json;

constexpr std::size_t kLongestLine = 64 * 1024 * 1024;

// Columns of the CSV, in order; all are members of a line.
constexpr std::array kColumns{"index",         "planned_s",        "start_s",   "connected_ms",
                              "first_byte_ms", "first_audible_ms", "end_s",     "cap_wait_ms",
                              "bytes",         "audio_s",          "underruns", "underrun_s",
                              "outcome",       "status",           "error",     "request_id"};

std::string number(double value, int digits = 6) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string since(const std::optional<base::SteadyTime>& at, base::SteadyTime start) {
  return at ? number(base::to_ms(*at - start), 4) : "null";
}

std::string quoted(const std::string& text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

class GzipFile final : public RecordFile {
 public:
  GzipFile(std::string path, gzFile file, base::SteadyTime zero)
      : path_(std::move(path)), file_(file), zero_(zero) {}
  ~GzipFile() override {
    if (file_ != nullptr) gzclose(file_);
  }
  void line(const std::string& text) {
    if (file_ == nullptr || broken_) return;
    broken_ =
        gzwrite(file_, text.data(), static_cast<unsigned>(text.size())) != static_cast<int>(text.size()) ||
        gzputc(file_, '\n') < 0;
  }
  void add(const Record& record) override { line(record_line(record, zero_)); }
  base::Result<void> close() override {
    if (file_ == nullptr) return {};
    const bool closed = gzclose(file_) == Z_OK;
    file_ = nullptr;
    const std::string partial = path_ + ".partial";
    if (broken_ || !closed)  // the final name is for whole files only
      return fail(ErrorCode::kIo, "the requests could not all be written; what there is lies in '" + partial +
                                      "'; is the disk full?");
    if (std::rename(partial.c_str(), path_.c_str()) != 0)
      return fail(ErrorCode::kIo, "the requests lie whole in '" + partial + "', which could not be renamed",
                  std::generic_category().message(errno));
    return {};
  }

 private:
  const std::string path_;
  gzFile file_;
  const base::SteadyTime zero_;
  bool broken_ = false;
};

std::string csv_cell(const json& value) {
  if (value.is_null()) return "";
  if (!value.is_string()) return value.dump();
  std::string out = "\"";
  for (const char c : value.get_ref<const std::string&>()) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

struct GzipReader {
  explicit GzipReader(const std::string& path) : file(gzopen(path.c_str(), "rb")) {}
  ~GzipReader() {
    if (file != nullptr) gzclose(file);
  }
  // nullopt: the end; `cut` if the file does not end behind a line, as a whole one does.
  std::optional<std::string> line() {
    std::string out;
    std::array<char, 8192> piece{};
    while (gzgets(file, piece.data(), static_cast<int>(piece.size())) != nullptr) {
      out += piece.data();
      if (out.back() == '\n') {
        out.pop_back();
        return out;
      }
      if (out.size() > kLongestLine) break;
    }
    int state = Z_OK;
    gzerror(file, &state);  // a truncated file reads as Z_BUF_ERROR
    cut = !out.empty() || (state != Z_OK && state != Z_STREAM_END);
    return std::nullopt;
  }
  gzFile file;
  bool cut = false;
};

}  // namespace

std::string record_line(const Record& r, base::SteadyTime zero) {
  std::string out = "{\"index\":" + std::to_string(r.index);
  const auto add = [&out](const char* name, const std::string& value) {
    out += ",\"";
    out += name;
    out += "\":";
    out += value;
  };
  add("planned_s", number(base::to_s(r.planned - zero)));
  add("start_s", number(base::to_s(r.start - zero)));
  add("connected_ms", since(r.connected, r.start));
  add("first_byte_ms", since(r.first_byte, r.start));
  add("first_audible_ms", since(r.first_audible, r.start));
  add("end_s", number(base::to_s(r.end - zero)));
  add("cap_wait_ms", number(base::to_ms(r.cap_wait), 4));
  add("bytes", std::to_string(r.bytes));
  add("audio_s", number(r.audio_s));
  add("underruns", std::to_string(r.underruns));
  add("underrun_s", number(r.underrun_s));
  add("outcome", quoted(std::string(aws::name_of(r.outcome))));
  add("status", std::to_string(r.status));
  add("error", quoted(r.error));
  add("request_id", quoted(r.server_request_id));
  out += ",\"chunks\":[";
  for (std::size_t i = 0; i < r.chunks.size(); ++i) {
    if (i != 0) out += ',';
    out +=
        '[' + number(base::to_ms(r.chunks[i].after_start), 3) + ',' + std::to_string(r.chunks[i].bytes) + ']';
  }
  return out + "]}";
}

base::Result<std::unique_ptr<RecordFile>> RecordFile::create(const std::string& path,
                                                             const base::Clock& clock,
                                                             const std::string& about) {
  const gzFile file = gzopen((path + ".partial").c_str(), "wb4");
  if (file == nullptr) return fail(ErrorCode::kIo, "cannot write '" + path + ".partial'; check the folder");
  auto made = std::make_unique<GzipFile>(path, file, clock.steady());
  made->line("{\"schema\":\"headroom/requests\",\"version\":1,\"created\":\"" +
             base::format_iso8601(clock.wall()) + "\"" + (about.empty() ? "" : "," + about) + "}");
  return made;
}

base::Result<void> export_csv(const std::string& path, const std::function<void(const std::string&)>& out) {
  GzipReader reader(path);
  if (reader.file == nullptr) return fail(ErrorCode::kIo, "cannot read '" + path + "'; check the path");
  const auto bad = [&](std::size_t number, const std::string& why) {
    return fail(ErrorCode::kInvalidData, path + ":" + std::to_string(number) + ": " + why);
  };
  const auto head = reader.line();
  const json about = json::parse(head.value_or(""), nullptr, false);
  // Compared as JSON: a value of another type is different, not an exception.
  if (!about.is_object() || about.value("schema", json()) != json("headroom/requests") ||
      about.value("version", json()) != json(1))
    return bad(1, "this is no file of requests (schema headroom/requests, version 1)");
  std::string line;
  for (const char* column : kColumns) line += (line.empty() ? "" : ",") + std::string(column);
  out(line + ",chunks");
  for (std::size_t number = 2;; ++number) {
    const auto text = reader.line();
    if (!text) {
      if (reader.cut) return bad(number, "the file is cut short");
      break;
    }
    const json one = json::parse(*text, nullptr, false);
    if (!one.is_object()) return bad(number, "this line is no JSON object");
    line.clear();
    for (const char* column : kColumns) {
      if (column != kColumns.front()) line += ',';
      line += csv_cell(one.value(column, json()));
    }
    out(line + "," + std::to_string(one.value("chunks", json::array()).size()));
  }
  return {};
}

}  // namespace headroom::load
