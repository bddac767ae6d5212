#include "codegen/plan/expression.h"

#include <algorithm>
#include <cstring>

#include "codegen/plan/affine.h"
#include "codegen/plan/roles.h"

namespace tercet::codegen {
namespace {

std::vector<Dim> unit_sizes(size_t rank) { return std::vector<Dim>(rank, Dim(0)); }

}  // namespace

/// Rules by kind; each answers for the op `op` of the value `v` read at `position`.
struct ExpressionBuilder::Rule {
  ExpressionBuilder& self;
  ValueId v;
  const Op& op;
  const Position& position;

  const Function& f() const { return self.facts_.function; }
  DType dtype() const { return f().type(v).dtype; }

  NodeId operator()(const CodeElementwise&) const {
    Node n{NodeKind::Compute, dtype()};
    n.op = &op;
    for (ValueId operand : op.inputs) n.operands.push_back(self.read(operand, position));
    return self.add(std::move(n));
  }
  NodeId operator()(const CodeView&) const { return self.read(op.inputs[0], viewed_position(f(), op, position)); }

  NodeId operator()(const CodeReshape&) const {
    ValueId x = op.inputs[0];
    if (self.facts_.in_memory[x]) {
      Node n{NodeKind::Load, dtype(), self.buffer(x), linear_address(position, f().type(v).dims)};
      if (!f().type(x).dims.empty() && !position.empty() && f().type(x).dims[0] == f().type(v).dims[0])
        n.rows = std::min(leading_loops(position), 1);
      return self.add(std::move(n));
    }
    auto axes = split_axes(f().type(x).dims, f().type(v).dims);
    TERCET_CHECK(axes);  // fusion puts every other reshaped operand into memory
    Position moved;
    for (auto& digits : *axes) {
      Index index;
      for (const AxisDigit& d : digits) index = index + position[d.axis] * d.factor;
      moved.push_back(std::move(index));
    }
    return self.read(x, moved);
  }
  NodeId operator()(const CodeIota&) const {
    Node n{NodeKind::IndexValue, dtype()};
    n.address = position[static_cast<size_t>(op.attrs.get<int64_t>("axis"))];
    return self.add(std::move(n));
  }
  NodeId operator()(const CodeSize&) const {
    Node n{NodeKind::IndexValue, dtype()};
    n.address.offset = op.attrs.get<Dim>("dim");
    return self.add(std::move(n));
  }
  NodeId operator()(const CodeConstant&) const {
    const Array& value = op.attrs.get<Array>("value");
    if (value.count() != 1) return self.load(v, position);
    Node n{NodeKind::Constant, dtype()};
    n.bits = bits_of(value);
    return self.add(std::move(n));
  }
  NodeId operator()(const CodeGather&) const {
    ValueId x = op.inputs[0];
    const auto& axes = op.attrs.get<std::vector<int64_t>>("axes");
    auto batch = static_cast<size_t>(op.attrs.get<int64_t>("batch"));
    const std::vector<Dim>& sizes = f().type(x).dims;
    size_t index_rank = f().type(op.inputs[1]).dims.size(), rest = index_rank;
    Position at_index(position.begin(), position.begin() + static_cast<std::ptrdiff_t>(index_rank));
    Position moved(sizes.size());
    std::vector<bool> indexed(sizes.size());
    for (size_t k = 0; k < axes.size(); ++k) {
      auto axis = static_cast<size_t>(axes[k]);
      moved[axis] = self.index_of(op.inputs[k + 1], at_index, sizes[axis] - 1);
      indexed[axis] = true;
    }
    for (size_t a = 0; a < sizes.size(); ++a)
      if (!indexed[a]) moved[a] = a < batch ? position[a] : position[rest++];
    return self.read(x, moved);
  }
  NodeId operator()(const CodeWindow&) const {
    ValueId x = op.inputs[0];
    auto axis = static_cast<size_t>(op.attrs.get<int64_t>("axis"));
    auto batch = static_cast<std::ptrdiff_t>(op.attrs.get<int64_t>("batch"));
    Dim bound = f().type(x).dims[axis] - op.attrs.get<Dim>("size");
    Position moved = position;
    Position at_start(position.begin(), position.begin() + batch);
    moved[axis] = moved[axis] + self.index_of(op.inputs[1], at_start, bound);
    return self.read(x, moved);
  }
  template <class Other>
  NodeId operator()(const Other&) const {
    TERCET_CHECK(!"this kind of operation is never computed inside a kernel");
    return no_node;
  }
};

uint64_t bits_of(const Array& scalar) {
  uint64_t bits = 0;
  std::memcpy(&bits, scalar.raw(), size_of(scalar.dtype));
  return bits;
}

Position identity_position(size_t rank) {
  Position p;
  for (size_t k = 0; k < rank; ++k) p.push_back(Index::loop(static_cast<int32_t>(k)));
  return p;
}

// The row's view rule is linear in the operand's strides. Giving operand axis k the stride 1 and all others 0 therefore
// yields how the index along k is made of the result's indices.
Position viewed_position(const Function& f, const Op& op, const Position& position) {
  const std::vector<Dim>& sizes = f.type(op.inputs[0]).dims;
  Position out;
  for (size_t k = 0; k < sizes.size(); ++k) {
    View in{sizes, unit_sizes(sizes.size()), 0};
    in.strides[k] = 1;
    View seen = std::get<CodeView>(op.def->code).apply(f, op, in);
    Index index;
    index.offset = seen.offset;
    for (size_t j = 0; j < position.size(); ++j)
      if (!seen.strides[j].is(0)) index = index + position[j] * seen.strides[j];
    out.push_back(std::move(index));
  }
  return out;
}

NodeId ExpressionBuilder::add(Node node) {
  kernel_.nodes.push_back(std::move(node));
  return static_cast<NodeId>(kernel_.nodes.size() - 1);
}

int32_t ExpressionBuilder::buffer(ValueId v) {
  for (size_t k = 0; k < kernel_.buffers.size(); ++k)
    if (kernel_.buffers[k] == v) return static_cast<int32_t>(k);
  kernel_.buffers.push_back(v);
  return static_cast<int32_t>(kernel_.buffers.size() - 1);
}

NodeId ExpressionBuilder::load(ValueId v, const Position& position) {
  const Type& type = facts_.function.type(v);
  return add({NodeKind::Load, type.dtype, buffer(v), linear_address(position, type.dims), leading_loops(position)});
}

NodeId ExpressionBuilder::clamped(ValueId index, const Position& position, const Dim& bound) {
  Node n{NodeKind::Clamp, DType::I64};
  n.operands = {read(index, position)};
  n.bound = bound;
  return add(std::move(n));
}

Index ExpressionBuilder::index_of(ValueId index, const Position& position, const Dim& bound) {
  std::vector<Dim> extents;
  for (const Loop& l : kernel_.loops) extents.push_back(l.extent);
  AffineNumbers numbers(std::move(extents));
  std::optional<Index> linear = affine_index(facts_, index, position, numbers);
  if (linear && numbers.within(*linear, Dim(0), bound)) return *linear;
  return Index::node(clamped(index, position, bound));
}

NodeId ExpressionBuilder::read(ValueId v, const Position& position) {
  for (const Read& r : reads_[v])
    if (r.position == position) return r.node;
  bool loads = facts_.in_memory[v] || !facts_.op(v);
  if (!loads) return compute(v, position);
  NodeId node = load(v, position);
  reads_[v].push_back({position, node});
  return node;
}

NodeId ExpressionBuilder::compute(ValueId v, const Position& position) {
  const Op& op = *facts_.op(v);
  NodeId node = std::visit(Rule{*this, v, op, position}, op.def->code);
  reads_[v].push_back({position, node});
  return node;
}

}  // namespace tercet::codegen
