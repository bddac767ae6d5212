// The program `tercet`: command line and prompt.
#include <cstring>
#include <iostream>

#include "repl/bench_command.h"
#include "repl/cache.h"
#include "repl/display.h"
#include "repl/driver.h"
#include "repl/format_command.h"
#include "repl/interrupt.h"
#include "repl/kernel_command.h"
#include "repl/lsp_command.h"
#include "repl/options.h"
#include "repl/program_files.h"
#include "repl/prompt.h"
#include "repl/test_command.h"

namespace {

using namespace tercet;

int run_file(Driver& driver, const Options& options) {
  std::string text, name = options.file == "-" ? "<stdin>" : options.file;
  if (!read_file(options.file, &text)) {
    std::cerr << "tercet: cannot read \"" << options.file << "\": " << std::strerror(errno) << "\n";
    return exit_usage;
  }
  if (options.command == Command::Check) return driver.check(text, name);
  if (options.command == Command::Ir) return driver.show_stage(text, name);
  return driver.run(text, name, Driver::Show::Nothing);
}

int evaluate(Driver& driver, const Options& options) {
  for (const std::string& expression : options.expressions)
    if (int status = driver.run(expression, "-e", Driver::Show::Value)) return status;
  return exit_ok;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  int status = exit_ok;
  if (!read_options(argc, argv, &options, &status)) return status;
  if (options.command == Command::Cache) return run_cache_command(options.cache_action);
  if (options.command == Command::Format) return run_format_command(options);
  if (options.command == Command::Test) return run_test_command(options);
  if (options.command == Command::Bench) return run_bench_command(options);
  if (options.command == Command::Lsp) return run_lsp_command(std::cin, std::cout);
  if (options.command == Command::Kernel) return run_kernel_command(options, argv);
  TerminalDisplay terminal;
  Driver driver(options, terminal);
  on_interrupt([](void* d) { static_cast<Driver*>(d)->interrupt(); }, &driver);
  switch (options.command) {
    case Command::Prompt: status = run_prompt(driver); break;
    case Command::Evaluate: status = evaluate(driver, options); break;
    default: status = run_file(driver, options);
  }
  std::cout.flush();
  return status;
}
