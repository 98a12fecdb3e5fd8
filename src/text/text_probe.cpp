// text_probe: prints the segments of each line of standard input, so that a person can look at what will be
// spoken. Usage: text_probe MODEL_DIR [LANGUAGE] < lines. A tool of the tests, not installed.
#include <chrono>
#include <iostream>
#include <string>

#include <fmt/format.h>

#include "text/frontend.hpp"

int main(int argc, char** argv) {
  using namespace headroom;
  if (argc < 2) {
    fmt::print(stderr, "usage: text_probe MODEL_DIR [LANGUAGE] < lines\n");
    return 2;
  }
  const auto language = text::parse_language(argc > 2 ? argv[2] : "en-us");
  if (!language) {
    fmt::print(stderr, "{}\n", base::describe(language.error()));
    return 2;
  }
  const auto before = std::chrono::steady_clock::now();
  text::FrontendOptions options;
  options.model_dir = argv[1];
  const auto frontend = text::Frontend::create(options);
  if (!frontend) {
    fmt::print(stderr, "{}\n", base::describe(frontend.error()));
    return 1;
  }
  const auto ms = [](auto from) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - from).count();
  };
  fmt::print(stderr, "loaded in {:.1f} ms; {}\n", ms(before), (*frontend)->status());
  for (std::string line; std::getline(std::cin, line);) {
    const auto start = std::chrono::steady_clock::now();
    std::size_t dropped = 0;
    const auto segments = (*frontend)->segments(line, *language, {}, 1.0, &dropped);
    const double took = ms(start);
    fmt::print("> {}\n", line.substr(0, 300));
    if (!segments) {
      fmt::print("  {}\n", base::describe(segments.error()));
      continue;
    }
    for (const auto& s : *segments) {
      fmt::print("  {:3} tokens, pause {:.2f} s: {}\n      {}\n", s.tokens.size(), s.pause_after_s, s.text,
                 s.phonemes);
    }
    fmt::print("  {} segments in {:.2f} ms, {} symbols dropped\n", segments->size(), took, dropped);
  }
  return 0;
}
