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

/// Does the check, which stands outside of all branches and loops, ask for equal sizes?
bool asks_equality(const Op& op) {
  if (op.def != &check_dims_op || !op.inputs.empty()) return false;
  const std::string& relation = op.attrs.get<std::string>("relation");
  return relation == "equal" || (relation == "broadcast" && op.attrs.get<Dim>("left").not_one() && op.attrs.get<Dim>("right").not_one());
}

}  // namespace

bool EqualSizes::hold(std::span<const Array> arguments) const {
  return std::all_of(pairs.begin(), pairs.end(), [&](const Pair& p) {
    return arguments[p.a.argument].shape[p.a.axis] == arguments[p.b.argument].shape[p.b.axis];
  });
}

EqualSizes with_equal_sizes(const FunctionPtr& f) {
  EqualSizes out{f, {}};
  DimMap names;
  for (const Op& op : f->ops) {
    if (!asks_equality(op)) continue;
    Dim left = op.attrs.get<Dim>("left"), right = op.attrs.get<Dim>("right");
    auto a = axis_of(*f, left), b = axis_of(*f, right);
    Dim to = left.substitute(names), from = right.substitute(names);
    if (!a || !b || to == from || !to.symbol_id() || !from.symbol_id()) continue;
    out.pairs.push_back({*a, *b});
    for (auto& [symbol, name] : names) name = name.substitute({{from.symbol_id(), to}});
    names[from.symbol_id()] = to;
  }
  if (names.empty()) return out;
  auto renamed = std::make_shared<Function>(*substitute(f, names));
  std::vector<bool> keep;
  for (const Op& op : renamed->ops) keep.push_back(!(asks_equality(op) && op.attrs.get<Dim>("left") == op.attrs.get<Dim>("right")));
  compact(*renamed, keep);
  out.function = renamed;
  return out;
}

}  // namespace tercet::codegen
