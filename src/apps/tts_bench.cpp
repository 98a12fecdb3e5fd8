// tts-bench: measures an endpoint, plans its scaling, applies and checks the plan. Wiring and exit code only.
#include "bench/command.hpp"
#include "bench/interrupt.hpp"

int main(int argc, char** argv) {
  headroom::bench::block_signals();  // before any thread starts
  return headroom::bench::run_command_line(argc, argv);
}
