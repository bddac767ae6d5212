#include "codegen/plan/equal_sizes.h"

#include <algorithm>

#include "interpreter/ir/op_def.h"
#include "interpreter/ir/rewrite.h"
#include "interpreter/ops/rows.h"

namespace tercet::codegen {
namespace {

/// Where a parameter brings the size under its bare name.
std::optional<EqualSizes::Axis> axis_of(const Function& f, const Dim& size) {
  if (!size.symbol_id()) return std::nullopt;
  for (size_t i = 0; i < f.params.size(); ++i) {
    const std::vector<Dim>& dims = f.type(f.params[i]).dims;
    for (size_t k = 0; k < dims.size(); ++k)
      if (dims[k] == size) return EqualSizes::Axis{i, k};
  }
  return std::nullopt;
}

/// Does the check ask for equal sizes?
bool asks_equality(const Op& op) {
  if (op.def != &check_dims_op || !op.inputs.empty()) return false;
  const std::string& relation = op.attrs.get<std::string>("relation");
  return relation == "equal" || (relation == "broadcast" && op.attrs.get<Dim>("left").not_one() && op.attrs.get<Dim>("right").not_one());
}

/// What is asked outside of all branches.
void collect(const Function& f, std::vector<std::pair<Dim, Dim>>& out) {
  for (const Op& op : f.ops) {
    if (asks_equality(op)) out.emplace_back(op.attrs.get<Dim>("left"), op.attrs.get<Dim>("right"));
    if (op.def == &scan_op) collect(*op.bodies[0], out);
  }
}

/// The function without checks of a size against itself.
FunctionPtr without_pointless_checks(const FunctionPtr& f) {
  auto out = std::make_shared<Function>(*f);
  std::vector<bool> keep;
  for (Op& op : out->ops) {
    keep.push_back(!(asks_equality(op) && op.attrs.get<Dim>("left") == op.attrs.get<Dim>("right")));
    if (op.def == &scan_op) op.bodies[0] = without_pointless_checks(op.bodies[0]);
  }
  compact(*out, keep);
  return out;
}

}  // namespace

bool EqualSizes::hold(std::span<const Array> arguments) const {
  auto size = [&](const Axis& at) { return arguments[at.argument].shape[at.axis]; };
  return std::all_of(pairs.begin(), pairs.end(), [&](const Pair& p) { return size(p.a) == (p.b ? size(*p.b) : p.size); });
}

EqualSizes with_equal_sizes(const FunctionPtr& f) {
  EqualSizes out{f, {}};
  DimMap names;
  std::vector<std::pair<Dim, Dim>> asked;
  collect(*f, asked);
  for (auto& [left, right] : asked) {
    auto a = axis_of(*f, left), b = axis_of(*f, right);
    if ((!a && !left.constant()) || (!b && !right.constant())) continue;
    Dim to = left.substitute(names), from = right.substitute(names);
    if (from.constant()) std::swap(to, from), std::swap(a, b);
    if (to == from || !from.symbol_id() || !(to.symbol_id() || to.constant())) continue;
    if (!b) continue;
    out.pairs.push_back({*b, a, to.constant().value_or(0)});
    for (auto& [symbol, name] : names) name = name.substitute({{from.symbol_id(), to}});
    names[from.symbol_id()] = to;
  }
  if (!names.empty()) out.function = without_pointless_checks(substitute(f, names));
  return out;
}

}  // namespace tercet::codegen
