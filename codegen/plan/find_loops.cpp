// Decides which loops run as one piece of machine code, and where each of their values lies.
//
// An array may be overwritten in place where the memory is the loop's own and nobody needs the array afterwards, as in a run
// step by step; but here that is decided once, from who reads what, and not by counting who holds the memory.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "codegen/plan/moves.h"
#include "codegen/plan/program.h"
#include "codegen/plan/roles.h"
#include "interpreter/ops/rows.h"

namespace tercet::codegen {
namespace {

using Dims = std::vector<Dim>;

/// A loop that has to be left to the general way, and why, as in "step by step, since …".
struct Unfit {
  std::string why;
};
constexpr const char* other_values = "it works on texts, keys or rows of different length";
constexpr const char* sizes_change = "a size is known only step by step";
constexpr const char* places_differ = "arrays and single elements change places";

bool is_loop(const Op& op) { return op.def == &while_op || op.def == &scan_op; }
bool is_choice(const Op& op) { return op.def == &cond_op; }
bool is_cell(const Type& t) {
  return std::all_of(t.dims.begin(), t.dims.end(), [](const Dim& d) { return d.is(1); });
}
bool is_plain(const Type& t) { return is_kernel_dtype(t.dtype) && !t.is_ragged(); }
Dim count_of(const Dims& dims) {
  Dim count = 1;
  for (const Dim& d : dims) count = count * d;
  return count;
}

class LoopPlanner {
 public:
  LoopPlanner(const ProgramSet& set, const Program& outer, const Op& op) : set_(set), outer_(*outer.function), op_(op) {}

  /// Null when the loop is left to the general way; `why` says for what reason.
  std::unique_ptr<LoopCode> plan(std::string& why) {
    try {
      outermost();
    } catch (const Unfit& unfit) {
      why = unfit.why;
      return nullptr;
    }
    return std::move(code_);
  }

 private:
  /// A value during a part. `own`: its memory may be overwritten when nobody needs it any more.
  struct Held {
    Place place;
    bool own = false;
    Dims dims{};
  };
  /// A program's steps at one place of the loop.
  struct Scope {
    const Program& p;
    size_t part;
    std::vector<Held> values;
    std::vector<bool> needed;              // read by a step, or a result
    std::map<int32_t, int> holders;        // values that are still needed, by pointer

    const Function& f() const { return *p.function; }
    void set(ValueId v, Held held) {
      values[v] = held;
      if (needed[v] && held.place.kind == Place::Pointer) ++holders[held.place.number];
    }
    /// The memory of v, which this step reads for the last time, is free afterwards.
    bool takes(const Step& step, ValueId v) const {
      const Held& h = values[v];
      return h.own && h.place.kind == Place::Pointer && holders.at(h.place.number) == 1 &&
             std::find(step.dies.begin(), step.dies.end(), v) != step.dies.end();
    }
    void end(const Step& step) {
      for (ValueId v : step.dies)
        if (values[v].place.kind == Place::Pointer) --holders[values[v].place.number];
    }
  };

  // ---- places ----
  Place new_cell(DType dtype) {
    code_->cells.push_back(dtype);
    return {Place::Cell, static_cast<int32_t>(code_->cells.size()) - 1};
  }
  Place new_pointer(DType dtype, const Dims& dims, bool made) {
    code_->pointers.push_back({dtype, dims, made});
    return {Place::Pointer, static_cast<int32_t>(code_->pointers.size()) - 1};
  }
  /// Of memory that the loop makes.
  Held fresh(const Type& t) { return {is_cell(t) ? new_cell(t.dtype) : new_pointer(t.dtype, t.dims, true), true, t.dims}; }
  Held given(const Type& t, bool own) { return {is_cell(t) ? new_cell(t.dtype) : new_pointer(t.dtype, t.dims, false), own, t.dims}; }

  // ---- the loop that is asked for ----
  void outermost() {
    code_ = std::make_unique<LoopCode>();
    code_->op = &op_;
    const auto carried = static_cast<size_t>(op_.attrs.get<int64_t>("carried"));
    std::vector<Held> operands;
    for (size_t k = 0; k < op_.inputs.size(); ++k) {
      const Type& t = outer_.type(op_.inputs[k]);
      if (!is_plain(t)) throw Unfit{other_values};
      operands.push_back(given(t, k < carried));
      code_->operands.push_back(operands.back().place);
    }
    std::vector<Held> results = repeat(code_->outermost, op_, outer_, operands);
    for (const Held& h : results) {
      code_->results.push_back(h.place);
      code_->result_ranks.push_back(static_cast<int>(h.dims.size()));
    }
  }

  /// `operands` of the carried values are theirs alone. Returns where the results are.
  std::vector<Held> repeat(LoopCode::Repeat& r, const Op& op, const Function& f, const std::vector<Held>& operands) {
    if (around_ >= 0 && op.attrs.get_or<bool>("lanes", false)) throw Unfit{"lanes inside it run side by side"};
    if (!op.attrs.get_or<Dims>("defines", {}).empty()) throw Unfit{sizes_change};
    r.number = code_->repeats++;
    r.around = std::exchange(around_, static_cast<int>(r.number));
    const auto carried = static_cast<size_t>(op.attrs.get<int64_t>("carried"));
    std::vector<Held> results = op.def == &scan_op ? scan(r, op, f, operands, carried) : while_loop(r, op, operands, carried);
    around_ = r.around;
    return results;
  }

  std::vector<Held> while_loop(LoopCode::Repeat& r, const Op& op, const std::vector<Held>& operands, size_t carried) {
    if (op.outputs != carried) throw Unfit{"each step keeps results"};
    std::vector<Held> readable = operands;
    for (Held& h : readable) h.own = false;
    Scope condition = enter(*op.bodies[0], readable);
    block(r.condition, condition);
    r.test = condition.values[condition.f().results[0]].place.number;
    Scope body = enter(*op.bodies[1], operands);
    require_same_sizes(body.f(), 0, carried);
    block(r.body, body);
    carry(r.next, body, 0, carried);
    return {operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(carried)};
  }

  std::vector<Held> scan(LoopCode::Repeat& r, const Op& op, const Function& f, const std::vector<Held>& operands, size_t carried) {
    const auto consumed = static_cast<size_t>(op.attrs.get<int64_t>("consumed"));
    const Function& step = *op.bodies[0];
    r.length = op.attrs.get<Dim>("length");
    r.reverse = op.attrs.get_or<bool>("reverse", false);
    const Held index{new_cell(DType::I64), false};
    r.index = index.place.number;
    std::vector<Held> arguments{index};
    for (size_t k = 0; k < operands.size(); ++k) {
      const bool is_row = k >= carried && k < carried + consumed;
      arguments.push_back(is_row ? row(r.rows, operands[k], step.type(step.params[k + 1]).dtype) : operands[k]);
    }
    Scope body = enter(step, arguments);
    require_same_sizes(body.f(), 1, carried);
    block(r.body, body);
    std::vector<Held> results(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(carried));
    for (size_t k = carried; k < step.results.size(); ++k) {
      const Type& all = f.type(op.output(static_cast<uint32_t>(k)));
      if (!is_plain(all) || is_cell(all)) throw Unfit{is_plain(all) ? places_differ : other_values};
      results.push_back({new_pointer(all.dtype, all.dims, r.around >= 0), true, all.dims});
      r.stacked.push_back({body.values[step.results[k]].place, results.back().place.number});
    }
    carry(r.next, body, 1, carried);
    return results;
  }
  /// The place of a row of an operand, found again at each step.
  Held row(std::vector<LoopCode::Row>& rows, const Held& all, DType dtype) {
    if (all.place.kind != Place::Pointer) throw Unfit{places_differ};   // one row of one element
    const Held out = given({dtype, Dims(all.dims.begin() + 1, all.dims.end())}, false);
    rows.push_back({out.place, all.place.number});
    return out;
  }
  /// Results are of the sizes that the carried values have when a step begins.
  void require_same_sizes(const Function& body, size_t first, size_t carried) {
    for (size_t k = 0; k < carried; ++k)
      if (!(body.type(body.params[first + k]).dims == body.type(body.results[k]).dims)) throw Unfit{sizes_change};
  }

  // ---- what happens between two steps ----
  /// The results of a step go to where the carried values of the next are read.
  void carry(LoopCode::Assign& assign, Scope& s, size_t first_param, size_t carried) {
    std::vector<Arrival> pointers;
    for (size_t k = 0; k < carried; ++k) {
      const Place param = s.values[s.f().params[first_param + k]].place;
      const Held& result = s.values[s.f().results[k]];
      if (param.kind != result.place.kind) throw Unfit{places_differ};
      if (param.kind == Place::Cell) {
        if (!(param == result.place)) assign.cells.emplace_back(param.number, result.place.number);
      } else {
        pointers.push_back({param.number, result.place.number, result.own});
      }
    }
    auto moves = ordered_moves(std::move(pointers));
    if (!moves) throw Unfit{"arrays are exchanged in a way that takes copies"};
    for (const LoopCode::Assign::Move& m : *moves)
      if (!m.swap) note_copy(m.to);
    assign.pointers = std::move(*moves);
  }
  void require_equal_counts(const Dims& a, const Dims& b) {
    if (!(count_of(a) == count_of(b))) code_->equal_counts.emplace_back(a, b);
  }
  /// The general way would have shared it.
  void note_copy(int32_t pointer) { code_->copied.push_back(pointer); }

  static void add(LoopCode::Block& to, LoopCode::Assign assign) {
    if (!assign.cells.empty() || !assign.pointers.empty()) to.push_back(std::move(assign));
  }

  // ---- steps ----
  Scope enter(const Function& function, const std::vector<Held>& arguments) {
    const Program& p = *set_.of_function.at(&function);
    Scope s{p, code_->parts.size(), std::vector<Held>(function.types.size()), std::vector<bool>(function.types.size(), false), {}};
    code_->parts.push_back({&p, code_->size_count});
    code_->size_count += p.sizes.slot_count();
    for (const Step& step : p.steps)
      for (ValueId v : read_by(p, step)) s.needed[v] = true;
    for (ValueId v : function.results) s.needed[v] = true;
    for (size_t k = 0; k < arguments.size(); ++k) {
      const ValueId v = function.params[k];
      if (!is_plain(function.type(v))) throw Unfit{other_values};
      if (is_cell(function.type(v)) != (arguments[k].place.kind == Place::Cell)) throw Unfit{places_differ};
      s.set(v, arguments[k]);
    }
    for (const Binding& b : p.parameters) bind(b, function, arguments);
    for (const auto& [v, value] : p.constants) constant(s, v, value);
    return s;
  }
  /// A symbol that a parameter's shape gives its value: the size of what stands for the parameter.
  void bind(const Binding& b, const Function& function, const std::vector<Held>& arguments) {
    if (b.value == no_value) throw Unfit{sizes_change};
    const auto at = std::find(function.params.begin(), function.params.end(), b.value) - function.params.begin();
    code_->bindings.emplace_back(b.symbol, arguments[static_cast<size_t>(at)].dims[b.axis]);
  }
  void constant(Scope& s, ValueId v, const Array& value) {
    if (!is_plain(s.f().type(v))) throw Unfit{other_values};
    Held held = given(s.f().type(v), false);
    if (held.place.kind == Place::Cell) {
      uint64_t bits = 0;
      std::memcpy(&bits, value.raw(), size_of(value.dtype));
      code_->cell_constants.emplace_back(held.place.number, bits);
    } else {
      code_->constants.emplace_back(held.place.number, value);
    }
    s.set(v, held);
  }

  void block(LoopCode::Block& to, Scope& s) {
    for (const Step& step : s.p.steps) {
      if (!step.binds.empty()) throw Unfit{sizes_change};
      std::visit([&](const auto& what) { place(to, s, step, what); }, step.what);
      s.end(step);
    }
  }

  void place(LoopCode::Block& to, Scope& s, const Step& step, const KernelStep& kernel) {
    for (size_t k = 0; k < kernel.written.size(); ++k) {
      const ValueId v = kernel.written[k], reused = kernel.reuse[k];
      const Type& t = s.f().type(v);
      const bool in_place = !is_cell(t) && reused != no_value && s.takes(step, reused) && s.f().type(reused).dims == t.dims;
      s.set(v, in_place ? s.values[reused] : fresh(t));
    }
    LoopCode::RunKernel run{s.part, kernel.kernel, {}, kernel.extents, kernel.bounds};
    for (ValueId v : s.p.kernels[kernel.kernel].buffers) run.buffers.push_back(s.values[v].place);
    to.push_back(std::move(run));
  }

  void place(LoopCode::Block& to, Scope& s, const Step&, const AliasStep& alias) {
    const Type &from = s.f().type(alias.from), &as = s.f().type(alias.to);
    if (is_cell(from) != is_cell(as)) throw Unfit{places_differ};
    if (is_cell(from)) return copy_cell(to, s, alias.to, alias.from);
    require_equal_counts(from.dims, as.dims);
    s.set(alias.to, {s.values[alias.from].place, s.values[alias.from].own, as.dims});
  }

  void place(LoopCode::Block& to, Scope& s, const Step& step, const CopyStep& copy) {
    if (is_cell(s.f().type(copy.to))) return copy_cell(to, s, copy.to, copy.from);
    if (s.takes(step, copy.from)) return s.set(copy.to, s.values[copy.from]);
    const Held held = fresh(s.f().type(copy.to));
    add(to, {{}, {{held.place.number, s.values[copy.from].place.number, false}}});
    s.set(copy.to, held);
  }
  void copy_cell(LoopCode::Block& to, Scope& s, ValueId copy, ValueId from) {
    const Held held = fresh(s.f().type(copy));
    add(to, {{{held.place.number, s.values[from].place.number}}, {}});
    s.set(copy, held);
  }

  void place(LoopCode::Block& to, Scope& s, const Step& step, const NativeStep& native) {
    const Op& op = *native.op;
    if (is_choice(op)) return choose(to, s, step, op);
    if (!is_loop(op)) throw Unfit{fmt::format("`{}` {}", op.def->name, op.def->effect == Effect::Output ? "acts outside" : "works on whole arrays")};
    const auto carried = static_cast<size_t>(op.attrs.get<int64_t>("carried"));
    LoopCode::Assign start;
    std::vector<Held> operands = operands_of(s, step, op);
    for (size_t k = 0; k < carried; ++k) {   // each gets a place of its own
      const Type& t = s.f().type(op.inputs[k]);
      if (!is_cell(t) && operands[k].own) continue;
      const Held own = fresh(t);
      if (is_cell(t)) start.cells.emplace_back(own.place.number, operands[k].place.number);
      else start.pointers.push_back({own.place.number, operands[k].place.number, false});
      operands[k] = own;
    }
    for (size_t k = carried; k < operands.size(); ++k) operands[k].own = false;
    add(to, std::move(start));
    auto inner = std::make_unique<LoopCode::Repeat>();
    std::vector<Held> results = repeat(*inner, op, s.f(), operands);
    to.push_back(std::move(inner));
    for (uint32_t k = 0; k < op.outputs; ++k) s.set(op.output(k), results[k]);
  }

  /// Where the operands of a native step lie; `own`: the step may overwrite them.
  std::vector<Held> operands_of(const Scope& s, const Step& step, const Op& op) {
    std::vector<Held> out;
    for (ValueId v : op.inputs) {
      const bool once = std::count(op.inputs.begin(), op.inputs.end(), v) == 1;
      out.push_back({s.values[v].place, once && s.takes(step, v), s.f().type(v).dims});
    }
    return out;
  }

  void choose(LoopCode::Block& to, Scope& s, const Step& step, const Op& op) {
    if (!op.attrs.get_or<Dims>("defines", {}).empty()) throw Unfit{sizes_change};
    std::vector<Held> operands = operands_of(s, step, op);
    auto out = std::make_unique<LoopCode::Choose>();
    out->condition = operands[0].place.number;
    const std::vector<Held> arguments(operands.begin() + 1, operands.end());
    Scope yes = enter(*op.bodies[0], arguments);
    block(out->yes, yes);
    Scope no = enter(*op.bodies[1], arguments);
    block(out->no, no);
    join(*out, s, op, yes, no);
    to.push_back(std::move(out));
  }
  /// Both branches put their results into the same places.
  void join(LoopCode::Choose& choose, Scope& s, const Op& op, const Scope& yes, const Scope& no) {
    LoopCode::Assign from_yes, from_no;
    std::unordered_set<int32_t> taken;
    auto result = [](const Scope& branch, uint32_t k) { return branch.values[branch.f().results[k]]; };
    for (uint32_t k = 0; k < op.outputs; ++k) {   // what both have in the same memory stays there
      const Held a = result(yes, k), b = result(no, k);
      if (a.place.kind == Place::Pointer && a.place == b.place && a.own && b.own && taken.insert(a.place.number).second)
        s.set(op.output(k), {a.place, true, s.f().type(op.output(k)).dims});
    }
    for (uint32_t k = 0; k < op.outputs; ++k) {
      const ValueId v = op.output(k);
      if (s.values[v].place.kind != Place::None || !s.needed[v]) continue;
      const Held held = fresh(s.f().type(v));
      s.set(v, held);
      move(from_yes, held, result(yes, k), yes, taken);
      move(from_no, held, result(no, k), no, taken);
    }
    add(choose.yes, std::move(from_yes));
    add(choose.no, std::move(from_no));
  }
  void move(LoopCode::Assign& assign, const Held& into, const Held& from, const Scope& branch, const std::unordered_set<int32_t>& taken) {
    const Place to = into.place;
    if (to.kind != from.place.kind) throw Unfit{places_differ};
    if (to.kind == Place::Cell) {
      assign.cells.emplace_back(to.number, from.place.number);
      return;
    }
    require_equal_counts(into.dims, from.dims);
    const bool swap = from.own && branch.holders.at(from.place.number) == 1 && results_at(branch, from.place) == 1 && !taken.contains(from.place.number);
    assign.pointers.push_back({to.number, from.place.number, swap});
    if (!swap) note_copy(to.number);
  }
  static int64_t results_at(const Scope& branch, Place place) {
    const std::vector<ValueId>& r = branch.f().results;
    return std::count_if(r.begin(), r.end(), [&](ValueId v) { return branch.values[v].place == place; });
  }

  const ProgramSet& set_;
  const Function& outer_;
  const Op& op_;
  std::unique_ptr<LoopCode> code_;
  int around_ = -1;   // the repetition that is being planned
};

/// Loops inside one that always runs as its code get none of their own.
class Finder {
 public:
  explicit Finder(ProgramSet& set) : set_(set) {}
  void visit(const Function& function) {
    Program& p = *const_cast<Program*>(set_.of_function.at(&function));
    if (!seen_.insert(&p).second) return;
    for (Step& step : p.steps)
      if (auto* native = std::get_if<NativeStep>(&step.what)) visit(p, *native);
  }

 private:
  void visit(const Program& p, NativeStep& native) {
    if (is_loop(*native.op))
      if (std::unique_ptr<LoopCode> code = LoopPlanner(set_, p, *native.op).plan(native.why_stepwise)) {
        const bool whole = always_fits(*code);
        native.loop = static_cast<int>(set_.loops.size());
        set_.loops.push_back(std::move(code));
        if (whole) return;
      }
    for (const FunctionPtr& body : native.op->bodies) visit(*body);
  }
  ProgramSet& set_;
  std::unordered_set<const Program*> seen_;
};

}  // namespace

void find_loops(ProgramSet& set) { Finder(set).visit(*set.programs[0]->function); }

}  // namespace tercet::codegen
