#include "repl/kernel/history.h"

#include <fnmatch.h>

#include <algorithm>
#include <set>

namespace tercet {
namespace {

constexpr int this_session = 1;   // 0 in a request

/// The reply with the entries that belong to it; they are asked from the last to the first.
template <class Belongs> nl::json reply_of(const std::vector<History::Entry>& entries, bool output, Belongs belongs) {
  nl::json list = nl::json::array();
  for (auto e = entries.rbegin(); e != entries.rend(); ++e) {
    if (!belongs(*e)) continue;
    nl::json text = e->input;
    if (output) text = {e->input, e->output.empty() ? nl::json() : nl::json(e->output)};
    list.push_back({this_session, e->number, std::move(text)});
  }
  std::reverse(list.begin(), list.end());
  return {{"status", "ok"}, {"history", std::move(list)}};
}

}  // namespace

void History::add(int number, const std::string& input, const std::string& output) { entries_.push_back({number, input, output}); }

nl::json History::get_tail_impl(int n, bool, bool output) const {
  return reply_of(entries_, output, [&](const Entry&) { return n-- > 0; });
}

nl::json History::get_range_impl(int session, int start, int stop, bool, bool output) const {
  const bool here = session == 0 || session == this_session;
  return reply_of(entries_, output, [&](const Entry& e) { return here && start <= e.number && e.number < stop; });
}

nl::json History::search_impl(const std::string& pattern, bool, bool output, int n, bool unique) const {
  std::set<std::string> seen;
  return reply_of(entries_, output, [&](const Entry& e) {
    return n > 0 && fnmatch(pattern.c_str(), e.input.c_str(), 0) == 0 && (!unique || seen.insert(e.input).second) && n-- > 0;
  });
}

}  // namespace tercet
