// Levenshtein's distance by dynamic programming over two texts, one row of the table at a time (Wagner and Fischer, 1974).
#include <numeric>

#include "interpreter/runtime/polling.h"
#include "interpreter/runtime/text.h"
#include "interpreter/runtime/text_rows.h"
#include "interpreter/runtime/unicode.h"

namespace tercet {
namespace {

using CodePoints = std::vector<uint32_t>;

/// Memory that is used again from pair to pair.
struct Tables {
  CodePoints a, b;
  std::vector<int32_t> row;
};

void read(std::string_view text, CodePoints& out, PollCounter& polls) {
  out.clear();
  polls.add(static_cast<int64_t>(text.size()));
  for (size_t at = 0; at < text.size();) out.push_back(next_code_point(text, &at));
}

int32_t distance(std::string_view x, std::string_view y, Tables& s, PollCounter& polls) {
  read(x, s.a, polls);
  read(y, s.b, polls);
  std::span<const uint32_t> a = s.a, b = s.b;
  if (a.size() < b.size()) std::swap(a, b);   // the row is along the shorter one
  while (!b.empty() && a.back() == b.back()) a = a.first(a.size() - 1), b = b.first(b.size() - 1);
  while (!b.empty() && a.front() == b.front()) a = a.subspan(1), b = b.subspan(1);
  s.row.resize(b.size() + 1);
  std::iota(s.row.begin(), s.row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    polls.add(static_cast<int64_t>(b.size()));
    int32_t diagonal = s.row[0], left = ++s.row[0];
    for (size_t j = 0; j < b.size(); ++j) {
      const int32_t above = s.row[j + 1];
      left = std::min({above + 1, left + 1, diagonal + (a[i] != b[j])});
      diagonal = above;
      s.row[j + 1] = left;
    }
  }
  return s.row[b.size()];
}

}  // namespace

Array edit_distances(const Array& a, const Array& b) {
  TERCET_CHECK(total_elements(a) == total_elements(b));
  Array out = like_texts(a, DType::I32);
  const StringRef *x = a.data<StringRef>(), *y = b.data<StringRef>();
  auto* to = out.data<int32_t>();
  parallel_chunks(total_elements(a), 16, [&](int64_t, int64_t begin, int64_t end) {
    Tables tables;
    PollCounter polls;
    for (int64_t i = begin; i < end; ++i) polls.add(8), to[i] = distance(x[i].view(), y[i].view(), tables, polls);
  });
  return out;
}

}  // namespace tercet
