#include "interpreter/passes/batch.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "interpreter/ir/jit_entry.h"
#include "interpreter/ir/rewrite.h"
#include "interpreter/ops/jit_call.h"
#include "interpreter/ops/rows.h"
#include "interpreter/ops/row_ops.h"
#include "interpreter/passes/common_keys.h"
#include "interpreter/passes/packings.h"

namespace tercet {
namespace {

class Batcher final : public BatchContext {
 public:
  Batcher(Builder& out, const Dim& lanes, int64_t level, ValueId live, DimMap sizes, std::shared_ptr<Packings> packings = nullptr)
      : out_(out), lanes_(lanes), level_(level), live_(live), sizes_(std::move(sizes)), packings_(std::move(packings)) {
    if (!packings_) packings_ = std::make_shared<Packings>(out, lanes);
  }

  Builder& out() override { return out_; }
  const Dim& lanes() const override { return lanes_; }
  int64_t level() const override { return level_; }
  ValueId live() const override { return live_; }
  Dim size(const Dim& d) const override {
    Dim known = in_lane_terms(d);
    if (varies(known)) fail_lane_dependent({});
    return known;
  }
  std::vector<Dim> sizes(const std::vector<Dim>& d) const override {
    std::vector<Dim> all;
    for (const Dim& one : d) all.push_back(size(one));
    return all;
  }

  using BatchContext::varies;
  bool varies(const Dim& d) const override {
    Dim known = in_lane_terms(d);
    return packings_->varies(known) || (outer_ && outer_->varies(known));
  }
  const Packing& packing(const Dim& d, Span span) override { return packings_->of(own(d, span), span); }
  ValueId sizes_of_lanes(const Dim& d, Span span) override { return packings_->in_lanes(own(d, span), span); }
  ValueId ids(const Packing& p, Span span) override { return packings_->ids(p, span); }
  ValueId places(const Packing& p, Span span) override { return packings_->places(p, span); }
  const Packing& define(const Dim& symbol, const Dim& total, ValueId offsets, Span span) override {
    return packings_->define(renamed(symbol), total, offsets, span);
  }
  const Packing& define(const Dim& symbol, ValueId lengths, Span span) override { return packings_->define(renamed(symbol), lengths, span); }
  /// From here on the lane's symbol is the size of these lanes.
  void share(const Dim& symbol, const Packing& packing) { sizes_[symbol.symbol_id()] = packing.size; }

  BatchedValue packed(BatchedValue v, Span span) override {
    if (v.packing) return v;
    std::vector<Dim> dims = out_.type(mapped(v, span)).dims;
    TERCET_CHECK(dims.size() > 1);
    const Packing& p = packings_->uniform(dims[1], span);
    dims.erase(dims.begin());
    dims[0] = p.total;
    return {out_.emit(reshape_op, {mapped(v, span)}, {{"dims", dims}}, span), true, &p};
  }
  ValueId as_ragged(BatchedValue v, Span span) override { return out_.emit(rows_at_op, {v.value, v.packing->offsets}, {}, span); }

  ValueId mapped(BatchedValue v, Span span) override {
    if (v.packing) fail_lane_dependent(span);
    if (v.mapped) return v.value;
    const Type& type = out_.type(v.value);
    std::vector<Dim> dims = type.dims;
    dims.insert(dims.begin(), lanes_);
    std::vector<int64_t> axes;
    for (int k = 0; k < type.rank(); ++k) axes.push_back(k + 1);
    return out_.emit(broadcast_op, {v.value}, {{"dims", dims}, {"axes", axes}}, span);
  }

  std::vector<BatchedValue> run(const Function& f, std::span<const BatchedValue> arguments) {
    std::unordered_map<ValueId, BatchedValue> values;
    for (size_t i = 0; i < f.params.size(); ++i) {
      values[f.params[i]] = arguments[i];
      bind_sizes(f.type(f.params[i]).dims, in_lane_terms(lane_type(arguments[i]).dims), sizes_);
    }
    for (const Op& op : f.ops) {
      std::vector<BatchedValue> in;
      for (ValueId v : op.inputs) in.push_back(values.at(v));
      std::vector<BatchedValue> results = batch_op(f, op, in);
      for (uint32_t i = 0; i < results.size(); ++i) {
        values[op.output(i)] = results[i];
        note_result_sizes(f, op, i, results[i]);
      }
    }
    std::vector<BatchedValue> out;
    for (ValueId r : f.results) out.push_back(values.at(r));
    return out;
  }

  std::vector<BatchedValue> batch_body(const Function& body, std::span<const BatchedValue> operands, ValueId live) override {
    Batcher inner(out_, lanes_, level_, live == no_value ? live_ : live, sizes_, packings_);
    inner.outer_ = outer_;
    return inner.run(body, operands);
  }

  ClosedBody batch_closed(const Function& body, const std::vector<bool>& mapped, const std::vector<bool>& force,
                          bool masked) override {
    Builder inner(body.name);
    std::vector<BatchedValue> arguments;
    for (size_t i = 0; i < body.params.size(); ++i) {
      Type type = body.type(body.params[i]);
      for (Dim& d : type.dims) d = size(d);
      if (mapped[i]) type.dims.insert(type.dims.begin(), lanes_);
      arguments.push_back({inner.param(std::move(type)), mapped[i]});
    }
    ValueId live = live_ != no_value || masked ? inner.param({DType::Bool, {lanes_}}) : no_value;
    Batcher nested(inner, lanes_, level_, live, sizes_);
    nested.outer_ = this;
    std::vector<BatchedValue> results = nested.run(body, arguments);
    ClosedBody out;
    std::vector<ValueId> ids;
    for (size_t i = 0; i < results.size(); ++i) {
      bool as_mapped = results[i].mapped || (i < force.size() && force[i]);
      ids.push_back(as_mapped ? nested.mapped(results[i], {}) : results[i].value);
      out.mapped.push_back(as_mapped);
    }
    out.function = inner.finish(std::move(ids));
    return out;
  }

  std::vector<BatchedValue> emit_shared(const Function&, const Op& op, std::span<const BatchedValue> operands) override {
    std::vector<ValueId> inputs;
    for (const BatchedValue& v : operands) inputs.push_back(v.value);
    Attrs attrs = rewrite_attrs(op.attrs, sizes_);
    std::vector<FunctionPtr> bodies;
    for (const FunctionPtr& body : op.bodies) bodies.push_back(substitute(body, sizes_));
    std::vector<BatchedValue> out;
    for (ValueId v : out_.emit_many(*op.def, std::move(inputs), std::move(attrs), op.span, std::move(bodies))) out.push_back({v, false});
    return out;
  }

  /// A scan over the lanes whose body is the operation alone.
  std::vector<BatchedValue> loop_over_lanes(const Function&, const Op& op, std::span<const BatchedValue> operands) override {
    if (bodies_vary(op)) fail_lane_dependent(op.span);
    Builder body("lane");
    body.param({DType::I64, {}});
    std::vector<ValueId> inputs, slices(operands.size());
    int64_t consumed = 0;
    for (int pass = 0; pass < 2; ++pass)   // mapped operands are consumed, the others captured
      for (size_t i = 0; i < operands.size(); ++i)
        if (operands[i].mapped == (pass == 0)) {
          inputs.push_back(pass == 0 ? operands[i].value : mark_at_border(out_, operands[i].value, "opaque", op.span));
          slices[i] = body.param(lane_type(operands[i]));
          consumed += pass == 0;
        }
    DimMap map = sizes_;
    std::vector<FunctionPtr> bodies;
    Attrs inner_attrs = rewrite_attrs(op.attrs, map);
    for (const FunctionPtr& b : op.bodies) bodies.push_back(substitute(b, map));
    FunctionPtr lane = body.finish(body.emit_many(*op.def, slices, inner_attrs, op.span, bodies));
    Attrs attrs{{"length", lanes_}, {"carried", int64_t{0}}, {"consumed", consumed}, {"lanes", true}};
    std::vector<BatchedValue> out;
    for (ValueId v : out_.emit_many(scan_op, std::move(inputs), std::move(attrs), op.span, {lane}))
      out.push_back({mark_at_border(out_, v, "own", op.span), true});
    return out;
  }

  std::vector<BatchedValue> batch_call(const Function& f, const Op& op, std::span<const BatchedValue> operands) override {
    if (op.attrs.has("recursive")) return loop_over_lanes(f, op, operands);
    // Under a mask of live lanes the callee's own operations join the batch: its checks must see the mask.
    // So do the effects of a callee that maps nothing: it alone would not know how many lanes there are.
    bool any_mapped = std::any_of(operands.begin(), operands.end(), [](const BatchedValue& v) { return v.mapped; });
    if (!op.attrs.has("jit") || live_ != no_value || !any_mapped) return batch_body(*op.bodies[0], operands, no_value);
    bool rows = std::any_of(operands.begin(), operands.end(), [](const BatchedValue& v) { return v.packing != nullptr; });
    return rows ? call_batched_rows(f, op, operands) : call_batched(op, operands);
  }

 private:
  /// A compiled callee keeps being one: its batched version is compiled, once for all callers that map alike.
  std::vector<BatchedValue> call_batched(const Op& op, std::span<const BatchedValue> operands) {
    JitEntry& entry = jit_entry(op.attrs);
    std::string key = meets_over(*entry.function, level_) ? std::to_string(level_) : "";
    std::vector<bool> flags;
    std::vector<ValueId> inputs;
    for (const BatchedValue& v : operands) {
      key += v.mapped ? 'm' : '_';
      flags.push_back(v.mapped);
      inputs.push_back(v.value);
    }
    std::scoped_lock lock(entry.mutex);
    std::shared_ptr<JitEntry>& batched = entry.batched[key];
    if (!batched) {
      BatchedFunction f = batch_function(*entry.function, flags, Dim::symbol("lanes"), false, level_);
      batched = std::make_shared<JitEntry>();
      batched->function = f.function;
      batched->results_mapped = f.mapped;
      batched->counter = entry.counter;
      batched->options = entry.options;
    }
    std::vector<BatchedValue> out;
    std::vector<ValueId> values = emit_jit_call(out_, batched, std::move(inputs), op.span);
    for (size_t i = 0; i < values.size(); ++i) out.push_back({values[i], batched->results_mapped[i]});
    return out;
  }

  /// The same with lanes whose sizes differ: rows of different length go in and come out.
  std::vector<BatchedValue> call_batched_rows(const Function& f, const Op& op, std::span<const BatchedValue> operands) {
    JitEntry& entry = jit_entry(op.attrs);
    std::string key = meets_over(*entry.function, level_) ? std::to_string(level_) : "";
    std::vector<ValueId> inputs;
    for (const BatchedValue& v : operands) {
      key += v.packing ? 'r' : v.mapped ? 'm' : '_';
      inputs.push_back(v.packing ? as_ragged(v, op.span) : v.value);
    }
    std::scoped_lock lock(entry.mutex);
    std::shared_ptr<JitEntry>& batched = entry.batched[key];
    if (!batched) {
      auto made = std::make_shared<JitEntry>();
      made->function = function_of_rows(*entry.function, operands, made->results_mapped);
      made->counter = entry.counter;
      made->options = entry.options;
      batched = std::move(made);
    }
    std::vector<BatchedValue> out;
    std::vector<ValueId> values = emit_jit_call(out_, batched, std::move(inputs), op.span);
    for (uint32_t i = 0; i < values.size(); ++i) {
      out.push_back({values[i], batched->results_mapped[i]});
      if (out_.type(values[i]).is_ragged()) out.back() = unpacked_result(f, op, i, values[i]);
    }
    return out;
  }

  FunctionPtr function_of_rows(const Function& callee, std::span<const BatchedValue> operands, std::vector<bool>& results_mapped) {
    Builder b(callee.name);
    const Dim lanes = Dim::symbol("lanes");
    std::vector<BatchedValue> arguments;
    for (size_t i = 0; i < operands.size(); ++i) {
      Type type = callee.type(callee.params[i]);
      if (operands[i].packing) type.dims[0] = Dim::ragged();
      if (operands[i].mapped) type.dims.insert(type.dims.begin(), lanes);
      arguments.push_back({b.param(std::move(type)), operands[i].mapped});
    }
    std::vector<ValueId> results;
    for (const BatchedValue& v : batch_into(b, callee, arguments, lanes, level_)) {
      results.push_back(v.value);
      results_mapped.push_back(v.mapped);
    }
    return b.finish(std::move(results));
  }

  /// Rows that a callee gave: of a size that is known to differ already, or of one that the call defines.
  BatchedValue unpacked_result(const Function& f, const Op& op, uint32_t i, ValueId rows) {
    const Dim size = f.type(op.output(i)).dims[0];
    const bool known = varies(size);
    Dim total = Dim::symbol("total");
    ValueId values = out_.emit(*find_op("flatten"), {rows}, {{"defines", total}}, op.span);
    if (!known) {
      if (!size.symbol_id()) fail_lane_dependent(op.span);
      return {values, true, &define(size, total, out_.emit(row_offsets_op, {rows}, {}, op.span), op.span)};
    }
    const Packing& p = packing(size, op.span);
    std::vector<Dim> dims = out_.type(values).dims;
    dims[0] = p.total;
    return {out_.emit(reshape_op, {values}, {{"dims", dims}}, op.span), true, &p};
  }

  std::vector<BatchedValue> batch_op(const Function& f, const Op& op, std::span<const BatchedValue> in) {
    try {
      return batch_by_rule(f, op, in);
    } catch (const RaggedOperand&) {
      fail_lane_dependent(op.span);
    }
  }

  std::vector<BatchedValue> batch_by_rule(const Function& f, const Op& op, std::span<const BatchedValue> in) {
    if (is_uneven(f, op, in)) return batch_uneven(f, op, in);
    bool any_mapped = std::any_of(in.begin(), in.end(), [](const BatchedValue& v) { return v.mapped; });
    if (!any_mapped && !has_effects(op) && !meets_over(op, level_) && !bodies_vary(op)) return emit_shared(f, op, in);
    if (auto* custom = std::get_if<BatchCustom>(&op.def->batch)) return custom->rule(*this, f, op, in);
    if (std::holds_alternative<BatchByLoop>(op.def->batch)) return loop_over_lanes(f, op, in);
    return elementwise(op, in);
  }

  /// Does a size that it reads, makes or names differ between lanes?
  bool is_uneven(const Function& f, const Op& op, std::span<const BatchedValue> in) const {
    for (const BatchedValue& v : in)
      if (v.packing) return true;
    bool uneven = false;
    for (uint32_t i = 0; i < op.outputs; ++i)
      for (const Dim& d : f.type(op.output(i)).dims) uneven |= varies(d);
    for (auto& [name, attr] : op.attrs.items())
      if (name != "defines") for_each_dim(attr, [&](const Dim& d) { uneven |= varies(d); });
    return uneven;
  }

  /// Does a body name a size that differs between lanes?
  bool bodies_vary(const Op& op) const {
    std::vector<uint64_t> symbols;
    for (const FunctionPtr& body : op.bodies) collect_symbols(*body, symbols);
    return std::any_of(symbols.begin(), symbols.end(), [&](uint64_t s) {
      auto known = sizes_.find(s);
      return known != sizes_.end() && varies(known->second);
    });
  }

  std::vector<BatchedValue> batch_uneven(const Function& f, const Op& op, std::span<const BatchedValue> in) {
    auto* custom = std::get_if<BatchCustom>(&op.def->batch);
    if (custom && custom->flat) return custom->flat(*this, f, op, in);
    if (!std::holds_alternative<BatchElementwise>(op.def->batch)) fail_lane_dependent(op.span);
    std::vector<ValueId> inputs;
    for (const BatchedValue& v : in) {
      if (!v.packing || v.packing != in[0].packing) fail_lane_dependent(op.span);
      inputs.push_back(v.value);
    }
    return {{out_.emit(*op.def, std::move(inputs), rewrite_attrs(op.attrs, sizes_), op.span), true, in[0].packing}};
  }

  /// A body that is batched twice defines its symbols twice: each time they get names of their own.
  Dim renamed(const Dim& symbol) { return sizes_[symbol.symbol_id()] = Dim::symbol(symbol.text()); }
  Dim in_lane_terms(const Dim& d) const { return d.substitute(sizes_); }
  std::vector<Dim> in_lane_terms(std::vector<Dim> dims) const {
    for (Dim& d : dims) d = in_lane_terms(d);
    return dims;
  }
  /// A size in the lane's terms whose symbols are this function's; those of an enclosing one have no values here.
  Dim own(const Dim& d, Span span) const {
    Dim known = in_lane_terms(d);
    if (outer_ && outer_->varies(known)) fail_lane_dependent(span);
    return known;
  }

  std::vector<BatchedValue> elementwise(const Op& op, std::span<const BatchedValue> in) {
    std::vector<ValueId> inputs;
    for (const BatchedValue& v : in) inputs.push_back(mapped(v, op.span));
    return {{out_.emit(*op.def, std::move(inputs), rewrite_attrs(op.attrs, sizes_), op.span), true}};
  }

  /// A symbol that the original got from this result means, from here on, what the batched result has in its place.
  void note_result_sizes(const Function& f, const Op& op, uint32_t i, BatchedValue result) {
    if (!op.attrs.has("defines")) return;
    std::vector<Dim> made = f.type(op.output(i)).dims;
    if (!varies(made)) bind_sizes(made, lane_type(result).dims, sizes_);
  }

  Builder& out_;
  Dim lanes_;
  int64_t level_;
  ValueId live_;
  DimMap sizes_;
  std::shared_ptr<Packings> packings_;   // of out_
  const Batcher* outer_ = nullptr;       // a closed body's: of the function around it
};

}  // namespace

void fail_lane_dependent(Span span) {
  Diagnostic d;
  d.kind = Kind::Unsupported;
  d.span = span;
  d.message = "a size that differs between lanes, inside a loop or branch whose lanes differ";
  d.help = "give every lane the same size and mask what is left over";
  throw LaneDependentSize(std::move(d));
}

std::vector<BatchedValue> batch_into(Builder& out, const Function& f, std::span<const BatchedValue> arguments, const Dim& lanes,
                                     int64_t level) {
  Batcher batcher(out, lanes, level, no_value, {});
  std::vector<BatchedValue> flat(arguments.begin(), arguments.end());
  struct Parts { ValueId values = no_value; const Packing* packing = nullptr; };
  std::map<ValueId, Parts> known;   // an array that is mapped twice is taken apart once
  for (size_t i = 0; i < flat.size(); ++i) {
    BatchedValue& v = flat[i];
    const Type type = out.type(v.value), in_lane = f.type(f.params[i]);
    if (!v.mapped || !type.is_ragged()) continue;
    if (!type.dims[1].is_ragged() || in_lane.is_ragged()) fail_lane_dependent({});
    Parts& parts = known[v.value];
    if (!parts.packing && batcher.varies(in_lane.dims[0])) {   // rows that were checked to be as long as others
      parts.packing = &batcher.packing(in_lane.dims[0], {});
      ValueId values = out.emit(*find_op("flatten"), {v.value}, {{"defines", Dim::symbol("total")}});
      std::vector<Dim> dims = out.type(values).dims;
      dims[0] = parts.packing->total;
      parts.values = out.emit(reshape_op, {values}, {{"dims", dims}});
    } else if (parts.packing) {
      batcher.share(in_lane.dims[0], *parts.packing);
    } else {
      Dim total = Dim::symbol("total");
      parts.values = out.emit(*find_op("flatten"), {v.value}, {{"defines", total}});
      parts.packing = &batcher.define(in_lane.dims[0], total, out.emit(row_offsets_op, {v.value}), {});
    }
    v = {parts.values, true, parts.packing};
  }
  std::vector<BatchedValue> results = batcher.run(f, flat);
  for (BatchedValue& v : results)
    if (v.packing) v = {batcher.as_ragged(v, {}), true};
  return results;
}

BatchedFunction batch_function(const Function& f, const std::vector<bool>& mapped, const Dim& lanes, bool force_mapped, int64_t level) {
  Builder scratch("unused");
  Batcher batcher(scratch, lanes, level, no_value, {});
  auto closed = batcher.batch_closed(f, mapped, std::vector<bool>(f.results.size(), force_mapped), false);
  return {closed.function, closed.mapped};
}

}  // namespace tercet
