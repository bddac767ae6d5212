#include "repl/prompt.h"

#include <array>
#include <iostream>
#include <string_view>

#include "repl/interrupt.h"
#include "repl/line_editor.h"

namespace tercet {
namespace {

using Action = void (*)(Driver&, const std::string& argument);

struct PromptCommand {
  std::string_view name, argument, help;
  Action action;                // null: leaves the prompt
};

void print_commands(Driver&, const std::string&);

constexpr std::array<PromptCommand, 8> commands{{
    {":help", "[NAME]", "what a name is, or this list", [](Driver& d, const std::string& name) {
       if (name.empty()) print_commands(d, name);
       else d.show_help(name);
     }},
    {":type", "EXPR", "the type of a value", [](Driver& d, const std::string& e) { d.show_type(e); }},
    {":time", "EXPR", "how long it takes to compute", [](Driver& d, const std::string& e) { d.show_time(e); }},
    {":ir", "EXPR", "the operations it becomes", [](Driver& d, const std::string& e) { d.show_ir(e); }},
    {":explain", "F(ARGS…)", "how a call is compiled", [](Driver& d, const std::string& e) { d.show_explain(e); }},
    {":reset", "", "forget all names", [](Driver& d, const std::string&) { d.reset(); }},
    {":quit", "", "leave (so does Ctrl-D)", nullptr},
    {":q", "", "", nullptr},
}};

void print_commands(Driver&, const std::string&) {
  std::cout << "Type an expression or a statement; `ans` is the last value. A line that starts with |> continues it.\n";
  for (const PromptCommand& c : commands) {
    if (c.help.empty()) continue;
    std::string left = std::string(c.name) + " " + std::string(c.argument);
    left.resize(20, ' ');
    std::cout << "  " << left << c.help << "\n";
  }
}

std::string trimmed(std::string_view text) {
  size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t") + 1 - begin));
}

/// Runs a `:command`. Returns false when it asks to leave.
bool run_command(Driver& driver, const std::string& line) {
  size_t space = line.find_first_of(" \t");
  std::string name = line.substr(0, space), argument = space == std::string::npos ? "" : trimmed(line.substr(space));
  for (const PromptCommand& c : commands) {
    if (name != c.name) continue;
    if (!c.action) return false;
    if (!c.argument.empty() && c.argument[0] != '[' && argument.empty())
      std::cerr << "usage: " << c.name << " " << c.argument << "\n";
    else c.action(driver, argument);
    return true;
  }
  std::cerr << "there is no command " << name << "; :help lists them\n";
  return true;
}

std::vector<std::string> complete(const Driver& driver, const std::string& prefix) {
  if (prefix.empty()) return {};
  if (prefix[0] != ':') return driver.completions(prefix);
  std::vector<std::string> found;
  for (const PromptCommand& c : commands)
    if (c.name.starts_with(prefix) && !c.help.empty()) found.emplace_back(c.name);
  return found;
}

}  // namespace

int run_prompt(Driver& driver) {
  LineEditor editor(history_file(), [&](const std::string& prefix) { return complete(driver, prefix); });
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
      if (input.empty() && trimmed(line)[0] == ':') {
        editor.remember(trimmed(line));
        if (!run_command(driver, trimmed(line))) break;
        continue;
      }
      if (input.empty() && trimmed(line).starts_with("|>")) line = "ans " + line;
      input += line + "\n";
      if (driver.is_incomplete(input)) continue;
    }
    input.pop_back();
    editor.remember(input);
    // A session that is piped in fails like a program, but goes on like a prompt.
    int failed = driver.run(input, "input " + std::to_string(++entry), Driver::Show::TypeAndValue);
    if (failed && !editor.is_terminal()) status = failed;
    take_interrupt();
    input.clear();
    if (ended) break;
  }
  if (editor.is_terminal()) std::cout << std::endl;
  return status;
}

}  // namespace tercet
