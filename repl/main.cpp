// The program `tercet`: command line and prompt.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <iostream>

#include "repl/cache.h"
#include "repl/driver.h"
#include "repl/options.h"
#include "repl/prompt.h"

namespace {

using namespace tercet;

/// The text of the program's file, or of standard input for "-"; false when it cannot be read.
bool read_source(const std::string& path, std::string* text) {
  int file = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char block[1 << 16];
  ssize_t got = 0;
  while ((got = read(file, block, sizeof block)) > 0) text->append(block, static_cast<size_t>(got));
  if (file != STDIN_FILENO) close(file);
  return got == 0;
}

int run_file(Driver& driver, const Options& options) {
  std::string text, name = options.file == "-" ? "<stdin>" : options.file;
  if (!read_source(options.file, &text)) {
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
  Driver driver(options);
  switch (options.command) {
    case Command::Prompt: status = run_prompt(driver); break;
    case Command::Evaluate: status = evaluate(driver, options); break;
    default: status = run_file(driver, options);
  }
  std::cout.flush();
  return status;
}
