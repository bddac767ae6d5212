// A bar on standard error for loops that take longer than two seconds, when that is a terminal:
//   42% ███████████▍               1,260 of 3,000 · 0:08 gone, 0:11 left
// It is drawn at most ten times a second, taken away when the loop ends and before anything is printed, and never written
// anywhere else.
#pragma once
#include <chrono>
#include <string>
#include <tercet/tercet.hpp>


namespace tercet {

class ProgressBar {
 public:
  /// Is standard error a terminal that a line can be taken back on?
  static bool is_possible();
  void advanced(const tct_progress& outer, const tct_progress* inner);
  void ended();
  /// Takes it away; to be called before other output.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool running_ = false, shown_ = false;
  Clock::time_point begun_, drawn_;
};

/// The line for loops that have run for `seconds`, at most `width` columns wide.
std::string progress_line(const tct_progress& outer, const tct_progress* inner, double seconds, int width);

}  // namespace tercet
