#include "codegen/run/loop.h"

#include <algorithm>
#include <exception>
#include <numeric>

#include "codegen/plan/program.h"
#include "codegen/run/context.h"
#include "codegen/run/launch.h"
#include "interpreter/ops/loop_steps.h"
#include "interpreter/runtime/device.h"
#include "interpreter/runtime/parallel.h"
#include "interpreter/runtime/reduce.h"

namespace tercet::codegen {
namespace {

constexpr int64_t slice = 1'000'000;       // scalar operations between two polls: at most some milliseconds of the first tier
constexpr int64_t call_work = 20;          // of calling a kernel
constexpr int64_t small_copy = 16 << 10;   // bytes that are copied while the general way takes a step
constexpr int64_t most_memory = 64 << 20;  // bytes; the general way frees what a part of a step needs

}  // namespace

/// Runs steps of the loop on one thread, in memory of its own.
class LoopRun::Worker {
 public:
  /// `arrays`: what the loop is given, by pointer.
  Worker(LoopRun& run, std::vector<Array> arrays);
  /// Steps begin .. end of the outermost loop; of a `while`, all of them.
  void run(int64_t begin, int64_t end);
  std::vector<Array> results() const;

 private:
  struct Call : LoopContext {
    Worker* worker;
  };
  static int64_t poll(LoopContext* call);
  Array array_at(size_t pointer) const;

  LoopRun& run_;
  std::vector<int64_t> cells_, lengths_;
  std::vector<Array> arrays_;
  std::vector<void*> pointers_;    // to them, as they are exchanged
  std::exception_ptr thrown_;
};

LoopRun::LoopRun(const LoopCode& loop, size_t number, EvalContext& context, TieredCode& code, const RunOptions& options)
    : loop_(loop), number_(number), context_(context), code_(code), options_(options) {}

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
  progress_ = &steps;
  listens_ = std::this_thread::get_id();
  take_in(std::move(operands));
  if (is_over_lanes(loop_)) return run_lanes();
  Worker worker(*this, std::move(arrays_));
  worker.run(0, lengths_.empty() ? 0 : lengths_[0]);
  return worker.results();
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
}

std::vector<Array> LoopRun::run_lanes() {
  const int64_t lanes = lengths_[0];
  if (loop_.outermost.reverse || !pays_threads()) {
    Worker(*this, arrays_).run(0, lanes);
  } else {
    in_arena(options_.threads, context_, [&] {
      parallel_chunks(lanes, 1, [&](int64_t, int64_t begin, int64_t end) { Worker(*this, arrays_).run(begin, end); });
    });
  }
  std::vector<Array> out;   // nothing is carried from lane to lane
  for (Place result : loop_.results) out.push_back(std::move(arrays_[static_cast<size_t>(result.number)]));
  return out;
}

/// Whether all lanes together take long enough, as far as it can be told.
bool LoopRun::pays_threads() const {
  constexpr double rounds = 8;   // of a `while`
  if (options_.threads < 2 || lengths_[0] < 2) return false;
  double work = 0;
  std::vector<double> times(loop_.repeats);
  for_each_repeat(loop_.outermost, [&](const LoopCode::Repeat& r) {
    times[r.number] = (r.test < 0 ? static_cast<double>(lengths_[r.number]) : rounds) * (r.around < 0 ? 1 : times[static_cast<size_t>(r.around)]);
    work += times[r.number] * static_cast<double>(costs_[r.number]);
  });
  return work > static_cast<double>(small_work);
}

void LoopRun::count(int64_t work) {
  if (code_.counts()) code_.will_run(work, 1);
}

/// Of any worker; what those on other threads did is shown when the thread that shows it comes by.
void LoopRun::advance(int64_t steps) {
  unshown_ += steps;
  if (std::this_thread::get_id() == listens_) progress_->advance(unshown_.exchange(0));
}

LoopRun::Worker::Worker(LoopRun& run, std::vector<Array> arrays) : run_(run), cells_(run.cells_), lengths_(run.lengths_), arrays_(std::move(arrays)) {
  for (size_t p = 0; p < arrays_.size(); ++p) {
    const LoopCode::Pointer& pointer = run.loop_.pointers[p];
    if (pointer.made) arrays_[p] = Array::make(pointer.dtype, run.shapes_[p]);
    pointers_.push_back(arrays_[p].buffer ? arrays_[p].raw() : nullptr);
  }
}

void LoopRun::Worker::run(int64_t begin, int64_t end) {
  if (run_.loop_.outermost.test < 0) lengths_[0] = end;
  Call call{{pointers_.data(), cells_.data(), run_.sizes_.data(), run_.bytes_.data(), lengths_.data(), run_.costs_.data(), &poll, 0, begin, 0}, this};
  const int64_t budget = std::max(slice, 2 * *std::max_element(run_.costs_.begin(), run_.costs_.end()));
  for (;;) {
    run_.context_.poll();
    const int64_t before = call.done;
    call.budget = budget;
    call.leave = 0;
    const LoopEnd ended = run_.code_.now().loops[run_.number_](&call);
    if (ended == LoopEnd::Failed) throw CheckFailed{};
    if (ended == LoopEnd::Stopped) std::rethrow_exception(thrown_);
    run_.advance(call.done - before);
    run_.count(budget - call.budget);
    if (ended == LoopEnd::Done) return;
  }
}

// Called by machine code, which exceptions do not pass.
int64_t LoopRun::Worker::poll(LoopContext* call) {
  Worker& worker = *static_cast<Call*>(call)->worker;
  try {
    worker.run_.context_.poll();
    worker.run_.count(slice);
    call->leave = 1;   // how far it is may be shown, and better code taken
    return slice;
  } catch (...) {
    worker.thrown_ = std::current_exception();
    return 0;
  }
}

std::vector<Array> LoopRun::Worker::results() const {
  const LoopCode& loop = run_.loop_;
  std::vector<Array> out;
  for (size_t k = 0; k < loop.results.size(); ++k) {
    const Place place = loop.results[k];
    const auto at = static_cast<size_t>(place.number);
    if (place.kind == Place::Pointer) {
      out.push_back(array_at(at));
      continue;
    }
    Shape ones;
    for (int axis = 0; axis < loop.result_ranks[k]; ++axis) ones.push_back(1);
    out.push_back(Array::make(loop.cells[at], ones));
    std::memcpy(out.back().raw(), &cells_[at], size_of(loop.cells[at]));
  }
  return out;
}

/// The array whose memory came to be at this pointer.
Array LoopRun::Worker::array_at(size_t pointer) const {
  auto memory = std::find_if(arrays_.begin(), arrays_.end(), [&](const Array& a) { return a.buffer && a.raw() == pointers_[pointer]; });
  TERCET_CHECK(memory != arrays_.end());
  Array out;
  out.dtype = run_.loop_.pointers[pointer].dtype;
  out.shape = run_.shapes_[pointer];
  out.buffer = memory->buffer;
  out.offset = memory->offset;
  return out;
}

}  // namespace tercet::codegen
