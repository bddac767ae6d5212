#include "codegen/run/frame.h"

#include <algorithm>

#include "codegen/run/band.h"
#include "codegen/run/context.h"
#include "codegen/run/launch.h"
#include "codegen/run/loop.h"
#include "codegen/run/threads.h"
#include "interpreter/runtime/parallel.h"

namespace tercet::codegen {
namespace {

constexpr int64_t small_operands = 64 << 10;  // bytes; less is not worth entering an arena for

int64_t total_bytes(std::span<const Array> arrays) {
  int64_t bytes = 0;
  for (const Array& a : arrays) bytes += a.ragged ? small_operands : a.bytes();
  return bytes;
}

}  // namespace

std::vector<Array> ProgramFrame::run(std::vector<Array> arguments) {
  const Function& f = *p_.function;
  TERCET_CHECK(arguments.size() == f.params.size());
  check_stack(Span::of_call());
  if (values_.empty()) {
    values_.resize(f.types.size());
    sizes_.resize(p_.sizes.slot_count());
  }
  for (const auto& [v, array] : p_.constants) values_[v] = array;
  for (size_t i = 0; i < arguments.size(); ++i) values_[f.params[i]] = std::move(arguments[i]);
  for (const SizeTable::Symbol& s : p_.sizes.free_symbols())
    if (auto known = context_.dims.find(s.id); known != context_.dims.end())
      sizes_[static_cast<size_t>(s.slot)] = known->second;
  bind(p_.parameters);
  p_.sizes.evaluate(0, sizes_.data());
  auto band = p_.bands.begin();
  for (size_t at = 0; at < p_.steps.size(); ++at) {
    if (band != p_.bands.end() && band->first == at) {
      bool done = run_band(*band);
      at += done ? band->count : 0;
      ++band;
      if (at == p_.steps.size()) break;
    }
    step_ = &p_.steps[at];
    context_.poll();
    std::visit([&](const auto& step) { run_step(step); }, step_->what);
    bind(step_->binds);  // from shapes, also of what nobody reads
    for (ValueId v : step_->dies) values_[v] = Array{};
    if (!step_->binds.empty()) p_.sizes.evaluate(static_cast<int>(at) + 1, sizes_.data());
  }
  std::vector<Array> results;
  results.reserve(f.results.size());
  for (ValueId v : f.results) results.push_back(values_[v]);
  for (Array& a : values_)
    if (a.buffer) a = Array{};
  return results;
}

/// Runs the steps of a band together where that pays; false when they are left to run one after another.
bool ProgramFrame::run_band(const Band& band) {
  std::span<const Step> steps(p_.steps.data() + band.first, band.count);
  for (const Step& s : steps)
    if (!is_possible(std::get<KernelStep>(s.what))) return false;
  const BandLaunch launch{p_, band, code_for(steps), sizes_.data(), options_};
  if (!runs_in_blocks(launch)) return false;
  context_.poll();
  for (const Step& s : steps) {
    const KernelStep& step = std::get<KernelStep>(s.what);
    require_readable(step);
    for (size_t k = 0; k < step.written.size(); ++k)
      if (std::find(band.scratch.begin(), band.scratch.end(), step.written[k]) == band.scratch.end())
        values_[step.written[k]] = output(step, k);
  }
  if (codegen::run_band(launch, values_, context_)) throw CheckFailed{};
  for (const Step& s : steps)
    for (ValueId v : s.dies) values_[v] = Array{};
  return true;
}

/// All of its sizes can be.
bool ProgramFrame::is_possible(const KernelStep& step) const {
  auto good = [&](SizeSlot s) { return sizes_[static_cast<size_t>(s)] > 0; };
  return std::all_of(step.extents.begin(), step.extents.end(), good);
}

void ProgramFrame::bind(const std::vector<Binding>& bindings) {
  for (const Binding& b : bindings) {
    int64_t& size = sizes_[static_cast<size_t>(b.slot)];
    if (b.value == no_value)
      size = context_.dims[b.symbol];
    else
      size = values_[b.value].shape[b.axis];
    if (p_.needs_environment) context_.dims[b.symbol] = size;
  }
}

// A size that cannot be means that a check is about to fail, in this step or one that was moved behind it.
Shape ProgramFrame::shape_of(ValueId v) const {
  Shape shape;
  for (SizeSlot s : p_.shapes[v]) {
    if (sizes_[static_cast<size_t>(s)] < 0) throw CheckFailed{};
    shape.push_back(sizes_[static_cast<size_t>(s)]);
  }
  return shape;
}

// Where there is nothing to read, a check fails too, or no lane is alive: the reference knows.
void ProgramFrame::require_readable(const KernelStep& step) const {
  for (SizeSlot s : step.extents)
    if (sizes_[static_cast<size_t>(s)] <= 0) return;
  for (SizeSlot s : step.bounds)
    if (sizes_[static_cast<size_t>(s)] < 0) throw CheckFailed{};
}

Array ProgramFrame::output(const KernelStep& step, size_t k) {
  ValueId v = step.written[k];
  DType dtype = p_.function->type(v).dtype;
  Shape shape = shape_of(v);
  if (ValueId from = step.reuse[k]; from != no_value && values_[from].shape == shape && values_[from].unique()) {
    Array out = values_[from];
    out.dtype = dtype;
    out.weak = false;
    return out;
  }
  return Array::make(dtype, shape);
}

std::span<const int64_t> ProgramFrame::extents_of(const KernelStep& step) {
  extents_.clear();
  for (SizeSlot s : step.extents) extents_.push_back(sizes_[static_cast<size_t>(s)]);
  return extents_;
}

const std::vector<KernelFunction>& ProgramFrame::code_for(std::span<const Step> steps) {
  if (code_.counts()) {
    int64_t work = 0;
    for (const Step& s : steps) {
      const KernelStep& step = std::get<KernelStep>(s.what);
      work += work_of(p_.kernels[step.kernel], extents_of(step));
    }
    code_.will_run(work, options_.threads);
  }
  return code_.now().kernels[p_.number];
}

void ProgramFrame::run_step(const KernelStep& step) {
  const Kernel& kernel = p_.kernels[step.kernel];
  require_readable(step);
  for (size_t k = 0; k < step.written.size(); ++k) values_[step.written[k]] = output(step, k);
  buffers_.clear();
  for (ValueId v : kernel.buffers) buffers_.push_back(values_[v].raw());
  KernelFunction code = code_for({step_, 1})[step.kernel];
  Launch launch{kernel, code, extents_of(step), buffers_, sizes_.data(), options_};
  if (run_kernel(launch, context_)) throw CheckFailed{};
}

void ProgramFrame::run_step(const AliasStep& step) {
  const Array& from = values_[step.from];
  Shape to = shape_of(step.to);
  // In code that no lane reaches the sizes need not go together.
  values_[step.to] = element_count(to) == from.count() ? from.reshaped(to) : Array::zeros(from.dtype, to);
}

void ProgramFrame::run_step(const CopyStep& step) {
  bool last = std::find(step_->dies.begin(), step_->dies.end(), step.from) != step_->dies.end();
  Array from = last ? std::move(values_[step.from]) : values_[step.from];
  values_[step.to] = std::move(from).owned();
}

std::vector<Array> ProgramFrame::operands_of(const Op& op) {
  constexpr size_t few = 8;   // of many, comparing each with all others takes longer than sharing them for a moment
  std::vector<Array> operands;
  if (op.inputs.size() > few) {
    for (ValueId v : op.inputs) operands.push_back(values_[v]);
    for (ValueId v : step_->dies) values_[v] = Array{};
    return operands;
  }
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    ValueId v = op.inputs[k];
    bool last = std::find(step_->dies.begin(), step_->dies.end(), v) != step_->dies.end();
    for (size_t later = k + 1; later < op.inputs.size(); ++later) last &= op.inputs[later] != v;
    if (last)
      operands.push_back(std::move(values_[v]));
    else
      operands.push_back(values_[v]);
  }
  return operands;
}

bool ProgramFrame::run_loop(const NativeStep& step) {
  const LoopCode& code = *set_.loops[static_cast<size_t>(step.loop)];
  LoopRun loop(code, static_cast<size_t>(step.loop), context_, code_, options_);
  if (!loop.fits()) return false;
  std::vector<Array> results = loop.run(operands_of(*step.op));
  if (is_over_lanes(code)) context_.passed_lanes(code.outermost.length.eval(context_.dims).value());
  for (uint32_t i = 0; i < step.op->outputs; ++i) values_[step.op->output(i)] = std::move(results[i]);
  return true;
}

void ProgramFrame::run_step(const NativeStep& step) {
  if (step.loop >= 0 && run_loop(step)) return;
  const Op& op = *step.op;
  std::vector<Array> operands = operands_of(op), results;
  auto evaluate = [&] { results = op.def->eval(context_, *p_.function, op, operands); };
  if (!op.bodies.empty() || total_bytes(operands) <= small_operands) {
    evaluate();
  } else {
    in_arena(options_.threads, context_, evaluate);
  }
  for (uint32_t i = 0; i < op.outputs; ++i) values_[op.output(i)] = std::move(results[i]);
}

}  // namespace tercet::codegen
