// Rows: control flow. Bodies are closed functions; what they read comes in as operands ("captures", after the others).
#include <algorithm>
#include <functional>

#include "interpreter/ir/recursion.h"
#include "interpreter/ir/rewrite.h"
#include "interpreter/ops/batch_rules.h"
#include "interpreter/ops/control_diff.h"
#include "interpreter/ops/element_loops.h"
#include "interpreter/ops/flat_rules.h"
#include "interpreter/ops/loop_steps.h"
#include "interpreter/ops/rows.h"
#include "interpreter/runtime/progress.h"
#include "interpreter/runtime/ragged.h"
#include "interpreter/runtime/text_arena.h"

namespace tercet {
namespace {

using Ints = std::vector<int64_t>;
using Dims = std::vector<Dim>;
using Flags = std::vector<bool>;

std::vector<Array> taken(std::span<Array> in) { return {std::make_move_iterator(in.begin()), std::make_move_iterator(in.end())}; }

// ---- cond(predicate, captures…) {then, else} ----
std::vector<Type> infer_cond(const InferInput& in) {
  TERCET_CHECK(in.bodies.size() == 2 && in.operands[0].dtype == DType::Bool && in.operands[0].rank() == 0);
  std::vector<Type> a = in.bodies[0]->result_types(), b = in.bodies[1]->result_types();
  TERCET_CHECK(a.size() == b.size());
  const Dims fresh = in.attrs.get_or<Dims>("defines", {});
  size_t next = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    TERCET_CHECK(a[i].dtype == b[i].dtype && a[i].rank() == b[i].rank());
    for (size_t k = 0; k < a[i].dims.size(); ++k)
      if (!(a[i].dims[k] == b[i].dims[k])) {
        TERCET_CHECK(next < fresh.size());
        a[i].dims[k] = fresh[next++];
      }
  }
  return a;
}

std::vector<Array> eval_cond(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  const Function& body = *op.bodies[*in[0].data<bool>() ? 0 : 1];
  std::vector<Array> out = context.run_body(body, taken(in.subspan(1)));
  context.bind_defined(f, op, out);
  return out;
}

/// A value whose sizes are found to be those of `like`, whatever names they have: checked when it runs.
ValueId with_sizes_of(BatchContext& c, const Op& op, ValueId value, ValueId like) {
  Builder& b = c.out();
  const Dims to = b.type(like).dims, from = b.type(value).dims;
  if (to == from) return value;
  for (size_t k = 0; k < to.size(); ++k) {
    if (to[k] == from[k]) continue;
    if (to[k].constant() && from[k].constant())
      fail_lane_dependent(op.span);
    Attrs check{{"left", to[k]}, {"right", from[k]}, {"relation", std::string("equal")},
                {"message", std::string("the branches give sizes {left} and {right}, and the condition differs between lanes")},
                {"help", std::string("give both branches results of one shape")}};
    b.emit_many(check_dims_op, {}, std::move(check), op.span);
  }
  return b.emit(reshape_op, {value}, {{"dims", to}}, op.span);
}

/// Lanes that disagree: both sides run, each on its own lanes, and each lane takes its own result.
std::vector<BatchedValue> select_branches(BatchContext& c, const Op& op, std::span<const BatchedValue> in) {
  Builder& b = c.out();
  ValueId predicate = in[0].value, inverse = b.emit(bit_not_op, {predicate}, {}, op.span);
  auto masked = [&](ValueId p) { return c.live() == no_value ? p : b.emit(bit_and_op, {p, c.live()}, {}, op.span); };
  std::vector<BatchedValue> yes = c.batch_body(*op.bodies[0], in.subspan(1), masked(predicate));
  std::vector<BatchedValue> no = c.batch_body(*op.bodies[1], in.subspan(1), masked(inverse));
  std::vector<BatchedValue> out;
  for (size_t i = 0; i < yes.size(); ++i) {
    if (!yes[i].mapped && yes[i].value == no[i].value) {
      out.push_back(yes[i]);
      continue;
    }
    if (yes[i].packing || no[i].packing) {
      const Packing* p = yes[i].packing;
      if (!p || p != no[i].packing || b.type(yes[i].value).dims != b.type(no[i].value).dims) fail_lane_dependent(op.span);
      FlatEmitter e(c, op.span);
      ValueId chosen = e.spread(e.take(predicate, c.ids(*p, op.span)), e.dims(yes[i].value), {0});
      out.push_back({b.emit(select_op, {chosen, yes[i].value, no[i].value}, {}, op.span), true, p});
      continue;
    }
    ValueId x = c.mapped(yes[i], op.span), y = with_sizes_of(c, op, c.mapped(no[i], op.span), x), mask = predicate;
    if (b.type(x).rank() > 1) mask = b.emit(broadcast_op, {predicate}, {{"dims", b.type(x).dims}, {"axes", Ints{0}}}, op.span);
    out.push_back({b.emit(select_op, {mask, x, y}, {}, op.span), true});
  }
  return out;
}

std::vector<BatchedValue> batch_cond(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  if (in[0].mapped) return select_branches(c, op, in);
  Flags mapped = flags_of(in.subspan(1)), force(op.outputs, false);
  auto then_body = c.batch_closed(*op.bodies[0], mapped, force, false);
  auto else_body = c.batch_closed(*op.bodies[1], mapped, force, false);
  for (size_t i = 0; i < force.size(); ++i) force[i] = then_body.mapped[i] || else_body.mapped[i];
  then_body = c.batch_closed(*op.bodies[0], mapped, force, false);
  else_body = c.batch_closed(*op.bodies[1], mapped, force, false);
  std::vector<ValueId> inputs;
  for (const BatchedValue& v : in) inputs.push_back(v.value);
  DimMap map;
  std::vector<ValueId> values = c.out().emit_many(op.def[0], with_live(c, inputs), rewrite_attrs(op.attrs, map), op.span,
                                                  {then_body.function, else_body.function});
  std::vector<BatchedValue> out;
  for (size_t i = 0; i < values.size(); ++i) out.push_back({values[i], force[i]});
  return out;
}

/// A condition that all lanes share, of lanes whose sizes differ: both sides, and each lane takes the same one.
std::vector<BatchedValue> flat_cond(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  std::vector<BatchedValue> operands(in.begin(), in.end());
  operands[0] = {c.mapped(in[0], op.span), true};
  return select_branches(c, op, operands);
}

void store_row(Array& all, int64_t i, const Array& row) {
  auto bytes = static_cast<size_t>(row.bytes());
  if (bytes) std::memcpy(static_cast<void*>(all.raw() + static_cast<size_t>(i) * bytes), row.raw(), bytes);
  for (const auto& owner : row.owners)
    if (all.owners.empty() || all.owners.back() != owner) all.owners.push_back(owner);
}

// ---- while(carry…, captures…) {condition, body}; attr carried ----
// What the body gives beyond the carried values is stacked, one row for each round; the number of rounds is attr "count",
// a size that the operation defines. In a batch a row is zeros (false) for lanes that were done.
std::vector<Type> carried_types(const Function& body, int64_t first, int64_t carried) {
  std::vector<Type> all = body.param_types();
  TERCET_CHECK(carried >= 0 && carried <= static_cast<int64_t>(all.size()) - first && carried <= static_cast<int64_t>(body.results.size()));
  return {all.begin() + first, all.begin() + first + carried};
}

std::vector<Type> infer_while(const InferInput& in) {
  int64_t carried = in.attrs.get<int64_t>("carried");
  TERCET_CHECK(in.bodies.size() == 2 && in.bodies[1]->params.size() == in.operands.size());
  std::vector<Type> out = carried_types(*in.bodies[1], 0, carried), results = in.bodies[1]->result_types();
  for (size_t i = 0; i < out.size(); ++i) TERCET_CHECK(out[i].dtype == results[i].dtype);
  for (size_t i = out.size(); i < results.size(); ++i) {
    results[i].dims.insert(results[i].dims.begin(), in.attrs.get<Dim>("count"));
    out.push_back(results[i]);
  }
  return out;
}

/// Rows of equal shape as one array; without rows, of this type.
Array stack_rounds(EvalContext& context, const Type& type, const std::vector<Array>& rows) {
  Shape shape;
  for (const Dim& d : std::span(type.dims).subspan(1)) shape.push_back(d.eval(context.dims).value_or(0));
  if (!rows.empty()) shape = rows[0].shape;
  shape.insert(0, static_cast<int64_t>(rows.size()));
  Array out = Array::make(type.dtype, shape);
  for (size_t i = 0; i < rows.size(); ++i) store_row(out, static_cast<int64_t>(i), rows[i]);
  return out;
}

constexpr int64_t rounds_between_asking = 256, few_rounds = 8;   // whether there is a faster way; of a loop that nobody knows the length of

std::vector<Array> eval_while(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  auto carried = static_cast<size_t>(op.attrs.get<int64_t>("carried"));
  LoopSteps steps(steps_to_count(op, in));
  std::vector<Array> carry = taken(in.first(carried));
  const std::vector<Array> captures = taken(in.subspan(carried));
  auto arguments = [&](bool move) {
    std::vector<Array> out = move ? std::move(carry) : carry;
    out.insert(out.end(), captures.begin(), captures.end());
    return out;
  };
  std::vector<std::vector<Array>> rounds(op.outputs - carried);
  for (int64_t round = 0;; ++round) {
    if (round % rounds_between_asking == 0 && rounds.empty()) {
      std::vector<Array> operands = arguments(true);
      const int64_t counted = steps_to_count(op, operands);
      const int64_t expected = round > 0 ? rounds_between_asking : counted < 0 ? few_rounds : counted;
      if (auto results = context.run_loop(f, op, operands, expected)) return std::move(*results);
      carry = taken(std::span(operands).first(carried));
    }
    if (!*context.run_body(*op.bodies[0], arguments(false))[0].data<bool>()) break;
    context.poll();
    carry = context.run_body(*op.bodies[1], arguments(true));
    for (size_t k = 0; k < rounds.size(); ++k) rounds[k].push_back(std::move(carry[carried + k]));
    carry.resize(carried);
    steps.advance();
  }
  for (size_t k = 0; k < rounds.size(); ++k) carry.push_back(stack_rounds(context, f.type(op.output(static_cast<uint32_t>(carried + k))), rounds[k]));
  context.bind_defined(f, op, carry);
  return carry;
}

/// Which carried values differ between lanes: those that start so, and those that become so.
template <class Trial> Flags mapped_carry(Flags carry, Trial trial) {
  for (;;) {
    Flags after = trial(carry);
    bool changed = false;
    for (size_t i = 0; i < carry.size(); ++i)
      if (after[i] && !carry[i]) carry[i] = true, changed = true;
    if (!changed) return carry;
  }
}

Flags joined(Flags a, const Flags& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Results of a loop, of which `carried` are carried and the others stacked: there lanes and steps change places.
std::vector<BatchedValue> loop_results(Builder& b, std::span<const ValueId> values, const Flags& mapped, size_t carried, Span span) {
  std::vector<BatchedValue> out;
  for (size_t i = 0; i < values.size(); ++i)
    out.push_back({i >= carried && mapped[i] ? swap_front(b, values[i], span) : values[i], mapped[i]});
  return out;
}

/// An array of zeros or ones.
ValueId filled_with(Builder& b, const Type& type, bool one) {
  ValueId value = b.emit(constant_op, {}, {{"value", scalar_of_int(type.dtype, one)}});
  return type.dims.empty() ? value : b.emit(broadcast_op, {value}, {{"dims", type.dims}, {"axes", Ints{}}});
}

/// The loop with a mask of live lanes as its first carried value: it runs until no lane is alive, and lanes that are
/// done keep their values.
std::vector<BatchedValue> masked_while(BatchContext& c, const Op& op, std::span<const BatchedValue> in, size_t carried) {
  Builder& b = c.out();
  Flags captures = flags_of(in.subspan(carried)), all(op.outputs, true), mapped = joined(Flags(carried, true), captures);
  auto condition = c.batch_closed(*op.bodies[0], mapped, {true}, true);
  auto body = c.batch_closed(*op.bodies[1], mapped, all, true);
  std::vector<ValueId> carry, rest;
  for (size_t i = 0; i < in.size(); ++i) (i < carried ? carry : rest).push_back(i < carried ? c.mapped(in[i], op.span) : in[i].value);

  auto call = [&](Builder& out, const Function& f, std::vector<ValueId> arguments, ValueId live) {
    arguments.push_back(live);
    return inline_function(out, f, arguments);
  };
  auto refine = [&](Builder& out, ValueId live, const std::vector<ValueId>& values, const std::vector<ValueId>& captured) {
    std::vector<ValueId> arguments = values;
    arguments.insert(arguments.end(), captured.begin(), captured.end());
    return out.emit(bit_and_op, {call(out, *condition.function, arguments, live)[0], live}, {}, op.span);
  };
  ValueId everywhere = c.live();
  if (everywhere == no_value) {
    everywhere = filled_with(b, {DType::Bool, {c.lanes()}}, true);
  }
  ValueId live = refine(b, everywhere, carry, rest);

  std::vector<ValueId> inputs{live};
  inputs.insert(inputs.end(), carry.begin(), carry.end());
  inputs.insert(inputs.end(), rest.begin(), rest.end());
  auto params = [&](Builder& out) {
    std::vector<ValueId> ids;
    std::vector<Type> types = body.function->param_types();   // carry…, captures…, live
    ids.push_back(out.param({DType::Bool, {c.lanes()}}));
    for (size_t i = 0; i + 1 < types.size(); ++i) ids.push_back(out.param(types[i]));
    return ids;
  };
  Builder test("alive");
  ValueId alive = params(test)[0];
  FunctionPtr any_alive = test.finish({test.emit(any_op, {alive}, {{"axes", Ints{0}}}, op.span)});

  Builder step("step");
  std::vector<ValueId> p = params(step);
  std::vector<ValueId> old(p.begin() + 1, p.begin() + 1 + static_cast<std::ptrdiff_t>(carried));
  std::vector<ValueId> captured(p.begin() + 1 + static_cast<std::ptrdiff_t>(carried), p.end());
  std::vector<ValueId> arguments(p.begin() + 1, p.end());
  std::vector<ValueId> fresh = call(step, *body.function, arguments, p[0]);
  for (size_t i = 0; i < fresh.size(); ++i) {
    ValueId mask = p[0];
    const Type type = step.type(fresh[i]);
    if (i >= carried) old.push_back(filled_with(step, type, false));
    if (!(step.type(old[i]) == type))
      fail_lane_dependent(op.span);
    if (type.rank() > 1) mask = step.emit(broadcast_op, {mask}, {{"dims", type.dims}, {"axes", Ints{0}}}, op.span);
    fresh[i] = step.emit(select_op, {mask, fresh[i], old[i]}, {}, op.span);
  }
  std::vector<ValueId> next{refine(step, p[0], {fresh.begin(), fresh.begin() + static_cast<std::ptrdiff_t>(carried)}, captured)};
  next.insert(next.end(), fresh.begin(), fresh.end());
  DimMap map;
  Attrs attrs = rewrite_attrs(op.attrs, map);
  attrs.set("carried", static_cast<int64_t>(carried) + 1);
  std::vector<ValueId> values = b.emit_many(while_op, inputs, attrs, op.span, {any_alive, substitute(step.finish(next), map)});
  return loop_results(b, std::span(values).subspan(1), all, carried, op.span);
}

/// Where no lane is dead: a loop that a dead lane does not reach may not run there.
bool goes_by_lane(BatchContext& c, const Op& op, std::span<const BatchedValue> in) {
  return c.live() == no_value && std::any_of(in.begin(), in.end(), [](const BatchedValue& v) { return v.mapped; }) && writes_elements(op);
}

std::vector<BatchedValue> batch_while(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (goes_by_lane(c, op, in)) return c.loop_over_lanes(f, op, in);
  auto carried = static_cast<size_t>(op.attrs.get<int64_t>("carried"));
  Flags captures = flags_of(in.subspan(carried));
  auto forced = [&](const Flags& now) { return joined(now, Flags(op.outputs - carried, false)); };
  Flags carry = mapped_carry(flags_of(in.first(carried)), [&](const Flags& now) {
    return c.batch_closed(*op.bodies[1], joined(now, captures), forced(now), false).mapped;
  });
  auto condition = c.batch_closed(*op.bodies[0], joined(carry, captures), {false}, false);
  if (condition.mapped[0]) return masked_while(c, op, in, carried);
  auto body = c.batch_closed(*op.bodies[1], joined(carry, captures), forced(carry), false);
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < in.size(); ++i) inputs.push_back(i < carried && carry[i] ? c.mapped(in[i], op.span) : in[i].value);
  DimMap map;
  Attrs attrs = rewrite_attrs(op.attrs, map);
  std::vector<ValueId> values = c.out().emit_many(while_op, with_live(c, inputs), attrs, op.span,
                                                  {substitute(condition.function, map), substitute(body.function, map)});
  return loop_results(c.out(), values, body.mapped, carried, op.span);
}

// ---- scan(carry…, xs…, captures…) {body(index, carry…, slices…, captures…)}; attrs length, carried, consumed ----
// With attr "reverse" the indices run from the last to the first; what is stacked lies at its index all the same.
}  // namespace

std::vector<uint64_t> symbols_of_step(const Function& body, std::span<const Type> operands) {
  std::vector<uint64_t> out;
  collect_defined(body, out);
  for (size_t i = 0; i < operands.size(); ++i) {
    const Dims& row = body.type(body.params[i + 1]).dims;
    if (row.size() + 1 != operands[i].dims.size()) continue;   // carried or shared, not a row of it
    for (size_t k = 0; k < row.size(); ++k)
      if (operands[i].dims[k + 1].is_ragged() && row[k].symbol_id()) out.push_back(row[k].symbol_id());
  }
  return out;
}

namespace {

std::vector<Type> infer_scan(const InferInput& in) {
  int64_t carried = in.attrs.get<int64_t>("carried");
  TERCET_CHECK(in.bodies.size() == 1 && in.bodies[0]->params.size() == in.operands.size() + 1);
  std::vector<Type> out = carried_types(*in.bodies[0], 1, carried), results = in.bodies[0]->result_types();
  std::vector<uint64_t> own = symbols_of_step(*in.bodies[0], in.operands);
  for (size_t i = static_cast<size_t>(carried); i < results.size(); ++i) {
    for (Dim& d : results[i].dims)
      if (mentions(d, own)) d = Dim::ragged();   // each step its own size
    results[i].dims.insert(results[i].dims.begin(), in.attrs.get<Dim>("length"));
    out.push_back(results[i]);
  }
  return out;
}

/// The rows of a result whose steps differ in size.
Array stack_ragged(const Type& type, std::vector<Array> rows, EvalContext& context) {
  std::vector<bool> ragged;
  Shape rest;
  for (const Dim& d : std::span(type.dims).subspan(1)) {
    ragged.push_back(d.is_ragged());
    rest.push_back(d.is_ragged() ? 0 : d.eval(context.dims).value_or(0));
  }
  return stack_rows(type.dtype, std::move(rows), ragged, rest);
}

std::vector<Array> eval_scan(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  auto carried = static_cast<size_t>(op.attrs.get<int64_t>("carried")), consumed = static_cast<size_t>(op.attrs.get<int64_t>("consumed"));
  int64_t length = context.size(op.attrs.get<Dim>("length"));
  if (auto results = context.run_loop(f, op, in, length)) return std::move(*results);
  std::vector<Array> carry = taken(in.first(carried)), stacked(op.outputs - carried);
  bool by_lane = op.attrs.get_or<bool>("lanes", false);
  auto type_of = [&](size_t k) -> const Type& { return f.type(op.output(static_cast<uint32_t>(carried + k))); };
  std::vector<std::vector<Array>> uneven(stacked.size()), together;
  bool backwards = op.attrs.get_or<bool>("reverse", false);
  auto arguments_of = [&](int64_t i) {
    std::vector<Array> arguments{scalar_of_int(DType::I64, i)};
    for (Array& a : carry) arguments.push_back(std::move(a));
    for (size_t k = 0; k < consumed; ++k) arguments.push_back(row_of(in[carried + k], i));
    for (const Array& a : in.subspan(carried + consumed)) arguments.push_back(a);
    return arguments;
  };
  const bool done = by_lane && carried == 0 && context.run_lanes(*op.bodies[0], length, arguments_of, together);
  LoopSteps steps(length);
  for (int64_t step = 0; step < length; ++step) {
    context.poll();
    int64_t i = backwards ? length - 1 - step : step;
    if (by_lane && !done) context.push_lane(i);
    std::vector<Array> out = done ? std::move(together[static_cast<size_t>(i)]) : context.run_body(*op.bodies[0], arguments_of(i));
    if (by_lane && !done) context.pop_lane();
    for (size_t k = 0; k < stacked.size(); ++k) {
      const Array& row = out[carried + k];
      if (type_of(k).is_ragged()) {
        uneven[k].push_back(row);
        continue;
      }
      if (step == 0) {
        Shape shape = row.shape;
        shape.insert(0, length);
        stacked[k] = Array::make(row.dtype, shape);
      }
      store_row(stacked[k], i, row);
    }
    carry.assign(std::make_move_iterator(out.begin()), std::make_move_iterator(out.begin() + static_cast<std::ptrdiff_t>(carried)));
    steps.advance();
  }
  for (size_t k = 0; k < stacked.size(); ++k)
    if (type_of(k).is_ragged()) {
      if (backwards) std::reverse(uneven[k].begin(), uneven[k].end());
      stacked[k] = stack_ragged(type_of(k), std::move(uneven[k]), context);
    }
  if (length == 0)
    for (size_t k = 0; k < stacked.size(); ++k) {
      const Type& t = type_of(k);
      if (t.is_ragged()) continue;
      Shape shape;   // a size that the body would have defined is 0
      for (const Dim& d : t.dims) shape.push_back(d.eval(context.dims).value_or(0));
      stacked[k] = Array::zeros(t.dtype, shape);
    }
  for (Array& a : stacked) bundle_owners(a);
  carry.insert(carry.end(), std::make_move_iterator(stacked.begin()), std::make_move_iterator(stacked.end()));
  context.bind_defined(f, op, carry);
  return carry;
}

std::vector<BatchedValue> batch_scan(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (goes_by_lane(c, op, in)) return c.loop_over_lanes(f, op, in);
  Builder& b = c.out();
  auto carried = static_cast<size_t>(op.attrs.get<int64_t>("carried")), consumed = static_cast<size_t>(op.attrs.get<int64_t>("consumed"));
  Flags rest = flags_of(in.subspan(carried));
  auto operand_flags = [&](const Flags& carry) { return joined({false}, joined(carry, rest)); };
  auto forced = [&](const Flags& carry) { return joined(carry, Flags(op.outputs - carried, false)); };
  Flags carry = mapped_carry(flags_of(in.first(carried)), [&](const Flags& now) {
    Flags all = c.batch_closed(*op.bodies[0], operand_flags(now), forced(now), false).mapped;
    return Flags(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(carried));
  });
  auto body = c.batch_closed(*op.bodies[0], operand_flags(carry), forced(carry), false);
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < in.size(); ++i) {
    if (i < carried) inputs.push_back(carry[i] ? c.mapped(in[i], op.span) : in[i].value);
    else inputs.push_back(i < carried + consumed && in[i].mapped ? swap_front(b, in[i].value, op.span) : in[i].value);
  }
  DimMap map;
  Attrs attrs = rewrite_attrs(op.attrs, map);
  attrs.set("length", c.size(op.attrs.get<Dim>("length")));
  std::vector<ValueId> values = b.emit_many(scan_op, with_live(c, inputs), attrs, op.span, {substitute(body.function, map)});
  return loop_results(b, values, body.mapped, carried, op.span);
}

// ---- call(arguments…) {callee} ----
std::vector<Type> infer_call(const InferInput& in) {
  if (in.attrs.has("recursive")) {
    std::vector<Type> out = recursive_callee(in.attrs).results;
    const Dims& fresh = in.attrs.get<Dims>("defines");
    size_t next = 0;
    for (Type& t : out)
      for (Dim& d : t.dims)
        if (!d.constant()) d = fresh.at(next++);
    return out;
  }
  DimMap map;
  const Function& callee = *in.bodies[0];
  TERCET_CHECK(callee.params.size() == in.operands.size());
  for (size_t i = 0; i < in.operands.size(); ++i) bind_sizes(callee.type(callee.params[i]).dims, in.operands[i].dims, map);
  std::vector<Dim> fresh = in.attrs.get_or<Dims>("defines", {});
  size_t next = 0;
  std::vector<Type> out = callee.result_types();
  for (Type& t : out)
    for (Dim& d : t.dims) {
      std::vector<uint64_t> symbols;
      d.collect_symbols(symbols);
      // A size that only the callee knows gets one of the call's own names.
      bool known = std::all_of(symbols.begin(), symbols.end(), [&](uint64_t s) { return map.count(s) != 0; });
      if (known) d = d.substitute(map);
      else TERCET_CHECK(next < fresh.size()), d = fresh[next++];
    }
  return out;
}

std::vector<Array> eval_call(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  std::vector<Array> out = context.call(op, taken(in));
  context.bind_defined(f, op, out);
  return out;
}

std::vector<BatchedValue> batch_call(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  return c.batch_call(f, op, in);
}
std::vector<BatchedValue> flat_call(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (op.attrs.has("recursive") || op.bodies.empty()) fail_lane_dependent(op.span);
  return c.batch_call(f, op, in);
}

constexpr OpDef control_row(const char* name, const char* doc, Effect effect, InferRule infer, EvalRule eval, ByRule diff, BatchFn batch, BatchFn flat = nullptr) {
  return {.name = name, .doc = doc, .surface = Internal{}, .effect = effect, .ragged = RaggedRule::Whole, .infer = infer, .eval = eval,
          .batch = BatchCustom{batch, flat}, .diff = diff, .code = CodeControl{}, .samples = nullptr};
}

}  // namespace

const OpDef cond_op = control_row("cond", "One of two bodies.", Effect::Pure, infer_cond, eval_cond, ByRule{nullptr, reverse_cond}, batch_cond, flat_cond);
const OpDef while_op = control_row("while", "A body again and again while a condition holds.", Effect::Endless, infer_while, eval_while, ByRule{forward_while, reverse_while}, batch_while);
const OpDef scan_op = control_row("scan", "A body once for each index, with carried values and stacked results.", Effect::Pure, infer_scan, eval_scan, ByRule{forward_scan, reverse_scan}, batch_scan);
const OpDef call_op = control_row("call", "A function of its own: compiled, or recursive.", Effect::Pure, infer_call, eval_call, ByRule{forward_call, reverse_call}, batch_call, flat_call);

namespace {
constexpr const OpDef* rows[] = {&cond_op, &while_op, &scan_op, &call_op};
}
const Family control_rows = rows;

}  // namespace tercet
