#include "codegen/run/loop.h"

#include <algorithm>
#include <numeric>

#include "codegen/plan/program.h"
#include "codegen/run/context.h"
#include "codegen/run/launch.h"
#include "interpreter/ops/loop_steps.h"
#include "interpreter/runtime/reduce.h"

namespace tercet::codegen {
namespace {

constexpr int64_t slice = 1'000'000;       // scalar operations between two polls: at most some milliseconds of the first tier
constexpr int64_t call_work = 20;          // of calling a kernel
constexpr int64_t small_copy = 16 << 10;   // bytes that are copied while the general way takes a step
constexpr int64_t most_memory = 64 << 20;  // bytes; the general way frees what a part of a step needs

}  // namespace

struct LoopRun::Call : LoopContext {
  LoopRun* run;
};

LoopRun::LoopRun(const LoopCode& loop, size_t number, EvalContext& context, TieredCode& code)
    : loop_(loop), number_(number), context_(context), code_(code) {}

bool LoopRun::fits() { return find_sizes() && find_memory() && kernels_fit(); }

bool LoopRun::find_sizes() {
  DimEnv& known = context_.dims;
  for (const auto& [symbol, dim] : loop_.bindings) {
    const std::optional<int64_t> size = dim.eval(known);
    if (!size) return false;
    known[symbol] = *size;
  }
  sizes_.resize(loop_.size_count);
  for (const LoopCode::Part& part : loop_.parts) {
    const SizeTable& table = part.program->sizes;
    int64_t* of_part = sizes_.data() + part.first_size;
    for (const SizeTable::Symbol& s : table.symbols())
      if (auto size = known.find(s.id); size != known.end()) of_part[s.slot] = size->second;
    table.evaluate(0, of_part);
  }
  lengths_.resize(loop_.repeats);
  for_each_repeat(loop_.outermost, [&](const LoopCode::Repeat& r) {
    if (r.test < 0) lengths_[r.number] = r.length.eval(known).value_or(-1);
  });
  const LoopCode::Repeat& outermost = loop_.outermost;
  return std::all_of(lengths_.begin(), lengths_.end(), [](int64_t n) { return n >= 0; }) && (outermost.test >= 0 || lengths_[outermost.number] > 0);
}

bool LoopRun::find_memory() {
  int64_t made = 0;
  for (const LoopCode::Pointer& p : loop_.pointers) {
    Shape& shape = shapes_.emplace_back();
    double count = 1;   // of impossible sizes, too
    for (const Dim& d : p.dims) {
      const int64_t size = d.eval(context_.dims).value_or(-1);
      if (size < 0) return false;
      shape.push_back(size);
      count *= static_cast<double>(size);
    }
    const double bytes = count * static_cast<double>(size_of(p.dtype));
    if (bytes > 1e18) return false;
    bytes_.push_back(static_cast<int64_t>(bytes));
    if (p.made && (made += bytes_.back()) > most_memory) return false;
  }
  auto count = [&](const std::vector<Dim>& dims) {
    return std::accumulate(dims.begin(), dims.end(), int64_t{1}, [&](int64_t n, const Dim& d) { return n * d.eval(context_.dims).value_or(-1); });
  };
  return std::all_of(loop_.copied.begin(), loop_.copied.end(), [&](int32_t p) { return bytes_[static_cast<size_t>(p)] <= small_copy; }) &&
         std::all_of(loop_.equal_counts.begin(), loop_.equal_counts.end(), [&](const auto& two) { return count(two.first) == count(two.second); });
}

bool LoopRun::kernels_fit() {
  costs_.assign(loop_.repeats, 1);
  bool all = true;
  for_each_kernel(loop_.outermost, [&](const LoopCode::RunKernel& run, const LoopCode::Repeat& around) { all = all && fits(run, around); });
  return all;
}

bool LoopRun::fits(const LoopCode::RunKernel& run, const LoopCode::Repeat& around) {
  const LoopCode::Part& part = loop_.parts[run.part];
  const Kernel& kernel = part.program->kernels[run.kernel];
  auto size = [&](SizeSlot s) { return sizes_[part.first_size + static_cast<size_t>(s)]; };
  int64_t kept = 1, reduced = 1;
  for (size_t l = 0; l < kernel.loops.size(); ++l) {
    const int64_t extent = size(run.extents[l]);
    if (extent <= 0 || extent > small_work) return false;
    int64_t& points = kernel.loops[l].reduced ? reduced : kept;
    points *= extent;
    if (points > small_work) return false;
  }
  for (SizeSlot bound : run.bounds)
    if (size(bound) < 0) return false;
  const int64_t work = work_of(kernel, kept, reduced);
  if (work > small_work || (!kernel.reductions.empty() && reduced > reduce_block)) return false;
  costs_[around.number] += call_work + work;
  return true;
}

std::vector<Array> LoopRun::run(std::vector<Array> operands) {
  LoopSteps steps(loop_.outermost.test < 0 ? lengths_[0] : steps_to_count(*loop_.op, operands));
  take_in(std::move(operands));
  run_slices(steps);
  return results();
}

void LoopRun::take_in(std::vector<Array> operands) {
  const auto carried = static_cast<size_t>(loop_.op->attrs.get<int64_t>("carried"));
  cells_.resize(loop_.cells.size());
  arrays_.resize(loop_.pointers.size());
  for (size_t k = 0; k < operands.size(); ++k) {
    const Place place = loop_.operands[k];
    const auto at = static_cast<size_t>(place.number);
    if (place.kind == Place::Cell) std::memcpy(&cells_[at], operands[k].raw(), size_of(loop_.cells[at]));
    else arrays_[at] = std::move(operands[k]);
  }
  for (size_t k = 0; k < carried; ++k)   // it may be written to
    if (loop_.operands[k].kind == Place::Pointer) {
      Array& a = arrays_[static_cast<size_t>(loop_.operands[k].number)];
      a = std::move(a).owned();
    }
  for (const auto& [pointer, value] : loop_.constants) arrays_[static_cast<size_t>(pointer)] = value;
  for (const LoopCode::Row& row : loop_.outermost.stacked) {
    const auto at = static_cast<size_t>(row.pointer);
    arrays_[at] = Array::make(loop_.pointers[at].dtype, shapes_[at]);
  }
  for (size_t p = 0; p < arrays_.size(); ++p) {
    if (loop_.pointers[p].made) arrays_[p] = Array::make(loop_.pointers[p].dtype, shapes_[p]);
    pointers_.push_back(arrays_[p].buffer ? arrays_[p].raw() : nullptr);
  }
}

void LoopRun::run_slices(LoopSteps& steps) {
  Call call{{pointers_.data(), cells_.data(), sizes_.data(), bytes_.data(), lengths_.data(), costs_.data(), &poll, 0, 0, 0}, this};
  const int64_t budget = std::max(slice, 2 * *std::max_element(costs_.begin(), costs_.end()));
  for (;;) {
    context_.poll();
    const int64_t before = call.done;
    call.budget = budget;
    call.leave = 0;
    const LoopEnd end = code_.now().loops[number_](&call);
    if (end == LoopEnd::Failed) throw CheckFailed{};
    if (end == LoopEnd::Stopped) std::rethrow_exception(thrown_);
    steps.advance(call.done - before);
    count(budget - call.budget);
    if (end == LoopEnd::Done) return;
  }
}

void LoopRun::count(int64_t work) {
  if (code_.counts()) code_.will_run(work, 1);
}

// Called by machine code, which exceptions do not pass.
int64_t LoopRun::poll(LoopContext* call) {
  LoopRun& run = *static_cast<Call*>(call)->run;
  try {
    run.context_.poll();
    run.count(slice);
    call->leave = 1;   // how far it is may be shown, and better code taken
    return slice;
  } catch (...) {
    run.thrown_ = std::current_exception();
    return 0;
  }
}

std::vector<Array> LoopRun::results() {
  std::vector<Array> out;
  for (size_t k = 0; k < loop_.results.size(); ++k) {
    const Place place = loop_.results[k];
    const auto at = static_cast<size_t>(place.number);
    if (place.kind == Place::Cell) {
      const auto size = static_cast<size_t>(loop_.result_ranks[k]);
      Shape ones;
      for (size_t axis = 0; axis < size; ++axis) ones.push_back(1);
      out.push_back(Array::make(loop_.cells[at], ones));
      std::memcpy(out.back().raw(), &cells_[at], size_of(loop_.cells[at]));
      continue;
    }
    auto memory = std::find_if(arrays_.begin(), arrays_.end(), [&](const Array& a) { return a.buffer && a.raw() == pointers_[at]; });
    TERCET_CHECK(memory != arrays_.end());
    Array result;
    result.dtype = loop_.pointers[at].dtype;
    result.shape = shapes_[at];
    result.buffer = memory->buffer;
    result.offset = memory->offset;
    out.push_back(std::move(result));
  }
  return out;
}

}  // namespace tercet::codegen
