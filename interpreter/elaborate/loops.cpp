// Loops: the locals that a body assigns are carried from step to step. Their types are found by repetition: a dtype may
// widen, and a size that changes gets a name of its own, until a step gives what it takes.
#include <fmt/format.h>

#include <algorithm>

#include "interpreter/elaborate/elaborator.h"
#include "interpreter/elaborate/free_names.h"
#include "interpreter/elaborate/joining.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

/// The carried values of a loop: trees whose leaves have the types that every step keeps.
struct Carry {
  std::vector<Sym> trees;
  std::vector<Dim> varying;      // sizes that change from step to step
  bool is_varying(const Dim& d) const { return std::find(varying.begin(), varying.end(), d) != varying.end(); }
  /// Does the size depend on one that changes?
  bool mentions(const Dim& d) const {
    return std::any_of(varying.begin(), varying.end(), [&](const Dim& v) { return d.mentions(v); });
  }
};

/// `now` widened so that it holds `next` too; true when that changed it.
class Widening {
 public:
  Widening(Elaborator& e, Frame& body, Carry& carry, const std::string& name) : e_(e), body_(body), carry_(carry), name_(name) {}
  bool changed() const { return changed_; }

  Sym widen(const Sym& now, const Sym& next) {
    if (now.leaf() && next.leaf()) return leaf(*now.leaf(), *next.leaf());
    if (now.is_none() && !next.is_none() && name_ == return_value) {   // not returned so far
      changed_ = true;
      return map_leaves<Leaf>(next, [&](const Leaf& x) {
        Leaf out{x.type, x.weak, nullptr, no_value, {}, {}};
        for (Dim& d : out.type.dims)
          if (carry_.mentions(d) || body_.defines(d)) carry_.varying.push_back(d = Dim::symbol("s"));
        return out;
      });
    }
    if (now.node.index() != next.node.index()) mismatch(now, next);
    auto all = [&](const std::vector<Sym>& x, const std::vector<Sym>& y) {
      if (x.size() != y.size()) mismatch(now, next);
      std::vector<Sym> out;
      for (size_t i = 0; i < x.size(); ++i) out.push_back(widen(x[i], y[i]));
      return out;
    };
    if (auto* t = now.as<Sym::Tuple>()) return Sym::Tuple{all(t->elements, next.as<Sym::Tuple>()->elements)};
    if (auto* r = now.as<Sym::Record>()) {
      if (r->names != next.as<Sym::Record>()->names) mismatch(now, next);
      return Sym::Record{r->names, all(r->values, next.as<Sym::Record>()->values)};
    }
    if (now.is_function() && e_.identity(now) != e_.identity(next)) mismatch(now, next);
    return now;
  }

 private:
  [[noreturn]] void mismatch(const Sym& now, const Sym& next) {
    e_.error(Kind::Type, fmt::format("`{}` is {} before the loop and {} after a step", name_, describe(now), describe(next)),
             "a loop variable keeps its type");
  }

  Leaf leaf(const Leaf& now, const Leaf& next) {
    Leaf out = now;
    out.constant.reset();
    out.dim.reset();
    if (now.type.rank() != next.type.rank()) mismatch(now, next);
    if (now.untyped && !next.untyped) {   // what it holds decides
      changed_ = true;
      out.untyped = false;
      out.type.dtype = next.type.dtype;
      out.weak = next.weak;
    } else if (!next.untyped && (now.type.dtype != next.type.dtype || now.weak != next.weak)) {
      if (now.type.dtype > DType::F64 || next.type.dtype > DType::F64) mismatch(now, next);
      bool weak = false;
      DType dtype = promote(now.type.dtype, now.weak, next.type.dtype, next.weak, &weak);
      changed_ |= dtype != now.type.dtype || weak != now.weak;
      out.type.dtype = dtype;
      out.weak = weak;
    }
    for (size_t k = 0; k < out.type.dims.size(); ++k) {
      Dim& d = out.type.dims[k];
      if (carry_.is_varying(d) || e_.same_size(d, next.type.dims[k])) continue;
      carry_.varying.push_back(d = Dim::symbol("s"));
      changed_ = true;
    }
    return out;
  }

  Elaborator& e_;
  Frame& body_;
  Carry& carry_;
  const std::string& name_;
  bool changed_ = false;
};

}  // namespace

/// One round: the loop elaborated for carried values of some types.
struct Elaborator::LoopStep {
  explicit LoopStep(Frame* outer) : body("step", outer), test("condition", outer) {}
  Frame body, test;
  std::vector<Sym> after;               // the carried values when the step ends
  Sym value;                            // what a scan's step gives
  ValueId condition = no_value;         // of a while
};

void Elaborator::elaborate_step(const Loop& loop, const std::vector<Sym>& carried, LoopStep& step) {
  // The carried values as parameters of a frame; index and rows are parameters of a scan's body.
  auto enter = [&](Frame& frame) {
    for (size_t i = 0; i < loop.names.size(); ++i)
      set_local(loop.names[i], map_leaves<Leaf>(carried[i], [&](const Leaf& x) {
        Leaf param = frame.param(x.type, x.weak);
        param.untyped = x.untyped;
        return param;
      }));
  };
  frame_ = &step.body;
  UncertainScope uncertain(*this);
  Leaf index;
  std::vector<Leaf> rows;
  if (loop.length) index = step.body.param({DType::I64, {}}, true);
  enter(step.body);
  for (const Leaf& x : loop.consumed) {
    Type row = x.type;
    row.dims.erase(row.dims.begin());
    if (!row.dims.empty() && row.dims[0].is_ragged()) row.dims[0] = Dim::symbol("k");   // each row its own length
    rows.push_back(step.body.param(row, x.weak));
  }
  step.value = loop.body(index, rows);
  for (const std::string& n : loop.names) step.after.push_back(local(n));
  if (loop.length) return;
  frame_ = &step.test;
  enter(step.test);
  step.condition = use(loop.condition());
}

void Elaborator::run_loop(Loop& loop) {
  Frame* outer = frame_;
  std::vector<Sym> initial;
  for (const std::string& n : loop.names) initial.push_back(local(n));
  Carry carry{initial, {}};
  for (int round = 0; round <= 8; ++round) {
    LoopStep step(outer);
    try {
      elaborate_step(loop, carry.trees, step);
    } catch (...) {
      frame_ = outer;
      throw;
    }
    frame_ = outer;
    for (size_t i = 0; i < loop.names.size(); ++i) set_local(loop.names[i], initial[i]);
    bool changed = false;
    Carry wider = carry;
    for (size_t i = 0; i < loop.names.size(); ++i) {
      Widening widening(*this, step.body, wider, loop.names[i]);
      wider.trees[i] = widening.widen(carry.trees[i], step.after[i]);
      changed |= widening.changed();
    }
    carry = wider;
    if (!changed) return emit_loop(loop, initial, carry.trees, carry.varying, step);
  }
  error(Kind::Type, "the types of this loop's variables do not settle", "annotate or cast the values that the loop starts with");
}

namespace {

std::vector<Leaf> leaves_of(const std::vector<Sym>& trees) {
  std::vector<Leaf> out;
  for (const Sym& t : trees) collect_leaves(t, out);
  return out;
}

}  // namespace

/// The operation, for types that a step keeps; the locals get its results.
void Elaborator::emit_loop(Loop& loop, const std::vector<Sym>& initial, const std::vector<Sym>& carried, const std::vector<Dim>& varying, LoopStep& step) {
  std::vector<Leaf> types = leaves_of(carried), next = leaves_of(step.after), values;
  Frame* outer = swap_frame(&step.body);
  std::vector<ValueId> results;
  for (size_t i = 0; i < next.size(); ++i) results.push_back(use(cast(next[i], types[i].type.dtype, types[i].weak)));
  if (loop.length) collect_leaves(step.value, values);
  for (const Leaf& x : values) results.push_back(use(x));
  swap_frame(outer);
  std::vector<Leaf> captures = joined_captures(step.body, step.test);
  std::vector<FunctionPtr> bodies;
  if (!loop.length) bodies.push_back(step.test.finish_ordered({step.condition}, captures));
  bodies.push_back(step.body.finish_ordered(results, captures));

  std::vector<ValueId> inputs;
  for (size_t i = 0; i < loop.names.size(); ++i) {
    std::vector<Leaf> starts, wanted;
    collect_leaves(carried[i], wanted);
    collect_leaves(initial[i], starts);   // none for a value that is not set before the loop
    for (size_t k = 0; k < wanted.size(); ++k)
      inputs.push_back(use(k < starts.size() ? cast(starts[k], wanted[k].type.dtype, wanted[k].weak) : placeholder_of(*this, wanted[k].type, varying)));
  }
  for (const Leaf& x : loop.consumed) inputs.push_back(use(x));
  for (const Leaf& c : captures) inputs.push_back(use(c));
  Attrs attrs{{"carried", static_cast<int64_t>(types.size())}};
  if (loop.length) attrs.set("length", *loop.length), attrs.set("consumed", static_cast<int64_t>(loop.consumed.size()));
  if (!varying.empty()) attrs.set("defines", varying);
  if (const Binding* last = loop.length ? nullptr : find_local("%end")) {   // it counts: whoever shows how far it is may know
    size_t counter = 0;
    for (size_t i = 0; i < loop.names.size() && loop.names[i] != "%index"; ++i) counter += leaves_of({carried[i]}).size();
    for (size_t i = 0; i < captures.size(); ++i)
      if (const Leaf* end = last->value.leaf(); end && captures[i].frame == end->frame && captures[i].id == end->id)
        attrs.set("counter", static_cast<int64_t>(counter)), attrs.set("counter_end", static_cast<int64_t>(types.size() + i));
  }
  std::vector<ValueId> ids = builder().emit_many(loop.length ? scan_op : while_op, inputs, attrs, span_, bodies);
  size_t id = 0;
  auto result = [&](const Leaf& x) { return frame_->result(ids[id++], x.weak); };
  for (size_t i = 0; i < loop.names.size(); ++i) set_local(loop.names[i], map_leaves<Leaf>(carried[i], result));
  if (loop.length) loop.stacked = map_leaves<Leaf>(step.value, result);
}

Sym Elaborator::loop_over_rows(Loop& loop, const Sym& rows, const std::function<Sym(const Sym&)>& step) {
  Sym source = rows.as<Sym::Range>() ? Sym(array(rows, "a loop over rows")) : rows;
  collect_leaves(source, loop.consumed);
  if (loop.consumed.empty()) error(Kind::Type, fmt::format("this runs over the rows of arrays, and this is {}", describe(rows)));
  for (Leaf& x : loop.consumed) {
    if (x.type.rank() == 0) error(Kind::Type, fmt::format("this runs over the rows of an array, and this is the scalar {}", describe(x)));
    require_equal(loop.consumed[0].type.dims[0], x.type.dims[0], "the arrays have {left} and {right} rows");
    std::vector<Dim> dims = x.type.dims;
    dims[0] = loop.consumed[0].type.dims[0];
    x = broadcast_to(frame_->result(use(x), x.weak), dims);
  }
  loop.length = loop.consumed[0].type.dims[0];
  loop.body = [&](const Leaf&, std::span<const Leaf> row) {
    size_t at = 0;
    return step(map_leaves<Leaf>(source, [&](const Leaf&) { return row[at++]; }));
  };
  run_loop(loop);
  return loop.stacked;
}

namespace {

bool has(const std::set<std::string>& names, const char* name) { return names.count(name) != 0; }

/// Names assigned directly in a loop's body, with its own break and continue.
std::set<std::string> body_names(const ast::ExprPtr& body) {
  std::set<std::string> names;
  assigned_names(*body, names);
  return names;
}

}  // namespace

void Elaborator::while_loop(const ast::While& s) {
  std::set<std::string> names = body_names(s.body);
  std::set<std::string> asking;
  assigned_names(*s.condition, asking);
  if (const std::vector<std::string> changed = assigned_locals(asking); !changed.empty()) {
    SpanScope at(*this, s.condition->span);
    error(Kind::Unsupported, fmt::format("the condition of `while` assigns to `{}`", changed[0]), "write while true { …; if not (…) { break }; … }");
  }
  contexts_.back().scopes.emplace_back();
  bool breaks = has(names, break_flag), returns = has(names, return_flag);
  if (breaks) declare(break_flag, bool_leaf(false));
  declare("%end", Sym());   // it does not count
  names.erase(continue_flag);
  Loop loop;
  loop.names = assigned_locals(names);
  bool endless = false;   // `while true`
  loop.condition = [&]() -> Leaf {
    auto ask = [&]() -> Sym {
      // It is asked only where nothing was left early, which a block inside it should know.
      std::vector<std::pair<const char*, Sym>> flags;
      for (const char* flag : {break_flag, continue_flag, return_flag})
        if (find_local(flag)) flags.emplace_back(flag, local(flag));
      nothing_left_early();
      Sym c = expr(s.condition);
      for (auto& [flag, value] : flags) set_local(flag, value);
      SpanScope at(*this, s.condition->span);
      Leaf condition = truth(c, "`while`");
      endless = condition.constant && condition.constant->integer;
      return condition;
    };
    if (!breaks && !returns) return *ask().leaf();
    return *conditional(left_early(), []() -> Sym { return bool_leaf(false); }, ask, {}).leaf();
  };
  loop.body = [&](const Leaf&, std::span<const Leaf>) -> Sym {
    contexts_.back().scopes.emplace_back();
    declare(continue_flag, bool_leaf(false));
    nothing_left_early();
    block(*s.body, false);
    contexts_.back().scopes.pop_back();
    return Sym::unit();
  };
  run_loop(loop);
  if (endless && !breaks && returns) set_local(return_flag, bool_leaf(true));   // it only ends by returning
  contexts_.back().scopes.pop_back();
}

void Elaborator::counted_loop(const Leaf& low, const Leaf& high, const ast::For& s, const std::function<Sym(const Leaf&)>& element) {
  std::set<std::string> names = body_names(s.body);
  bool leaves = has(names, break_flag) || has(names, return_flag);
  contexts_.back().scopes.emplace_back();
  declare(break_flag, bool_leaf(false));
  names.erase(continue_flag);
  auto step = [&](const Leaf& index) {
    contexts_.back().scopes.emplace_back();
    declare(continue_flag, bool_leaf(false));
    nothing_left_early();
    bind(s.pattern, element(index), false);
    block(*s.body, false);
    contexts_.back().scopes.pop_back();
  };
  Loop loop;
  bool known = low.dim && high.dim && !leaves;
  if (known) {
    loop.length = max(*high.dim - *low.dim, Dim(0));
    bool weak = true;
    DType dtype = promote(low.type.dtype, true, high.type.dtype, true, &weak);
    loop.names = assigned_locals(names);
    loop.body = [&](const Leaf& index, std::span<const Leaf>) -> Sym {
      Leaf i = cast(index, dtype, true);
      step(low.dim->is(0) ? i : binary(ast::BinaryOp::Add, i, low));
      return Sym::unit();
    };
    run_loop(loop);
  } else {
    bool weak = false;
    DType dtype = promote(low.type.dtype, low.weak, high.type.dtype, high.weak, &weak);
    declare("%index", frame_->result(use(cast(low, dtype, weak)), weak));
    names.insert("%index");
    if (leaves) names.insert(break_flag);
    loop.names = assigned_locals(names);
    Leaf end = frame_->result(use(cast(high, dtype, weak)), weak);
    declare("%end", end);
    loop.condition = [&]() -> Leaf {
      auto more = [&]() -> Sym { return binary(ast::BinaryOp::Less, *local("%index").leaf(), end); };
      return *conditional(left_early(), []() -> Sym { return bool_leaf(false); }, more, {}).leaf();
    };
    loop.body = [&](const Leaf&, std::span<const Leaf>) -> Sym {
      Leaf index = *local("%index").leaf();
      step(index);
      set_local("%index", cast(binary(ast::BinaryOp::Add, index, int_leaf(1)), dtype, weak));
      return Sym::unit();
    };
    run_loop(loop);
  }
  contexts_.back().scopes.pop_back();
}

/// Over a file, some lines at a time: a loop that carries the place where the rest begins.
void Elaborator::stream_loop(const Sym::Record& stream, const ast::For& s) {
  Leaf path = *stream.values[0].leaf(), count = *stream.values[1].leaf();
  const bool replace = stream.values[2].leaf()->constant->integer != 0;
  std::set<std::string> names = body_names(s.body);
  contexts_.back().scopes.emplace_back();
  declare(break_flag, bool_leaf(false));
  names.erase(continue_flag);
  names.insert(break_flag);
  names.insert("%place");
  declare("%end", Sym());   // it does not count
  declare("%place", frame_->result(use(int_leaf(0, DType::I64, false))));
  Loop loop;
  loop.names = assigned_locals(names);
  loop.condition = [&]() -> Leaf {
    auto more = [&]() -> Sym { return binary(ast::BinaryOp::GreaterEqual, *local("%place").leaf(), int_leaf(0)); };
    return *conditional(left_early(), []() -> Sym { return bool_leaf(false); }, more, {}).leaf();
  };
  loop.body = [&](const Leaf&, std::span<const Leaf>) -> Sym {
    std::vector<Leaf> read = emit_many(*find_op("read_chunk"), {use(path), use(*local("%place").leaf()), use(count)}, {{"defines", Dim::symbol("lines")}, {"replace", replace}});
    contexts_.back().scopes.emplace_back();
    declare(continue_flag, bool_leaf(false));
    nothing_left_early();
    bind(s.pattern, read[0], false);
    block(*s.body, false);
    contexts_.back().scopes.pop_back();
    set_local("%place", read[1]);
    return Sym::unit();
  };
  run_loop(loop);
  contexts_.back().scopes.pop_back();
}

void Elaborator::for_loop(const ast::For& s) {
  Sym source = expr(s.source);
  SpanScope at(*this, s.source->span);
  if (auto* r = source.as<Sym::Record>(); r && r->names.size() == 3 && r->names[0] == "%lines_of") return stream_loop(*r, s);
  if (auto* r = source.as<Sym::Range>()) {
    auto bound = [&](const Sym& b) {
      const Leaf* x = b.leaf();
      if (!x || x->type.rank() != 0 || !is_int(x->type.dtype)) error(Kind::Type, fmt::format("a range takes integers, and this is {}", describe(b)));
      return *x;
    };
    return counted_loop(bound(*r->low), bound(*r->high), s, [](const Leaf& i) -> Sym { return i; });
  }
  std::vector<Leaf> leaves;
  collect_leaves(source, leaves);
  const char* tuple = source.as<Sym::Tuple>() ? "a tuple of arrays gives their rows side by side; values one after another stand in an array, [a, b], or go through tree_map(f, t)" : nullptr;
  if (leaves.empty()) error(Kind::Type, fmt::format("`for` runs over an array or a range, and this is {}", describe(source)), tuple ? tuple : "");
  for (const Leaf& x : leaves)
    if (x.type.rank() == 0)
      error(Kind::Type, fmt::format("`for` runs over an array or a range, and this is {}", describe(source)),
            tuple                        ? tuple
            : x.type.dtype == DType::Str ? "its characters are tokenize(text, \"chars\")" : "write 0..n for the numbers below n");
  for (const Leaf& x : leaves) require_equal(leaves[0].type.dims[0], x.type.dims[0], "the arrays of a `for` have {left} and {right} rows");
  counted_loop(int_leaf(0), size_leaf(leaves[0].type.dims[0]), s, [&](const Leaf& i) {
    return map_leaves<Leaf>(source, [&](const Leaf& x) {
      return x.type.is_ragged() ? emit(*find_op("ragged_row"), {use(x), use(i)}, {{"defines", Dim::symbol("k")}}, x.weak) : gather_rows(x, i, 0);
    });
  });
}

}  // namespace tercet
