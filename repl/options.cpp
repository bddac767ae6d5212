#include "repl/options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace tercet {
namespace {

/// Flags that every command takes, before or after its name. Whatever follows FILE belongs to the program.
void add_common(CLI::App* app, Options* o) {
  app->add_option("--threads", o->threads, "Threads to use (default: all that the process may use)")
      ->check(CLI::Range(1, 4096));
  app->add_option("--simd", o->simd_bits, "Vector width of compiled code in bits")->check(CLI::IsMember({256, 512}));
  app->add_option("--optimize", o->optimize, "When compiled code is optimised: auto (once it has run for a while), always (before it runs), never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app->add_option("--compile-loops", o->compile_loops, "When loops outside of jit are compiled: auto (once they have run for a while), always (before they run), never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app->add_flag("--jit-all", o->jit_all, "Compile every function that can be compiled");
  app->add_option("--devices", o->devices, "Split this machine into N devices")->check(CLI::Range(1, 4096));
  app->add_option("--device-ids", o->device_ids, "Use these devices only, as in 0,1")->delimiter(',');
  app->add_option("--memory", o->memory_bytes, "Bytes that arrays may take together, as in 512M or 2G (default: no bound)")
      ->transform(CLI::AsSizeValue(false))->check(CLI::PositiveNumber);
  app->add_flag("!--no-progress", o->progress, "Show no progress of long loops (it needs a terminal anyway)");
  app->add_option("--device-timeout", o->device_timeout, "Seconds that devices wait for each other (default: 600)")
      ->check(CLI::PositiveNumber);
}

void add_kernel(CLI::App* kernel, Options* o) {
  kernel->add_option("-f,--connection", o->connection_file, "The connection file, which Jupyter names");
  add_common(kernel, o);
  CLI::App* install = kernel->add_subcommand("install", "Write the kernelspec, by which Jupyter finds the kernel");
  CLI::Option* user = install->add_flag("--user")->description("For this user (default)");
  install->add_option("--prefix", o->prefix, "For an installation in this folder, as in /usr/local or a virtual environment")->excludes(user);
  install->callback([o] { o->install = true; });
  kernel->require_subcommand(0, 1);
  kernel->callback([o] {
    if (!o->install && o->connection_file.empty()) throw CLI::RequiredError("--connection FILE");
  });
}

/// Takes FILE and the program's arguments from what CLI11 left over.
void take_file(const CLI::App* app, Options* o) {
  std::vector<std::string> rest = app->remaining();
  if (!rest.empty() && rest.front() == "--") rest.erase(rest.begin());
  if (rest.empty()) throw CLI::RequiredError("FILE");
  if (rest.front().size() > 1 && rest.front()[0] == '-') throw CLI::ExtrasError({rest.front()});
  o->file = rest.front();
  o->arguments.assign(rest.begin() + 1, rest.end());
}

}  // namespace

bool read_options(int argc, char** argv, Options* o, int* status) {
  CLI::App app("Tercet, an array language for text in batches. Without arguments: a prompt.", "tercet");
  app.set_version_flag("--version", "tercet " TERCET_VERSION);
  app.prefix_command();
  app.add_option("-e", o->expressions, "Evaluate an expression or statement and print its value; may be repeated")
      ->allow_extra_args(false);
  add_common(&app, o);

  CLI::App* run = app.add_subcommand("run", "Run a program: tercet run FILE [ARGUMENTS…] (- is standard input)");
  CLI::App* check = app.add_subcommand("check", "Find errors without running: tercet check FILE");
  CLI::App* ir = app.add_subcommand("ir", "Show what a function becomes: tercet ir FILE --fn NAME --args 'f32[n, 128], i32[n]'");
  ir->add_option("--fn", o->function, "The function, or an expression such as 'vmap f'")->required();
  ir->add_option("--args", o->argument_types, "Types of its arguments, separated by commas");
  ir->add_option("--stage", o->stage, "What to show (default: ir)")
      ->check(CLI::IsMember({"ast", "ir", "batched", "optimized", "kernels", "llvm", "asm"}));
  CLI::App* cache = app.add_subcommand("cache", "Compiled code that is kept on disk: tercet cache info, tercet cache clear");
  cache->add_option("ACTION", o->cache_action, "info or clear")->required()->check(CLI::IsMember({"info", "clear"}));
  CLI::App* format = app.add_subcommand("fmt", "Set spaces and indentation: tercet fmt FILE|FOLDER… (- is standard input)");
  format->add_option("PATHS", o->paths, "Programs, and folders of them")->required();
  format->add_flag("--check", o->check, "Change nothing, name the files that would change");
  CLI::App* test = app.add_subcommand("test", "Run what programs say of themselves (#> output, ## >>> examples): tercet test FILE|FOLDER…");
  test->add_option("PATHS", o->paths, "Programs, and folders of them")->required();
  add_common(test, o);
  CLI::App* bench = app.add_subcommand("bench", "Time the functions bench_… of a program: tercet bench FILE");
  std::string bench_file;
  bench->add_option("FILE", bench_file, "The program")->required();
  bench->add_option("--seconds", o->seconds, "How long each is repeated (default: 1)")->check(CLI::Range(0.01, 3600.0));
  bench->add_option("--only", o->filter, "Those whose names contain this");
  add_common(bench, o);
  CLI::App* lsp = app.add_subcommand("lsp", "Serve an editor by the language server protocol on standard input and output");
  bool stdio = true;
  lsp->add_flag("--stdio", stdio, "As editors say it; there is no other way");
  CLI::App* kernel = app.add_subcommand("kernel", "Serve a notebook (Jupyter starts it so); tercet kernel install tells Jupyter of it");
  add_kernel(kernel, o);
  for (CLI::App* command : {run, check}) command->prefix_command();
  std::string ir_file;
  ir->add_option("FILE", ir_file, "The program")->required();
  for (CLI::App* command : {run, check, ir}) add_common(command, o);
  app.require_subcommand(0, 1);

  try {
    app.parse(argc, argv);
    if (*run) o->command = Command::Run, take_file(run, o);
    else if (*check) o->command = Command::Check, take_file(check, o);
    else if (*cache) o->command = Command::Cache;
    else if (*format) o->command = Command::Format;
    else if (*test) o->command = Command::Test;
    else if (*bench) o->command = Command::Bench, o->file = bench_file;
    else if (*lsp) o->command = Command::Lsp;
    else if (*kernel) o->command = Command::Kernel;
    else if (*ir) o->command = Command::Ir, o->file = ir_file;
    else if (!o->expressions.empty()) o->command = Command::Evaluate, o->arguments = app.remaining();
    else if (!app.remaining().empty()) o->command = Command::Run, take_file(&app, o);
    return true;
  } catch (const CLI::ParseError& error) {
    int code = app.exit(error);
    *status = code == 0 ? exit_ok : exit_usage;
    return false;
  }
}

}  // namespace tercet
