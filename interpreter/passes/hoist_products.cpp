#include "interpreter/passes/hoist_products.h"

#include <algorithm>
#include <unordered_map>

#include "interpreter/ir/batching.h"
#include "interpreter/ir/op_def.h"
#include "interpreter/ops/rows.h"
#include "interpreter/passes/batch.h"
#include "interpreter/passes/replace_ops.h"

namespace tercet {
namespace {

/// A loop's body, and its products that depend on rows and on nothing that the loop changes.
struct Loop {
  const Function& body;
  size_t carried, consumed;
  std::vector<const Op*> products;

  explicit Loop(const Op& op)
      : body(*op.bodies[0]), carried(static_cast<size_t>(op.attrs.get<int64_t>("carried"))), consumed(static_cast<size_t>(op.attrs.get<int64_t>("consumed"))) {
    find_products();
  }
  /// The body's parameters: the index, carried values, rows, and what all steps share.
  ValueId row(size_t k) const { return body.params[1 + carried + k]; }
  ValueId shared(size_t k) const { return body.params[1 + carried + consumed + k]; }
  size_t shared_count() const { return body.params.size() - 1 - carried - consumed; }

 private:
  /// Of matrices: a vector's product has another order of its sum than the product of many vectors at once.
  bool is_product(const Op& op) const {
    if (op.def != &dot_op) return false;
    const auto fixed = static_cast<size_t>(op.attrs.get<int64_t>("batch")) + op.attrs.get<std::vector<int64_t>>("lhs").size();
    return std::all_of(op.inputs.begin(), op.inputs.end(), [&](ValueId v) { return body.type(v).dims.size() > fixed; });
  }

  void find_products() {
    std::vector<bool> of_step(body.types.size()), of_row(body.types.size());   // hangs on the index or carried values; on a row
    for (size_t i = 0; i < 1 + carried; ++i) of_step[body.params[i]] = true;
    for (size_t k = 0; k < consumed; ++k) {
      if (body.type(row(k)).is_ragged()) return;
      of_row[row(k)] = true;
    }
    for (const Op& op : body.ops) {
      bool step = op.def->effect != Effect::Pure || !op.bodies.empty() || op.attrs.has("defines"), rows = false;
      for (ValueId v : op.inputs) step = step || of_step[v], rows = rows || of_row[v];
      for (uint32_t i = 0; i < op.outputs; ++i) of_step[op.output(i)] = step, of_row[op.output(i)] = rows;
      if (!step && rows && is_product(op)) products.push_back(&op);
    }
  }
};

bool is_loop(const Op& op) {
  return op.def == &scan_op && op.attrs.get<int64_t>("carried") > 0 && op.attrs.get<int64_t>("consumed") > 0 && !op.attrs.has("defines") &&
         !op.attrs.get_or<bool>("lanes", false);
}

/// The products of one row as a function of the rows and of what is shared.
FunctionPtr products_of_row(const Loop& loop) {
  Builder b("products");
  std::unordered_map<ValueId, ValueId> values;
  for (size_t k = 0; k < loop.consumed; ++k) values[loop.row(k)] = b.param(loop.body.type(loop.row(k)));
  for (size_t k = 0; k < loop.shared_count(); ++k) values[loop.shared(k)] = b.param(loop.body.type(loop.shared(k)));
  for (const Op& op : loop.body.ops) {   // what hangs on the step is left out, and what no product needs is dropped
    std::vector<ValueId> inputs;
    for (ValueId v : op.inputs)
      if (values.count(v)) inputs.push_back(values.at(v));
    if (inputs.size() != op.inputs.size() || op.def->effect != Effect::Pure || !op.bodies.empty() || op.attrs.has("defines")) continue;
    std::vector<ValueId> results = b.emit_many(*op.def, std::move(inputs), op.attrs, op.span);
    for (uint32_t i = 0; i < op.outputs; ++i) values[op.output(i)] = results[i];
  }
  std::vector<ValueId> results;
  for (const Op* op : loop.products) results.push_back(values.at(op->output()));
  return b.finish(std::move(results));
}

/// The body that gets the products with its rows.
FunctionPtr body_without(const Loop& loop) {
  Builder b(loop.body.name);
  std::unordered_map<ValueId, ValueId> values;
  const size_t before = 1 + loop.carried + loop.consumed;
  for (size_t i = 0; i < before; ++i) values[loop.body.params[i]] = b.param(loop.body.type(loop.body.params[i]));
  for (const Op* op : loop.products) values[op->output()] = b.param(loop.body.type(op->output()));
  for (size_t i = before; i < loop.body.params.size(); ++i) values[loop.body.params[i]] = b.param(loop.body.type(loop.body.params[i]));
  for (const Op& op : loop.body.ops) {
    if (values.count(op.output())) continue;
    std::vector<ValueId> inputs;
    for (ValueId v : op.inputs) inputs.push_back(values.at(v));
    std::vector<ValueId> results = b.emit_many(*op.def, std::move(inputs), op.attrs, op.span, op.bodies);
    for (uint32_t i = 0; i < op.outputs; ++i) values[op.output(i)] = results[i];
  }
  std::vector<ValueId> results;
  for (ValueId r : loop.body.results) results.push_back(values.at(r));
  return b.finish(std::move(results));
}

std::vector<ValueId> emit_hoisted(Builder& b, const Op& op) {
  const Loop loop(op);
  auto as_it_was = [&] { return b.emit_many(*op.def, op.inputs, op.attrs, op.span, op.bodies); };
  std::vector<BatchedValue> arguments;
  for (size_t i = loop.carried; i < op.inputs.size(); ++i) arguments.push_back({op.inputs[i], i < loop.carried + loop.consumed});
  std::vector<BatchedValue> products;
  try {
    products = batch_into(b, *products_of_row(loop), arguments, op.attrs.get<Dim>("length"));
  } catch (const LaneDependentSize&) {
    return as_it_was();
  }
  std::vector<ValueId> inputs(op.inputs.begin(), op.inputs.begin() + static_cast<ptrdiff_t>(loop.carried + loop.consumed));
  for (const BatchedValue& v : products) {
    if (!v.mapped || v.packing || b.type(v.value).is_ragged()) return as_it_was();
    inputs.push_back(v.value);
  }
  inputs.insert(inputs.end(), op.inputs.begin() + static_cast<ptrdiff_t>(loop.carried + loop.consumed), op.inputs.end());
  Attrs attrs = op.attrs;
  attrs.set("consumed", static_cast<int64_t>(loop.consumed + products.size()));
  return b.emit_many(*op.def, std::move(inputs), std::move(attrs), op.span, {body_without(loop)});
}

}  // namespace

FunctionPtr hoist_products(const FunctionPtr& f) {
  return replace_ops(f, {[](const Function&, const Op& op) { return is_loop(op) && !Loop(op).products.empty(); }, emit_hoisted});
}

}  // namespace tercet
