// The command line, read.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tercet/tercet.h"

namespace tercet {

enum class Command : uint8_t { Prompt, Run, Evaluate, Check, Ir, Cache, Format, Test, Bench, Lsp, Kernel };

struct Options {
  Command command = Command::Prompt;
  std::string file;                       // Run, Check, Ir, Bench; "-" is standard input
  std::vector<std::string> arguments;     // of the program
  std::vector<std::string> expressions;   // -e, in order
  // ir
  std::string function, argument_types, stage = "ir";
  std::vector<std::string> paths;         // Format, Test: files and folders
  bool check = false;                     // Format: name files that would change
  double seconds = 1;                     // Bench: for each function
  std::string filter;                     // Bench: part of the names to run
  std::string cache_action;               // Cache: "info" or "clear"
  // Kernel
  std::string connection_file;            // of the notebook that starts it
  bool install = false;                   // tell Jupyter of the kernel instead
  std::string prefix;                     // where; "": for this user
  // for all
  int threads = 0;                        // 0: as many as the process may use
  int simd_bits = 0;                      // 0: the widest of this machine
  std::string optimize = "auto";          // auto, always, never
  int optimize_when() const { return optimize == "always" ? TCT_OPTIMIZE_ALWAYS : optimize == "never" ? TCT_OPTIMIZE_NEVER : TCT_OPTIMIZE_AUTO; }
  std::string compile_loops = "auto";     // auto, always, never
  int compile_loops_when() const {
    return compile_loops == "always" ? TCT_COMPILE_LOOPS_ALWAYS : compile_loops == "never" ? TCT_COMPILE_LOOPS_NEVER : TCT_COMPILE_LOOPS_AUTO;
  }
  bool jit_all = false;                   // compile every function that can be
  int devices = 0;                        // 0: as many as a pmap asks for
  std::vector<int> device_ids;
  int64_t memory_bytes = 0;               // of arrays, at most; 0: no bound
  bool progress = true;                   // a bar for long loops, where standard error is a terminal
  double device_timeout = 600;            // seconds that devices wait for each other
};

inline constexpr int exit_ok = 0, exit_failed = 1, exit_usage = 2, exit_interrupted = 130;

/// Reads the command line. When there is nothing to run (--help, --version, a mistake), prints what is due and returns
/// false with the exit status in `*status`.
bool read_options(int argc, char** argv, Options* options, int* status);

}  // namespace tercet
