// The cells of this kernel, for notebooks that ask for earlier ones. Kept in memory; the first is number 1.
// (xeus has such a thing, but its answers have another form than the protocol's, and it cannot search.)
#pragma once
#include <string>
#include <vector>
#include <xeus/xhistory_manager.hpp>

namespace tercet {

class History final : public xeus::xhistory_manager {
 public:
  struct Entry { int number; std::string input, output; };
  /// A cell that has run, with its value as shown; "" when it has none.
  void add(int number, const std::string& input, const std::string& output);

 private:
  using json = nl::json;
  void configure_impl() override {}
  void store_inputs_impl(int, int, const std::string&, const std::string&) override {}   // does not know the numbers: add() does
  json get_tail_impl(int n, bool raw, bool output) const override;
  json get_range_impl(int session, int start, int stop, bool raw, bool output) const override;
  /// The last n whose whole text matches a pattern of the shell's kind (`*`, `?`, `[a-z]`).
  json search_impl(const std::string& pattern, bool raw, bool output, int n, bool unique) const override;

  std::vector<Entry> entries_;
};

}  // namespace tercet
