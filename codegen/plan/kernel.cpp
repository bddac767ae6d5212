#include "codegen/plan/kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tercet::codegen {
namespace {

std::string list(const std::vector<NodeId>& nodes) {
  std::string out;
  for (NodeId n : nodes) out += fmt::format("{}%{}", out.empty() ? "" : ", ", n);
  return out;
}

std::string text_of(const Node& n) {
  switch (n.kind) {
    case NodeKind::Load:
      return fmt::format("load b{}[{}]", n.buffer, to_string(n.address));
    case NodeKind::IndexValue:
      return fmt::format("index {}", to_string(n.address));
    case NodeKind::Constant:
      return fmt::format("constant 0x{:x}", n.bits);
    case NodeKind::Clamp:
      return fmt::format("clamp %{} to [0, {}]", n.operands[0], n.bound.text());
    case NodeKind::Compute:
      break;
  }
  return fmt::format("{}({})", n.op->def->name, list(n.operands));
}

std::string text_of(const Kernel& k) {
  std::string out;
  for (size_t l = 0; l < k.loops.size(); ++l)
    out += fmt::format("{}{} i{} < {}{}", l ? ", " : "  ", l + 1 == k.loops.size() ? "vector" : "for", l,
                       k.loops[l].extent.text(), k.loops[l].reduced ? " reduced" : "");
  if (!k.loops.empty()) out += "\n";
  for (size_t n = 0; n < k.nodes.size(); ++n)
    out += fmt::format("    %{}: {} = {}    @{}\n", n, tercet::name_of(k.nodes[n].dtype), text_of(k.nodes[n]),
                       k.nodes[n].depth);
  for (const Store& s : k.stores)
    out += fmt::format("    store %{} -> b{}[{}]\n", s.value, s.buffer, to_string(s.address));
  for (const Reduction& r : k.reductions)
    out += fmt::format("    {} %{} -> b{}[{}]\n", name_of(r.kind), r.value, r.buffer, to_string(r.address));
  if (k.scatter)
    out += fmt::format("    scatter ({}) %{} -> b{}[{}]\n", static_cast<int>(k.scatter->mode), k.scatter->value,
                       k.scatter->buffer, to_string(k.scatter->address));
  for (const Check& c : k.checks)
    out += fmt::format("    {}({}){}\n", c.op->def->name, list(c.operands),
                       c.live == no_node ? "" : fmt::format(" where %{}", c.live));
  return out;
}

/// What of an attribute emitted code may depend on; sizes are told by their slots.
std::string key_of(const Attr& attr) {
  return std::visit([&]<class T>(const T& x) -> std::string {
    if constexpr (std::is_same_v<T, Dim> || std::is_same_v<T, std::vector<Dim>>) return "";
    else if constexpr (std::is_same_v<T, DType>) return tercet::name_of(x);
    else if constexpr (std::is_same_v<T, double>) return fmt::format("{:a}", x);
    else if constexpr (std::is_same_v<T, std::vector<int64_t>>) return fmt::format("{}", fmt::join(x, ","));
    else if constexpr (std::is_same_v<T, Array>) return fmt::format("{}", static_cast<const void*>(x.raw()));
    else if constexpr (std::is_same_v<T, std::shared_ptr<const void>>) return fmt::format("{}", x.get());
    else return fmt::format("{}", x);
  }, attr);
}

void add_sizes(std::vector<Dim>& out, const Index& index) {
  out.push_back(index.offset);
  for (const Index::Term& t : index.loops) out.push_back(t.coefficient);
  for (const Index::Term& t : index.nodes) out.push_back(t.coefficient);
}

}  // namespace

const char* name_of(ReduceKind kind) {
  constexpr const char* names[] = {"sum", "prod", "max", "min", "any", "all", "argmax", "argmin"};
  return names[static_cast<int>(kind)];
}

const char* name_of(Schedule schedule) {
  switch (schedule) {
    case Schedule::Elementwise: return "elementwise";
    case Schedule::Interleaved: return "interleaved";
    case Schedule::RowReduce: return "row_reduce";
    case Schedule::ColumnReduce: return "column_reduce";
    case Schedule::SmallReduce: return "small_reduce";
    case Schedule::Scatter: return "scatter";
  }
  return "?";
}

size_t Kernel::first_reduced() const {
  auto found = std::find_if(loops.begin(), loops.end(), [](const Loop& l) { return l.reduced; });
  return static_cast<size_t>(found - loops.begin());
}

std::vector<Dim> Kernel::sizes() const {
  std::vector<Dim> out;
  for (const Loop& l : loops) out.push_back(l.extent);
  for (const Node& n : nodes) {
    add_sizes(out, n.address);
    if (n.kind == NodeKind::Clamp) out.push_back(n.bound);
  }
  for (const Store& s : stores) add_sizes(out, s.address);
  for (const Reduction& r : reductions) add_sizes(out, r.address);
  if (scatter) add_sizes(out, scatter->address);
  for (const Check& c : checks)
    for (auto& [name, attr] : c.op->attrs.items())
      if (const Dim* d = std::get_if<Dim>(&attr)) out.push_back(*d);
  return out;
}

std::string print(const Kernel& k, int number) {
  std::string out = fmt::format("kernel {} {}\n", number, name_of(k.schedule)) + text_of(k);
  for (size_t b = 0; b < k.buffers.size(); ++b)
    out += fmt::format("{}b{} is value {}", b ? ", " : "    ", b, k.buffers[b]);
  return out + "\n";
}

std::string code_key(const Kernel& k, const SizeTable& sizes) {
  std::string out = name_of(k.schedule) + text_of(k);
  for (const Dim& d : k.sizes()) out += d.constant() ? fmt::format(" {}", *d.constant()) : fmt::format(" s{}", sizes.find(d));
  auto add = [&](const Op& op) {
    for (auto& [name, attr] : op.attrs.items()) out += fmt::format(" {}={}", name, key_of(attr));
  };
  for (const Node& n : k.nodes)
    if (n.op) add(*n.op);
  for (const Check& c : k.checks) add(*c.op);
  for (const Store& s : k.stores) out += tercet::name_of(s.dtype);
  for (const Reduction& r : k.reductions) out += tercet::name_of(r.dtype);
  if (k.scatter) {
    out += tercet::name_of(k.scatter->dtype);
    for (const Scatter::Bound& b : k.scatter->bounds) out += fmt::format(" {} {}", b.index, b.clamped);
  }
  return out + fmt::format(" {}{}", k.cost, k.fast_math ? " fast" : "");
}

}  // namespace tercet::codegen
