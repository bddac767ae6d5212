#include "repl/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace tercet {
namespace {

constexpr double seconds_before_it_shows = 2.0, seconds_between = 0.1;

int terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(STDERR_FILENO, text.data(), text.size());
    if (put <= 0) return;      // a bar that cannot be shown is no error
    text.remove_prefix(static_cast<size_t>(put));
  }
}

/// The share of a loop that is done, with what its step has done so far; -1: nobody knows.
double share_done(const tct_progress& loop, double step) {
  if (loop.share >= 0) return std::min(loop.share, 1.0);
  if (loop.total < 0) return -1;
  if (loop.total == 0) return 1;
  return std::min((static_cast<double>(loop.done) + std::max(step, 0.0)) / static_cast<double>(loop.total), 1.0);
}

std::string grouped(int64_t n) {
  std::string out = std::to_string(n);
  for (auto at = static_cast<int64_t>(out.size()) - 3; at > 0; at -= 3) out.insert(static_cast<size_t>(at), ",");
  return out;
}
std::string steps_text(const tct_progress& loop) {
  return loop.total < 0 ? fmt::format("step {}", grouped(loop.done)) : fmt::format("{} of {}", grouped(loop.done), grouped(loop.total));
}

std::string clock_text(double seconds) {
  const auto s = static_cast<int64_t>(seconds);
  return s < 3600 ? fmt::format("{}:{:02}", s / 60, s % 60) : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

/// `columns` wide, in eighths.
std::string bar(double share, int columns) {
  static constexpr std::string_view part[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<int>(share * columns * 8);
  std::string out;
  for (int i = 0; i < eighths / 8; ++i) out += "█";
  out += part[eighths % 8];
  out.append(static_cast<size_t>(columns - eighths / 8 - (eighths % 8 != 0)), ' ');
  return out;
}

}  // namespace

std::string progress_line(const tct_progress& outer, const tct_progress* inner, double seconds, int width) {
  const double share = share_done(outer, inner ? share_done(*inner, 0) : 0);
  std::string text = steps_text(outer);
  if (inner) text += ", " + steps_text(*inner);
  text += " · " + clock_text(seconds) + " gone";
  const auto columns = [](const std::string& s) { return static_cast<int>(std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xC0) != 0x80; })); };
  if (share < 0) return columns(text) < width ? text : "";
  if (share > 0) text += ", " + clock_text(seconds / share - seconds) + " left";
  const std::string percent = fmt::format("{:3.0f}% ", share * 100);
  const int room = std::min(30, width - columns(text) - static_cast<int>(percent.size()) - 3);
  if (room >= 5) return percent + bar(share, room) + "  " + text;
  return columns(percent + text) < width ? percent + text : static_cast<int>(percent.size()) < width ? percent : "";
}

bool ProgressBar::is_possible() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) && terminal && *terminal && std::string_view(terminal) != "dumb";
}

void ProgressBar::advanced(const tct_progress& outer, const tct_progress* inner) {
  const auto now = Clock::now();
  if (!running_) {      // the first step counts from its end: of loops that are over soon nobody needs to know
    running_ = true;
    begun_ = drawn_ = now;
  }
  auto since = [&](Clock::time_point then) { return std::chrono::duration<double>(now - then).count(); };
  if (since(begun_) < seconds_before_it_shows || since(drawn_) < seconds_between) return;
  drawn_ = now;
  std::cout.flush();    // what was printed stands above
  write_all("\r\x1b[K" + progress_line(outer, inner, since(begun_), terminal_width()));
  shown_ = true;
}

void ProgressBar::ended() {
  clear();
  running_ = false;
}

void ProgressBar::clear() {
  if (shown_) write_all("\r\x1b[K");
  shown_ = false;
}

}  // namespace tercet
