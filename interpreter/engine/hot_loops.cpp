#include "interpreter/engine/hot_loops.h"

#include <algorithm>

#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

constexpr double worth_compiling = 100'000;   // operations of the evaluator, some 15 ms; compiling takes 2 to 10
constexpr double unknown_steps = 8;

/// Of one run of the function, as far as it can be told.
double operations_of(const Function& f, const DimEnv& sizes) {
  double all = 1;
  for (const Op& op : f.ops) {
    double inside = 0;
    for (const FunctionPtr& body : op.bodies) inside += operations_of(*body, sizes);
    double times = 1;
    if (op.def == &while_op) times = unknown_steps;
    if (auto* length = op.attrs.find("length"); length && op.def == &scan_op) {
      const std::optional<int64_t> n = std::get<Dim>(*length).eval(sizes);
      times = n ? static_cast<double>(*n) : unknown_steps;
    }
    all += 1 + times * inside;
  }
  return all;
}

/// Numbers in dense arrays, and nothing that is told outside but failures: what may be one piece of code.
bool is_plain(const Op& op);
bool is_plain(const Type& t) { return is_number(t.dtype) && !t.is_ragged(); }
template <class List> bool all_plain(const List& list) {
  return std::all_of(list.begin(), list.end(), [](const auto& x) { return is_plain(x); });
}
bool is_plain(const Op& op) {
  return op.def->effect != Effect::Output &&
         std::all_of(op.bodies.begin(), op.bodies.end(), [](const FunctionPtr& body) { return all_plain(body->types) && all_plain(body->ops); });
}

std::vector<Type> operand_types(const Function& f, const Op& op) {
  std::vector<Type> out;
  for (ValueId v : op.inputs) out.push_back(f.type(v));
  return out;
}

/// The loop alone: its operands are the parameters.
FunctionPtr loop_function(const Op& op, const std::vector<Type>& operands) {
  Builder b("loop");
  std::vector<ValueId> params;
  for (const Type& t : operands) params.push_back(b.param(t));
  return b.finish(b.emit_many(*op.def, params, op.attrs, op.span, op.bodies));
}

}  // namespace

std::shared_ptr<const Executable> HotLoops::code_for(const Function& f, const Op& op, const DimEnv& sizes, int64_t steps) {
  if (!backend_ || when_ == CompileLoops::Never) return nullptr;
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return nullptr;
  const FunctionPtr& body = op.bodies.back();
  Loop& loop = loops_[body.get()];
  if (!loop.body) loop.body = body, loop.operands = operand_types(f, op);
  if (loop.asked) return loop.code && loop.operands == operand_types(f, op) ? loop.code : nullptr;
  loop.operations += static_cast<double>(steps) * operations_of(*body, sizes);
  if (when_ == CompileLoops::Auto && loop.operations < worth_compiling) return nullptr;
  loop.asked = true;
  if (all_plain(loop.operands) && is_plain(op) && op.attrs.get_or<std::vector<Dim>>("defines", {}).empty()) loop.code = backend_->compile_loop(loop_function(op, loop.operands), options_);
  return loop.code;
}

}  // namespace tercet
