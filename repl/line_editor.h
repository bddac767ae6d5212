// Lines typed by a person: editing, history and completion through libedit. Without a terminal, plain lines of standard
// input and no prompt.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tercet {

class LineEditor {
 public:
  /// Words that may stand where `prefix` ends; the whole words, not what is missing of them.
  using Completer = std::function<std::vector<std::string>(const std::string& prefix)>;

  /// `history_path` "" keeps no history on disk.
  LineEditor(std::string history_path, Completer completer);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;

  enum class Status : uint8_t { Line, End, Interrupted };
  /// Reads a line without its break into `*line`. Interrupted: Ctrl-C was pressed, the line is to be dropped.
  Status read(const std::string& prompt, std::string* line);
  /// Adds an entry (of one or more lines) to the history.
  void remember(const std::string& entry);
  bool is_terminal() const { return state_ != nullptr; }

  struct State;

 private:
  std::unique_ptr<State> state_;
};

/// Where the history is kept: $XDG_STATE_HOME/tercet/history, ~/.local/state/tercet/history, or "" without a home.
std::string history_file();

}  // namespace tercet
