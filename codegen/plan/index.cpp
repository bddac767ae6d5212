#include "codegen/plan/index.h"

#include <fmt/format.h>

namespace tercet::codegen {
namespace {

using Terms = std::vector<Index::Term>;

Terms merged(const Terms& a, const Terms& b) {
  Terms out;
  auto push = [&](const Index::Term& t) {
    if (!t.coefficient.is(0)) out.push_back(t);
  };
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a[i].of < b[j].of))
      push(a[i++]);
    else if (i == a.size() || b[j].of < a[i].of)
      push(b[j++]);
    else
      push({a[i].of, a[i].coefficient + b[j].coefficient}), ++i, ++j;
  }
  return out;
}

bool equal(const Terms& a, const Terms& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](auto& x, auto& y) { return x.of == y.of && x.coefficient == y.coefficient; });
}

void print(std::string& out, const Terms& terms, const char* prefix) {
  for (auto& [of, coefficient] : terms) {
    out += (out.empty() ? "" : " + ") + fmt::format("{}{}", prefix, of);
    if (!coefficient.is(1)) out += fmt::format("*({})", coefficient.text());
  }
}

}  // namespace

Dim Index::of_loop(int32_t l) const {
  for (const Term& t : loops)
    if (t.of == l) return t.coefficient;
  return 0;
}

Index operator+(const Index& a, const Index& b) {
  return {a.offset + b.offset, merged(a.loops, b.loops), merged(a.nodes, b.nodes)};
}

Index operator*(const Index& a, const Dim& factor) {
  if (factor.is(0)) return {};
  Index out{a.offset * factor, a.loops, a.nodes};
  for (auto* terms : {&out.loops, &out.nodes})
    for (Index::Term& t : *terms) t.coefficient = t.coefficient * factor;
  return out;
}

bool operator==(const Index& a, const Index& b) {
  return a.offset == b.offset && equal(a.loops, b.loops) && equal(a.nodes, b.nodes);
}

std::string to_string(const Index& index) {
  std::string out;
  print(out, index.loops, "i");
  print(out, index.nodes, "%");
  if (out.empty() || !index.offset.is(0)) out += (out.empty() ? "" : " + ") + index.offset.text();
  return out;
}

int leading_loops(const Position& position) {
  int count = 0;
  for (const Index& index : position) {
    if (!(index == Index::loop(count))) break;
    ++count;
  }
  return count;
}

Index linear_address(const Position& position, const std::vector<Dim>& sizes) {
  Index address;
  Dim stride = 1;
  for (size_t k = sizes.size(); k-- > 0; stride = stride * sizes[k]) address = address + position[k] * stride;
  return address;
}

}  // namespace tercet::codegen
