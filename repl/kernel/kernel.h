// What the Jupyter kernel does: each cell as an input of the prompt (repl/prompt.h), in one session.
//
// The protocol is xeus's: https://jupyter-client.readthedocs.io/en/stable/messaging.html. All requests come on one thread but
// interrupts and shutdowns, which come while a cell runs.
#pragma once
#include <atomic>
#include <xeus/xinterpreter.hpp>

#include "repl/driver.h"
#include "repl/kernel/cell.h"
#include "repl/kernel/history.h"

namespace tercet {

class Kernel final : public xeus::xinterpreter {
 public:
  /// `history` must live as long. `at_exit` is registered for the end of the process when a shutdown is asked for.
  Kernel(const Options& options, History& history, void (*at_exit)());

  /// Stops the cell that runs, if one does. From any thread.
  void interrupt();

 private:
  using json = nl::json;
  void configure_impl() override {}
  json execute_request_impl(int number, const std::string& code, bool silent, bool store_history, json user_expressions,
                            bool allow_stdin) override;
  json complete_request_impl(const std::string& code, int cursor) override;
  json inspect_request_impl(const std::string& code, int cursor, int detail_level) override;
  json is_complete_request_impl(const std::string& code) override;
  json kernel_info_request_impl() override;
  void shutdown_request_impl() override;

  bool run(const std::string& code, const std::string& name);   // false: asks to leave
  json reply_of_error(bool silent);
  json values_of(const json& expressions);

  History& history_;
  CellDisplay cell_;
  Driver driver_;
  void (*at_exit_)();
  std::atomic<bool> stopping_ = false;
};

}  // namespace tercet
