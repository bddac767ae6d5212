#include "repl/kernel/kernel.h"

#include <algorithm>
#include <cstdlib>
#include <xeus/xhelper.hpp>

#include "repl/input.h"
#include "repl/lsp_text.h"

namespace tercet {
namespace {

/// Notebooks count code points; the byte where the `count`th begins. Negative is the end.
size_t offset_of(std::string_view text, int count) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
    if (begins && count-- == 0) break;
  }
  return at;
}

int code_points(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

nl::json as_data(std::string_view text) { return {{"text/plain", text}}; }

Options without_bar(Options options) {
  options.progress = false;     // a terminal behind the notebook is not the cell's
  return options;
}

}  // namespace

Kernel::Kernel(const Options& options, History& history, void (*at_exit)())
    : history_(history),
      cell_([this](const std::string& text) { publish_stream("stdout", text); }),
      driver_(without_bar(options), cell_),
      at_exit_(at_exit) {}

void Kernel::interrupt() { driver_.interrupt(); }

bool Kernel::run(const std::string& code, const std::string& name) {
  const std::string input = trimmed(code);
  if (input.empty()) return true;
  if (is_command(input)) return run_command(driver_, input);
  driver_.run(with_last_value(code), name, Driver::Show::TypeAndValue);
  return true;
}

nl::json Kernel::execute_request_impl(int number, const std::string& code, bool silent, bool store_history,
                                     json user_expressions, bool) {
  if (stopping_) return {{"status", "aborted"}};
  cell_.begin(silent);
  bool stays = true;
  try {
    stays = run(code, "cell " + std::to_string(number));
  } catch (const Error& error) {      // an answer is due whatever happens
    cell_.error(error);
  } catch (const std::bad_alloc&) {
    cell_.error(Error(TCT_ERR_MEMORY, nullptr));
  }
  cell_.end();
  if (store_history) history_.add(number, code, cell_.value().value_or(""));
  if (cell_.error()) return reply_of_error(silent);
  if (cell_.value() && !silent) publish_execution_result(number, as_data(*cell_.value()), json::object());
  json payload = json::array();
  if (!stays) payload.push_back({{"source", "ask_exit"}, {"keepkernel", false}});
  return xeus::create_successful_reply(payload, values_of(user_expressions));
}

nl::json Kernel::reply_of_error(bool silent) {
  const CellError& error = *cell_.error();
  if (!silent) publish_execution_error(error.name, error.message, error.lines);
  // By hand: the helper of xeus 2.4 takes the message for the name.
  return {{"status", "error"}, {"ename", error.name}, {"evalue", error.message}, {"traceback", error.lines}};
}

nl::json Kernel::values_of(const json& expressions) {
  json values = json::object();
  for (const auto& [name, expression] : expressions.items()) {
    cell_.begin(true);
    driver_.run(expression.get<std::string>(), name, Driver::Show::Value);
    if (cell_.error()) values[name] = reply_of_error(true);
    else values[name] = {{"status", "ok"}, {"data", as_data(cell_.value().value_or(""))}, {"metadata", json::object()}};
  }
  return values;
}

nl::json Kernel::complete_request_impl(const std::string& code, int cursor) {
  const std::string before = code.substr(0, offset_of(code, cursor)), word = word_to_complete(before);
  const int end = code_points(before);
  return xeus::create_complete_reply(completions_of(driver_, word), end - code_points(word), end);
}

nl::json Kernel::inspect_request_impl(const std::string& code, int cursor, int) {
  const LspText text(code);
  const size_t at = offset_of(code, cursor);
  std::string name = text.word_at(at).name;
  if (name.empty() && at > 0 && code[at - 1] == '(') name = text.word_at(at - 1).name;   // behind "sum(": its arguments are asked for
  const std::optional<std::string> help = name.empty() ? std::nullopt : driver_.help(name);
  return xeus::create_inspect_reply(help.has_value(), help ? as_data(*help) : json::object());
}

nl::json Kernel::is_complete_request_impl(const std::string& code) {
  if (is_command(trimmed(code))) return xeus::create_is_complete_reply("complete");
  if (driver_.is_incomplete(code)) return xeus::create_is_complete_reply("incomplete", "  ");
  return xeus::create_is_complete_reply(driver_.is_wrong_syntax(with_last_value(code)) ? "invalid" : "complete");
}

nl::json Kernel::kernel_info_request_impl() {
  // No highlighter knows the language; "text" is the one that marks nothing as wrong.
  return xeus::create_info_reply("", "tercet", TERCET_VERSION, "tercet", TERCET_VERSION, "text/x-tercet", ".tct", "text", "text", "script",
                                 "tercet " TERCET_VERSION "   :help for help");
}

void Kernel::shutdown_request_impl() {
  stopping_ = true;
  interrupt();
  std::atexit(at_exit_);        // what is registered last runs first: while all that it needs is still there
}

}  // namespace tercet
