#include "codegen/plan/roles.h"

namespace tercet::codegen {
namespace {

struct RoleOf {
  const Function& f;
  const Op& op;

  bool dense_numbers() const {
    auto fits = [&](ValueId v) {
      for (const Dim& d : f.type(v).dims)
        if (d.is_ragged()) return false;
      return is_kernel_dtype(f.type(v).dtype);
    };
    for (ValueId v : op.inputs)
      if (!fits(v)) return false;
    for (uint32_t i = 0; i < op.outputs; ++i)
      if (!fits(op.output(i))) return false;
    return true;
  }
  Role moved() const { return dense_numbers() ? Role::Inline : Role::Native; }

  Role operator()(const CodeElementwise&) const { return dense_numbers() ? Role::Inline : Role::Native; }
  Role operator()(const CodeView&) const { return moved(); }
  Role operator()(const CodeReshape&) const { return dense_numbers() ? Role::Reshape : Role::Native; }
  Role operator()(const CodeReduce&) const { return dense_numbers() ? Role::Reduce : Role::Native; }
  Role operator()(const CodeIota&) const { return moved(); }
  Role operator()(const CodeConstant&) const { return Role::Constant; }
  Role operator()(const CodeGather&) const { return moved(); }
  Role operator()(const CodeWindow&) const { return moved(); }
  Role operator()(const CodeScatter&) const { return dense_numbers() ? Role::Scatter : Role::Native; }
  Role operator()(const CodeCheck& c) const { return c.failed && dense_numbers() ? Role::Check : Role::Native; }
  Role operator()(const CodeSize&) const { return op.inputs.empty() ? Role::Inline : Role::Native; }
  template <class Other>
  Role operator()(const Other&) const {
    return Role::Native;
  }
};

}  // namespace

bool is_kernel_dtype(DType dtype) { return dtype <= DType::F64; }

Role role_of(const Function& f, const Op& op) { return std::visit(RoleOf{f, op}, op.def->code); }

std::optional<std::vector<std::vector<AxisDigit>>> split_axes(const std::vector<Dim>& operand,
                                                              const std::vector<Dim>& result) {
  std::vector<std::vector<AxisDigit>> out;
  size_t at = 0;
  for (const Dim& size : operand) {
    std::vector<AxisDigit> digits;
    if (!size.is(1)) {
      // The fewest result axes whose sizes multiply to this axis' size.
      while (at < result.size() && result[at].is(1)) ++at;
      size_t end = at;
      Dim product = 1;
      while (end < result.size() && !(end > at && product == size)) product = product * result[end++];
      if (!(product == size)) return std::nullopt;
      Dim factor = 1;
      for (size_t k = end; k-- > at; factor = factor * result[k]) digits.push_back({k, factor});
      at = end;
    }
    out.push_back(std::move(digits));
  }
  for (; at < result.size(); ++at)
    if (!result[at].is(1)) return std::nullopt;
  return out;
}

}  // namespace tercet::codegen
