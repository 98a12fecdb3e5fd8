// The tts-bench command line: one table from command name to options and code.
#pragma once

namespace headroom::bench {

// Parses, runs the command, returns the exit code. Call block_signals() first.
int run_command_line(int argc, const char* const* argv);

}  // namespace headroom::bench
