#include "codegen/plan/schedule.h"

#include <algorithm>

namespace tercet::codegen {
namespace {

template <class F>
void for_each_index(Kernel& k, F&& f) {
  for (Node& n : k.nodes) f(n.address);
  for (Store& s : k.stores) f(s.address);
  for (Reduction& r : k.reductions) f(r.address);
  if (k.scatter) f(k.scatter->address);
}

/// Renumbers loops; terms of loops mapped to -1 vanish (their counter is always 0).
void renumber(Kernel& k, const std::vector<int32_t>& to) {
  for_each_index(k, [&](Index& index) {
    std::vector<Index::Term> terms;
    for (Index::Term& t : index.loops)
      if (to[static_cast<size_t>(t.of)] >= 0)
        terms.push_back({to[static_cast<size_t>(t.of)], std::move(t.coefficient)});
    std::sort(terms.begin(), terms.end(), [](auto& a, auto& b) { return a.of < b.of; });
    index.loops = std::move(terms);
  });
}

template <class F>
void for_each_rows(Kernel& k, F&& f) {
  for (Node& n : k.nodes) f(n.rows);
  for (Store& s : k.stores) f(s.rows);
  for (Reduction& r : k.reductions) f(r.rows);
}

void erase_loop(Kernel& k, size_t loop) {
  std::vector<int32_t> to;
  for (size_t l = 0; l < k.loops.size(); ++l) to.push_back(l == loop ? -1 : static_cast<int32_t>(l - (l > loop)));
  renumber(k, to);
  k.loops.erase(k.loops.begin() + static_cast<std::ptrdiff_t>(loop));
}

void drop_unit_loops(Kernel& k) {
  for (size_t l = k.loops.size(); l-- > 0;)
    if (k.loops[l].extent.is(1)) {
      for_each_rows(k, [&](int& rows) { rows -= rows > static_cast<int>(l); });
      erase_loop(k, l);
    }
}

/// Loops l and l + 1 count through one range: i_l * n + i_(l+1), in every index.
bool is_linear(Kernel& k, size_t l) {
  auto outer = static_cast<int32_t>(l), inner = outer + 1;
  if (k.loops[l].reduced != k.loops[l + 1].reduced) return false;
  bool linear = true;
  for_each_index(k, [&](const Index& index) {
    linear = linear && index.of_loop(outer) == index.of_loop(inner) * k.loops[l + 1].extent;
  });
  return linear;
}

void collapse(Kernel& k) {
  for (size_t l = k.loops.size(); l-- > 1;)
    if (is_linear(k, l - 1)) {
      k.loops[l].extent = k.loops[l - 1].extent * k.loops[l].extent;
      // The loop between counted and uncounted axes counts no more; it would if all of the array were walked in order.
      for_each_rows(k, [&](int& rows) { rows -= rows >= static_cast<int>(l); });
      erase_loop(k, l - 1);
    }
}

/// Brings the loops into the given order (old numbers).
void reorder(Kernel& k, const std::vector<size_t>& order) {
  std::vector<int32_t> to(order.size());
  std::vector<Loop> loops;
  for (size_t at = 0; at < order.size(); ++at) {
    to[order[at]] = static_cast<int32_t>(at);
    loops.push_back(k.loops[order[at]]);
  }
  k.loops = std::move(loops);
  renumber(k, to);
  int kept = 0;   // loops that stay in front
  while (kept < static_cast<int>(order.size()) && order[static_cast<size_t>(kept)] == static_cast<size_t>(kept)) ++kept;
  for_each_rows(k, [&](int& rows) { rows = std::min(rows, kept); });
}

std::vector<size_t> loops_where(const Kernel& k, bool reduced) {
  std::vector<size_t> out;
  for (size_t l = 0; l < k.loops.size(); ++l)
    if (k.loops[l].reduced == reduced) out.push_back(l);
  return out;
}

/// What a point costs when `loop` is the vector loop, in loads of a whole vector. What does not depend on it is computed
/// outside of it.
double cost_along(const Kernel& k, size_t loop) {
  constexpr double outside = 0.1, element_by_element = 8;
  std::vector<bool> varies(k.nodes.size());
  double cost = 0;
  for (size_t at = 0; at < k.nodes.size(); ++at) {
    const Node& n = k.nodes[at];
    bool by_loop = !n.address.of_loop(static_cast<int32_t>(loop)).is(0), by_node = false;
    for (const Index::Term& t : n.address.nodes) by_node |= varies[static_cast<size_t>(t.of)];
    varies[at] = by_loop || by_node;
    for (NodeId o : n.operands) varies[at] = varies[at] || varies[static_cast<size_t>(o)];
    bool contiguous = !by_node && n.address.of_loop(static_cast<int32_t>(loop)).is(1);
    if (n.kind == NodeKind::Constant) continue;
    cost += !varies[at] ? outside : n.kind == NodeKind::Load && !contiguous ? element_by_element : 1;
  }
  return cost;
}

/// Windows: loads are contiguous along both loops, so lanes may as well be results as parts of one.
bool reads_along_both(const Kernel& k, size_t a, size_t b) {
  int both = 0;
  for (const Node& n : k.nodes)
    if (n.kind == NodeKind::Load) {
      bool along_a = n.address.of_loop(static_cast<int32_t>(a)).is(1), along_b = n.address.of_loop(static_cast<int32_t>(b)).is(1);
      if (along_a != along_b) return false;
      both += along_a;
    }
  return both > 0;
}

constexpr int64_t most_unrolled = 300;  // nodes emitted for the elements of a small reduction; bounds the time to compile it

/// The reduced sequence is a few elements whose number is known, and reading along it is no better than along the last
/// kept loop.
bool is_small(const Kernel& k, const std::vector<size_t>& kept, const std::vector<size_t>& reduced) {
  if (kept.empty() || reduced.empty()) return false;
  int64_t count = 1;
  for (size_t l : reduced) {
    auto extent = k.loops[l].extent.constant();
    if (!extent || *extent < 1 || *extent > vector_lanes) return false;
    count *= *extent;
  }
  return count <= vector_lanes && count * static_cast<int64_t>(k.nodes.size()) <= most_unrolled &&
         cost_along(k, kept.back()) <= cost_along(k, reduced.back());
}

/// Lanes along the reduced loop end with a tree across them, lanes along the kept one go through partial rows in memory.
bool prefers_rows(const Kernel& k, size_t kept, size_t reduced) {
  double through_memory = 2.0 * static_cast<double>(k.reductions.size());
  return cost_along(k, reduced) <= cost_along(k, kept) + through_memory;
}

constexpr int64_t longest_interleaved = 8;

/// The results' last axis is short, and the axis before it lies next to it everywhere.
bool is_interleaved(const Kernel& k) {
  if (k.loops.size() < 2 || k.stores.empty() || k.scatter || !k.checks.empty()) return false;
  auto last = static_cast<int32_t>(k.loops.size()) - 1;
  std::optional<int64_t> size = k.loops.back().extent.constant();
  if (!size || *size < 2 || *size > longest_interleaved || *size * static_cast<int64_t>(k.nodes.size()) > most_unrolled) return false;
  if (k.loops[static_cast<size_t>(last) - 1].extent.constant().value_or(vector_lanes) < vector_lanes) return false;
  return std::all_of(k.stores.begin(), k.stores.end(), [&](const Store& s) {
    return s.address.of_loop(last).is(1) && s.address.of_loop(last - 1).is(*size);
  });
}

Fit choose(Kernel& k) {
  k.schedule = k.scatter ? Schedule::Scatter : Schedule::Elementwise;
  if (k.reductions.empty() && is_interleaved(k)) {
    k.schedule = Schedule::Interleaved;
    k.loops.back().unrolled = true;
    std::vector<size_t> order;
    for (size_t l = 0; l < k.loops.size(); ++l) order.push_back(l);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    reorder(k, order);
    return Fit::Good;
  }
  if (k.reductions.empty()) return Fit::Good;
  std::vector<size_t> kept = loops_where(k, false), reduced = loops_where(k, true), order = kept;
  bool small = is_small(k, kept, reduced);
  bool windows = !kept.empty() && !reduced.empty() && reads_along_both(k, kept.back(), reduced.back());
  bool rows = !small && !windows && reduced.size() <= 1 && (kept.empty() || reduced.empty() || prefers_rows(k, kept.back(), reduced[0]));
  if (rows && reduced.empty()) {  // every reduced size is 1: a sequence of one element
    k.loops.push_back({1, true});
    reduced.push_back(k.loops.size() - 1);
  }
  if (!rows && kept.empty()) return Fit::None;
  bool awkward = !rows && kept.back() < reduced.back() && cost_along(k, reduced.back()) < cost_along(k, kept.back());
  k.schedule = rows ? Schedule::RowReduce : small ? Schedule::SmallReduce : Schedule::ColumnReduce;
  if (!rows) order.pop_back();
  order.insert(order.end(), reduced.begin(), reduced.end());
  if (!rows) order.push_back(kept.back());
  reorder(k, order);
  return awkward ? Fit::Awkward : Fit::Good;
}

void set_depths(Kernel& k) {
  for (Node& n : k.nodes) {
    n.depth = 0;
    for (const Index::Term& t : n.address.loops) n.depth = std::max(n.depth, t.of + 1);
    for (const Index::Term& t : n.address.nodes) n.depth = std::max(n.depth, k.nodes[static_cast<size_t>(t.of)].depth);
    for (NodeId o : n.operands) n.depth = std::max(n.depth, k.nodes[static_cast<size_t>(o)].depth);
  }
}

}  // namespace

Fit schedule(Kernel& k) {
  drop_unit_loops(k);
  collapse(k);
  Fit fit = choose(k);
  set_depths(k);
  return fit;
}

}  // namespace tercet::codegen
