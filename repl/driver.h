// What the commands of the program do with a session: run sources, show values, report errors on standard error.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "repl/options.h"

namespace tercet {

class Driver {
 public:
  explicit Driver(const Options& options);
  ~Driver();
  Driver(const Driver&) = delete;

  enum class Show : uint8_t { Nothing, Value, TypeAndValue };
  /// Runs a source to its end or its first error, and shows the value of its last statement. Returns the exit status.
  int run(const std::string& text, const std::string& name, Show show);
  /// Whether a prompt should ask for another line before it runs this.
  bool is_incomplete(const std::string& text) const;
  int check(const std::string& text, const std::string& name);
  int show_stage(const std::string& text, const std::string& name);

  // ---- for the prompt ----
  int show_type(const std::string& expression);
  int show_time(const std::string& expression);
  int show_ir(const std::string& expression);
  int show_explain(const std::string& expression);
  int show_help(const std::string& name);
  void reset();
  std::vector<std::string> completions(const std::string& prefix) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tercet
