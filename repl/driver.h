// What the commands of the program do with a session: run sources, show values, report errors. A Display gets all of it.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "repl/display.h"
#include "repl/options.h"

namespace tercet {

class Driver {
 public:
  /// `display` must live as long.
  Driver(const Options& options, Display& display);
  ~Driver();
  Driver(const Driver&) = delete;

  enum class Show : uint8_t { Nothing, Value, TypeAndValue };
  /// Runs a source to its end or its first error, and shows the value of its last statement. Returns the exit status.
  int run(const std::string& text, const std::string& name, Show show);
  /// Whether a prompt should ask for another line before it runs this.
  bool is_incomplete(const std::string& text) const;
  bool is_wrong_syntax(const std::string& text) const;
  int check(const std::string& text, const std::string& name);
  int show_stage(const std::string& text, const std::string& name);

  // ---- for the prompt ----
  int show_type(const std::string& expression);
  int show_time(const std::string& expression);
  int show_ir(const std::string& expression);
  int show_explain(const std::string& expression);
  int show_help(const std::string& name);
  /// What a name is; nullopt when it is nothing.
  std::optional<std::string> help(const std::string& name) const;
  void reset();
  std::vector<std::string> completions(const std::string& prefix) const;

  Display& display() const;
  /// Stops what runs, if anything does. From any thread, and from signal handlers.
  void interrupt();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tercet
