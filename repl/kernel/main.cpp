// The program `tercet-kernel`: the Jupyter kernel. `tercet kernel` starts it with its own command line.
#include <exception>
#include <iostream>
#include <memory>
#include <mutex>
#include <xeus/xkernel.hpp>
#include <zmq.hpp>

#include "repl/kernel/kernel.h"
#include "repl/kernel/server.h"
#include "repl/kernel/signals.h"
#include "repl/options.h"

namespace {

using namespace tercet;

/// xeus ends the process by exit(), from within start(), so that no scope is left. Without this the last replies might not be sent, and
/// the compiler's thread would run on while the process is taken down.
std::unique_ptr<xeus::xkernel> server;
std::mutex releasing;            // Ctrl-C may come meanwhile

void release_all() {
  std::lock_guard lock(releasing);
  server.reset();
}

int serve(const Options& options) {
  auto history = std::make_unique<History>();
  auto interpreter = std::make_unique<Kernel>(options, *history, release_all);
  Kernel& kernel = *interpreter;
  server = std::make_unique<xeus::xkernel>(xeus::load_configuration(options.connection_file), xeus::get_user_name(),
                                           xeus::make_context<zmq::context_t>(), std::move(interpreter), make_kernel_server,
                                           std::move(history), nullptr, xeus::make_null_debugger, nl::json::object(),
                                           nl::json::error_handler_t::replace);
  static_cast<KernelServer&>(server->get_server()).on_interrupt = [&] { kernel.interrupt(); };
  watch_interrupts([&kernel] {
    std::lock_guard lock(releasing);
    if (server) kernel.interrupt();
  });
  server->start();
  return exit_ok;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  int status = exit_ok;
  if (!read_options(argc, argv, &options, &status)) return status;
  if (options.command != Command::Kernel || options.install) {
    std::cerr << "tercet-kernel is started by `tercet kernel`\n";
    return exit_usage;
  }
  block_interrupts();
  try {
    return serve(options);
  } catch (const std::exception& error) {
    std::cerr << "tercet: cannot serve \"" << options.connection_file << "\": " << error.what() << "\n";
    return exit_failed;
  }
}
