#include "repl/line_editor.h"

#include <histedit.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "repl/input.h"
#include "repl/interrupt.h"

namespace tercet {

struct LineEditor::State {
  EditLine* edit = nullptr;
  History* history = nullptr;
  HistEvent event{};
  std::string history_path, prompt;
  Completer completer;
};

namespace {

constexpr int history_size = 10'000;

LineEditor::State* state_of(EditLine* edit) {
  LineEditor::State* state = nullptr;
  el_get(edit, EL_CLIENTDATA, &state);
  return state;
}

char* prompt_of(EditLine* edit) { return state_of(edit)->prompt.data(); }

/// What all candidates have in common beyond the first `size` bytes.
std::string common_rest(const std::vector<std::string>& words, size_t size) {
  std::string rest = words.front().substr(size);
  for (const std::string& word : words) {
    size_t same = 0;
    while (same < rest.size() && size + same < word.size() && word[size + same] == rest[same]) ++same;
    rest.resize(same);
  }
  return rest;
}

/// The tab key: inserts what is certain, else lists the candidates under the line.
unsigned char complete(EditLine* edit, int) {
  const LineInfo* line = el_line(edit);
  const std::string prefix = word_to_complete({line->buffer, static_cast<size_t>(line->cursor - line->buffer)});
  std::vector<std::string> words = state_of(edit)->completer(prefix);
  if (words.empty()) return prefix.empty() && el_insertstr(edit, "  ") == 0 ? CC_REFRESH : CC_ERROR;
  std::string rest = common_rest(words, prefix.size());
  if (words.size() == 1) rest += ' ';
  if (!rest.empty()) return el_insertstr(edit, rest.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
  std::cout << '\n';
  for (const std::string& word : words) std::cout << word << "  ";
  std::cout << std::endl;
  return CC_REDISPLAY;
}

}  // namespace

LineEditor::LineEditor(std::string history_path, Completer completer) {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) return;
  std::setlocale(LC_CTYPE, "");   // so that libedit knows UTF-8; numbers keep the C locale
  state_ = std::make_unique<State>();
  state_->history_path = std::move(history_path);
  state_->completer = std::move(completer);
  state_->edit = el_init("tercet", stdin, stdout, stderr);
  state_->history = history_init();
  EditLine* edit = state_->edit;
  el_set(edit, EL_CLIENTDATA, state_.get());
  el_set(edit, EL_PROMPT, prompt_of);
  el_set(edit, EL_EDITOR, "emacs");
  el_set(edit, EL_HIST, history, state_->history);
  el_set(edit, EL_ADDFN, "tercet-complete", "Complete a name", complete);
  el_set(edit, EL_BIND, "\t", "tercet-complete", nullptr);
  el_set(edit, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_source(edit, nullptr);       // ~/.editrc
  history(state_->history, &state_->event, H_SETSIZE, history_size);
  history(state_->history, &state_->event, H_SETUNIQUE, 1);
  if (!state_->history_path.empty()) history(state_->history, &state_->event, H_LOAD, state_->history_path.c_str());
}

LineEditor::~LineEditor() {
  if (!state_) return;
  history_end(state_->history);
  el_end(state_->edit);
}

LineEditor::Status LineEditor::read(const std::string& prompt, std::string* line) {
  if (!state_) return std::getline(std::cin, *line) ? Status::Line : Status::End;
  state_->prompt = prompt;
  int count = 0;
  errno = 0;
  const char* text = el_gets(state_->edit, &count);
  if (!text || count <= 0) {
    bool interrupted = take_interrupt() || errno == EINTR;
    if (!interrupted) return Status::End;
    el_reset(state_->edit);
    std::cout << std::endl;
    return Status::Interrupted;
  }
  *line = std::string(text, static_cast<size_t>(count));
  while (!line->empty() && (line->back() == '\n' || line->back() == '\r')) line->pop_back();
  return Status::Line;
}

void LineEditor::remember(const std::string& entry) {
  if (!state_ || entry.find_first_not_of(" \t\n") == std::string::npos) return;
  history(state_->history, &state_->event, H_ENTER, entry.c_str());
  if (state_->history_path.empty()) return;
  std::error_code ignored;        // a history that cannot be written is no reason to stop
  std::filesystem::create_directories(std::filesystem::path(state_->history_path).parent_path(), ignored);
  history(state_->history, &state_->event, H_SAVE, state_->history_path.c_str());
}

std::string history_file() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state && *state) return std::string(state) + "/tercet/history";
  if (const char* home = std::getenv("HOME"); home && *home) return std::string(home) + "/.local/state/tercet/history";
  return "";
}

}  // namespace tercet
