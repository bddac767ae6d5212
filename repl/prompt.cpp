#include "repl/prompt.h"

#include <iostream>

#include "repl/input.h"
#include "repl/interrupt.h"
#include "repl/line_editor.h"

namespace tercet {

int run_prompt(Driver& driver) {
  LineEditor editor(history_file(), [&](const std::string& word) { return completions_of(driver, word); });
  if (editor.is_terminal()) std::cout << "tercet " TERCET_VERSION "   :help for help, :quit to leave" << std::endl;
  std::string input, line;
  int status = exit_ok, entry = 0;
  for (;;) {
    auto got = editor.read(input.empty() ? "> " : ". ", &line);
    if (got == LineEditor::Status::Interrupted) {
      input.clear();
      continue;
    }
    bool ended = got == LineEditor::Status::End;
    if (ended && input.empty()) break;
    if (!ended) {
      if (input.empty() && trimmed(line).empty()) continue;
      if (input.empty() && is_command(trimmed(line))) {
        editor.remember(trimmed(line));
        if (!run_command(driver, trimmed(line))) break;
        std::cout.flush();
        continue;
      }
      if (input.empty()) line = with_last_value(line);
      input += line + "\n";
      if (driver.is_incomplete(input)) continue;
    }
    input.pop_back();
    editor.remember(input);
    // A session that is piped in fails like a program, but goes on like a prompt.
    int failed = driver.run(input, "input " + std::to_string(++entry), Driver::Show::TypeAndValue);
    if (failed && !editor.is_terminal()) status = failed;
    std::cout.flush();
    take_interrupt();
    input.clear();
    if (ended) break;
  }
  if (editor.is_terminal()) std::cout << std::endl;
  return status;
}

}  // namespace tercet
