#include "repl/input.h"

#include <array>
#include <cctype>

namespace tercet {
namespace {

using Action = void (*)(Driver&, const std::string& argument);

struct InputCommand {
  std::string_view name, argument, help;
  Action action;                // null: leaves the prompt
};

void print_commands(Driver& driver);

constexpr std::array<InputCommand, 8> commands{{
    {":help", "[NAME]", "what a name is, or this list", [](Driver& d, const std::string& name) {
       if (name.empty()) print_commands(d);
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

void print_commands(Driver& driver) {
  std::string text = "Type an expression or a statement; `ans` is the last value. A line that starts with |> continues it.\n";
  for (const InputCommand& c : commands) {
    if (c.help.empty()) continue;
    std::string left = std::string(c.name) + " " + std::string(c.argument);
    left.resize(20, ' ');
    text += "  " + left + std::string(c.help) + "\n";
  }
  driver.display().print(text);
}

constexpr std::string_view spaces = " \t\r\n";

bool is_name_byte(char c) {
  return static_cast<unsigned char>(c) >= 0x80 || c == '_' || c == '.' || std::isalnum(static_cast<unsigned char>(c));
}

}  // namespace

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(spaces);
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(spaces) + 1 - begin));
}

bool is_command(std::string_view input) { return input.starts_with(':'); }

bool run_command(Driver& driver, const std::string& input) {
  const size_t space = input.find_first_of(spaces);
  const std::string name = input.substr(0, space), argument = space == std::string::npos ? "" : trimmed(input.substr(space));
  for (const InputCommand& c : commands) {
    if (name != c.name) continue;
    if (!c.action) return false;
    if (!c.argument.empty() && c.argument[0] != '[' && argument.empty())
      driver.display().complain("usage: " + std::string(c.name) + " " + std::string(c.argument));
    else c.action(driver, argument);
    return true;
  }
  driver.display().complain("there is no command " + name + "; :help lists them");
  return true;
}

std::string with_last_value(const std::string& input) { return trimmed(input).starts_with("|>") ? "ans " + input : input; }

std::string word_to_complete(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0 && is_name_byte(text[begin - 1])) --begin;
  if (begin > 0 && text[begin - 1] == ':' && trimmed(text.substr(0, begin)) == ":") --begin;
  return std::string(text.substr(begin));
}

std::vector<std::string> completions_of(const Driver& driver, const std::string& word) {
  if (word.empty()) return {};
  if (!is_command(word)) return driver.completions(word);
  std::vector<std::string> found;
  for (const InputCommand& c : commands)
    if (c.name.starts_with(word) && !c.help.empty()) found.emplace_back(c.name);
  return found;
}

}  // namespace tercet
