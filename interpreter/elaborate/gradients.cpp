// Derivatives of calls: grad, value_and_grad, vjp, jvp, jacobian, checkpoint, custom_grad.
#include <fmt/format.h>

#include <algorithm>

#include "interpreter/elaborate/lowering.h"
#include "interpreter/ir/rewrite.h"
#include "interpreter/ops/diff_rules.h"
#include "interpreter/ops/rows.h"
#include "interpreter/passes/reverse.h"

namespace tercet {
namespace {

using Flags = std::vector<bool>;
using Ids = std::vector<ValueId>;

const char* title_of(const TransformSpec& spec) {
  switch (spec.derivative) {
    case Derivative::Gradient: return "grad";
    case Derivative::ValueAndGradient: return "value_and_grad";
    case Derivative::Jacobian: return "jacobian";
    case Derivative::Pullback: return "the function that vjp gives";
    case Derivative::Checkpoint: return "checkpoint";
    case Derivative::Custom: return "custom_grad";
  }
  return "";
}

std::vector<CallArgument> positional(std::span<const Sym> values, Span span) {
  std::vector<CallArgument> out;
  for (const Sym& v : values) out.push_back({"", v, span});
  return out;
}

std::vector<Leaf> leaves_of(const std::vector<CallArgument>& arguments) {
  std::vector<Leaf> out;
  for (const CallArgument& a : arguments) collect_leaves(a.value, out);
  return out;
}

/// A backward step on its own: function(inputs…, cotangents of the value's leaves…) gives the cotangents of xs.
struct PullbackCode {
  FunctionPtr function;
  Sym value, gradient;          // whose structure they have; leaves tell only type and weakness
};

/// The value under these sizes, which are known to be its own. It is an operation whatever the names are, so that sums of
/// cotangents group alike, and have the same bits, where sizes are numbers and where they are symbols.
ValueId renamed(Builder& b, ValueId value, const std::vector<Dim>& dims, Span span) { return b.emit(reshape_op, {value}, {{"dims", dims}}, span); }

Leaf only_type(const Leaf& x) { return {x.type, x.weak, nullptr, no_value, {}, {}}; }

}  // namespace

Sym derivative_of(Derivative kind, Sym of, TransformSpec spec) {
  spec.kind = ast::TransformKind::Grad;
  spec.derivative = kind;
  spec.text = fmt::format("{};{}", static_cast<int>(kind), spec.text);
  return Sym::Transformed{std::make_shared<const TransformSpec>(std::move(spec)), std::make_shared<const Sym>(std::move(of))};
}

/// A call as a closed function of some of its arrays; everything else is captured.
struct Elaborator::ClosedCall {
  FunctionPtr function;
  Ids arguments;                // of this frame: the arrays, then the captures
  Flags active;                 // the arrays
  Sym result;
  std::vector<Leaf> leaves;     // of the result: the function's results
};

/// The backward step of a whole call: cotangents of all its floats are given, and all its active arrays' are wanted.
static Pullback pullback_of(const Function& f, const Flags& active, bool may_save) {
  std::vector<Type> types = f.result_types();
  Flags given;
  for (const Type& t : types) given.push_back(is_float(t.dtype));
  return ReverseMode::pull_back(f, {active, given, Flags(active.size(), false), may_save, {}, types});
}

/// Which arrays of a call's arguments a gradient is taken by.
struct Elaborator::WantedLeaves {
  Flags leaves;                                // in the order of collect_leaves over the arguments
  std::vector<size_t> arguments;               // positions within the call
  /// The gradient's structure: that of the only argument, or a tuple of several.
  Sym structure(const std::vector<CallArgument>& all) const {
    if (arguments.size() == 1) return all[arguments[0]].value;
    Sym::Tuple out;
    for (size_t i : arguments) out.elements.push_back(all[i].value);
    return out;
  }
};

Elaborator::ClosedCall Elaborator::close_call(const Sym& function, const std::vector<CallArgument>& arguments, const Flags& inside) {
  ClosedCall out;
  Frame* outer = frame_;
  Frame body("call", outer);
  std::vector<CallArgument> inner = arguments;
  size_t at = 0;
  for (CallArgument& a : inner)
    a.value = map_leaves<Leaf>(a.value, [&](const Leaf& x) {
      if (!inside[at++]) return x;
      out.arguments.push_back(use(x));
      out.active.push_back(is_float(x.type.dtype));
      return body.param(x.type, x.weak);
    });
  frame_ = &body;
  Ids ids;
  try {
    out.result = apply(function, std::move(inner), span_);
    collect_leaves(out.result, out.leaves);
    for (const Leaf& x : out.leaves) ids.push_back(use(x));
  } catch (...) {
    frame_ = outer;
    throw;
  }
  frame_ = outer;
  out.function = body.finish(ids);
  for (const Leaf& c : body.captures()) {
    out.arguments.push_back(use(c));
    out.active.push_back(false);
  }
  for (size_t i = 0; i < ids.size(); ++i) out.leaves[i].type = out.function->type(out.function->results[i]);
  return out;
}

Elaborator::WantedLeaves Elaborator::wanted_leaves(const Sym::Transformed& t, const std::vector<CallArgument>& arguments) {
  const TransformSpec& spec = *t.spec;
  std::vector<std::string> names = parameter_names(*t.function);
  auto name_at = [&](size_t i) { return arguments[i].name.empty() ? (i < names.size() ? names[i] : "") : arguments[i].name; };
  WantedLeaves out;
  for (const std::string& name : spec.wanted) {
    bool position = name[0] == '-' || std::isdigit(static_cast<unsigned char>(name[0]));
    auto count = static_cast<int64_t>(arguments.size());
    int64_t i = 0;
    if (position) i = std::stoll(name) + (name[0] == '-' ? count : 0);
    else
      while (i < count && name_at(static_cast<size_t>(i)) != name) ++i;
    if (i < 0 || i >= count) {
      std::string near = position ? "" : closest_name(name, names);
      error(position ? Kind::Type : Kind::Name, position ? fmt::format("{}[{}]: the call gives {} argument{}", title_of(spec), name, count, count == 1 ? "" : "s")
                                                         : fmt::format("{}[{}]: the call gives no argument `{}`", title_of(spec), name, name),
            near.empty() || near == name ? "" : fmt::format("did you mean `{}`?", near));
    }
    out.arguments.push_back(static_cast<size_t>(i));
  }
  if (spec.wanted.empty()) {
    if (arguments.empty()) error(Kind::Type, fmt::format("{} needs an argument to differentiate by", title_of(spec)));
    out.arguments.push_back(0);
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    bool wanted = std::find(out.arguments.begin(), out.arguments.end(), i) != out.arguments.end();
    std::vector<Leaf> inside;
    collect_leaves(arguments[i].value, inside);
    std::string title = name_at(i).empty() ? fmt::format("argument {}", i + 1) : name_at(i);
    if (wanted && (inside.empty() || arguments[i].value.is_function()))
      error(Kind::Type, fmt::format("`{}` is {}, and {} goes by floats", title, describe(arguments[i].value), title_of(spec)));
    for (const Leaf& x : inside) {
      if (wanted && !is_float(x.type.dtype))
        error(Kind::Type, fmt::format("{} by `{}`, which {} {}: only floats have gradients", title_of(spec), title, arguments[i].value.leaf() ? "is" : "contains", describe(x)),
              is_int(x.type.dtype) ? "write 3.0 or f32(x), or name the parameters to differentiate by: grad[0]" : "name the parameters to differentiate by: grad[0]");
      out.leaves.push_back(wanted);
    }
  }
  std::vector<size_t> sorted = out.arguments;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) error(Kind::Type, fmt::format("{} names a parameter twice", title_of(spec)));
  return out;
}

/// The tree with values of this frame for leaves.
Sym Elaborator::tree_of(const Sym& like, std::span<const ValueId> ids, size_t& at) {
  return map_leaves<Leaf>(like, [&](const Leaf& x) { return frame_->result(ids[at++], x.weak); });
}

Sym Elaborator::apply_derivative(const Sym::Transformed& t, std::vector<CallArgument> arguments) {
  for (CallArgument& a : arguments)
    if (a.value.as<Sym::Range>()) a.value = array(a.value, title_of(*t.spec));
  // The derivative of a compiled function is compiled as a whole.
  if (auto* jit = t.function->as<Sym::Transformed>(); jit && jit->spec->kind == ast::TransformKind::Jit && !inside_jit_ && t.spec->derivative != Derivative::Pullback && t.spec->derivative != Derivative::Custom) {
    Sym derived = Sym::Transformed{t.spec, jit->function};
    return apply(Sym::Transformed{jit->spec, std::make_shared<const Sym>(derived)}, std::move(arguments), span_);
  }
  switch (t.spec->derivative) {
    case Derivative::Gradient:
    case Derivative::ValueAndGradient: return apply_gradient(t, arguments);
    case Derivative::Jacobian: return apply_jacobian(t, arguments);
    case Derivative::Pullback: return apply_pullback(t, arguments);
    case Derivative::Checkpoint: return apply_checkpoint(t, arguments);
    case Derivative::Custom: return apply_custom(t, arguments);
  }
  return {};
}

Sym Elaborator::apply_gradient(const Sym::Transformed& t, const std::vector<CallArgument>& arguments) {
  const TransformSpec& spec = *t.spec;
  WantedLeaves wanted = wanted_leaves(t, arguments);
  ClosedCall call = close_call(*t.function, arguments, wanted.leaves);
  const Sym* value = &call.result;
  if (spec.aux) {
    auto* pair = call.result.as<Sym::Tuple>();
    if (!pair || pair->elements.size() != 2) error(Kind::Type, fmt::format("{}[aux=true] wants a function that gives (value, more), and this gives {}", title_of(spec), describe(call.result)));
    value = &pair->elements[0];
  }
  if (!value->leaf() || call.leaves[0].type.rank() != 0 || !is_float(call.leaves[0].type.dtype)) {
    bool array = value->leaf() && call.leaves[0].type.rank() != 0;
    error(Kind::Type, fmt::format("{} wants a function that gives one float, and this gives {}", title_of(spec), array ? describe(call.leaves[0]) : describe(*value)),
          array ? "take sum(…) or mean(…) of it, or use jacobian(f)" : value->as<Sym::Tuple>() ? "with aux=true it may give (value, more)" : "");
  }
  ReverseMode mode(builder());
  Ids results = mode.forward(*call.function, call.arguments, call.active), seeds(results.size(), no_value);
  seeds[0] = filled(builder(), builder().type(results[0]), 1, span_);
  mode.backward(seeds);
  // In the order of the arguments; the structure may want another.
  std::vector<CallArgument> gradients = arguments;
  size_t parameter = 0, leaf = 0;
  for (CallArgument& a : gradients)
    a.value = map_leaves<Leaf>(a.value, [&](const Leaf& x) { return wanted.leaves[leaf++] ? frame_->result(mode.gradient_or_zeros(parameter++), x.weak) : x; });
  Sym gradient = wanted.structure(gradients);
  size_t at = 0;
  Sym result = tree_of(call.result, results, at);
  if (spec.derivative == Derivative::ValueAndGradient) return Sym::Tuple{{result, gradient}};
  if (!spec.aux) return gradient;
  return Sym::Tuple{{gradient, result.as<Sym::Tuple>()->elements[1]}};
}

Sym Elaborator::vjp(const Sym& function, std::span<const Sym> xs) {
  std::vector<CallArgument> arguments = positional(xs, span_);
  for (CallArgument& a : arguments)
    if (a.value.as<Sym::Range>()) a.value = array(a.value, "vjp");
  std::vector<Leaf> all = leaves_of(arguments);
  ClosedCall call = close_call(function, arguments, Flags(all.size(), true));
  Pullback p = pullback_of(*call.function, call.active, true);
  Ids values = with_saved(*call.function, p.saved, call.arguments);
  auto code = std::make_shared<PullbackCode>();
  code->function = p.function;
  // Under the names that sizes have here, which a function that computes them gives to each call anew.
  code->value = map_leaves<Leaf>(call.result, [&, i = size_t{0}](const Leaf& x) mutable { return only_type(frame_->result(values[i++], x.weak)); });
  Sym::Tuple gradient, inputs;
  for (const CallArgument& a : arguments) gradient.elements.push_back(map_leaves<Leaf>(a.value, only_type));
  code->gradient = gradient.elements.size() == 1 ? gradient.elements[0] : Sym(gradient);
  inputs.elements.push_back(Handle{"pullback", code});
  for (ValueId v : call.arguments) inputs.elements.push_back(frame_->result(v));
  for (size_t i = call.leaves.size(); i < values.size(); ++i) inputs.elements.push_back(frame_->result(values[i]));
  size_t at = 0;
  return Sym::Tuple{{tree_of(call.result, values, at), derivative_of(Derivative::Pullback, inputs)}};
}

/// Do the first `count` parameters bring these sizes? Others were computed in the function, which gives them names of its
/// own again.
static bool brings(const Function& f, size_t count, const std::vector<Dim>& dims) {
  std::vector<uint64_t> brought, wanted;
  for (size_t i = 0; i < count; ++i)
    for (const Dim& d : f.type(f.params[i]).dims) d.collect_symbols(brought);
  for (const Dim& d : dims) d.collect_symbols(wanted);
  return std::all_of(wanted.begin(), wanted.end(), [&](uint64_t s) { return std::find(brought.begin(), brought.end(), s) != brought.end(); });
}

/// A cotangent for each float of the value, in its structure.
Sym Elaborator::apply_pullback(const Sym::Transformed& t, const std::vector<CallArgument>& arguments) {
  const auto& inputs = t.function->as<Sym::Tuple>()->elements;
  const auto& code = *static_cast<const PullbackCode*>(inputs[0].as<Handle>()->object.get());
  if (arguments.size() != 1) error(Kind::Type, "the function that vjp gives takes one argument: a cotangent of the value");
  std::vector<Leaf> expected, given;
  collect_leaves(code.value, expected);
  collect_leaves(arguments[0].value, given);
  if (expected.size() != given.size())
    error(Kind::Type, fmt::format("the cotangent has {} array{}, and the value {}", given.size(), given.size() == 1 ? "" : "s", expected.size()), "give it the structure of the value");
  Ids ids;
  const Function& f = *code.function;
  auto pass = [&](const Leaf& x) {
    const Type& to = f.type(f.params[ids.size()]);
    ids.push_back(brings(f, inputs.size() - 1, to.dims) ? renamed(builder(), use(x), to.dims, span_) : use(x));
  };
  for (size_t i = 1; i < inputs.size(); ++i) pass(*inputs[i].leaf());
  for (size_t i = 0; i < expected.size(); ++i) {
    const Type& type = expected[i].type;
    if (!is_float(type.dtype)) continue;
    if (given[i].type.rank() != type.rank() || !is_number(given[i].type.dtype))
      error(Kind::Shape, fmt::format("the cotangent is {}, and the value {}", describe(given[i]), describe(expected[i])));
    for (size_t k = 0; k < type.dims.size(); ++k)
      require_equal(given[i].type.dims[k], type.dims[k], fmt::format("axis {} of the cotangent is {{left}}, and of the value {{right}}", k));
    pass(cast(given[i], type.dtype));
  }
  Ids gradients = inline_function(builder(), f, ids);
  std::vector<Leaf> wanted;
  collect_leaves(code.gradient, wanted);
  size_t at = 0;
  return map_leaves<Leaf>(code.gradient, [&](const Leaf& x) {
    if (is_float(x.type.dtype)) return frame_->result(gradients[at++], x.weak);
    return full(x.type.dims, float_leaf(0), DType::F32);   // an integer moves nothing
  });
}

/// The backward step is linear in its cotangents; the transpose of its transpose goes forward.
Sym Elaborator::jvp(const Sym& function, std::span<const Sym> xs, std::span<const Sym> ts) {
  if (xs.size() != ts.size()) error(Kind::Type, fmt::format("jvp has {} value{} and {} tangent{}", xs.size(), xs.size() == 1 ? "" : "s", ts.size(), ts.size() == 1 ? "" : "s"), "jvp(f, (x, y), (dx, dy))");
  std::vector<CallArgument> arguments = positional(xs, span_), tangents = positional(ts, span_);
  std::vector<Leaf> all = leaves_of(arguments), changes = leaves_of(tangents);
  if (all.size() != changes.size()) error(Kind::Type, "jvp: the tangents have another structure than the values");
  ClosedCall call = close_call(function, arguments, Flags(all.size(), true));
  Pullback p = pullback_of(*call.function, call.active, false);
  Ids values = inline_function(builder(), *call.function, call.arguments), inputs = call.arguments, seeds;
  Flags active(inputs.size(), false);
  for (size_t i = 0; i < call.leaves.size(); ++i) {
    if (!is_float(call.leaves[i].type.dtype)) continue;
    inputs.push_back(zeros_of(builder(), builder().type(values[i]), span_));   // nothing depends on it
    active.push_back(true);
  }
  ReverseMode mode(builder());
  mode.forward(*p.function, inputs, active);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!call.active[i]) continue;
    const Type& type = all[i].type;
    if (changes[i].type.rank() != type.rank() || !is_number(changes[i].type.dtype)) error(Kind::Shape, fmt::format("jvp: a tangent is {}, and its value {}", describe(changes[i]), describe(all[i])));
    for (size_t k = 0; k < type.dims.size(); ++k)
      require_equal(changes[i].type.dims[k], type.dims[k], fmt::format("jvp: axis {} of a tangent is {{left}}, and of its value {{right}}", k));
    seeds.push_back(renamed(builder(), use(cast(changes[i], type.dtype)), type.dims, span_));
  }
  mode.backward(seeds);
  size_t at = 0, parameter = call.arguments.size(), leaf = 0;
  Sym value = tree_of(call.result, values, at);
  Sym change = map_leaves<Leaf>(call.result, [&](const Leaf& x) {
    const Type& type = builder().type(values[leaf++]);
    if (is_float(type.dtype)) return frame_->result(mode.gradient_or_zeros(parameter++), x.weak);
    return full(type.dims, float_leaf(0), DType::F32);
  });
  return Sym::Tuple{{value, change}};
}

/// The Jacobian's rows for result `which`: the backward step of each of its basis vectors, as lanes.
Sym Elaborator::jacobian_rows(const Function& pullback, std::span<const Leaf> inputs, std::span<const Type> results, size_t which, const Sym& like) {
  const Type& y = results[which];
  Dim n = element_count(y.dims);
  std::vector<Dim> square{n, n}, basis{n};
  basis.insert(basis.end(), y.dims.begin(), y.dims.end());
  Leaf row = emit(iota_op, {}, {{"dims", square}, {"axis", int64_t{0}}, {"dtype", DType::I64}});
  Leaf column = emit(iota_op, {}, {{"dims", square}, {"axis", int64_t{1}}, {"dtype", DType::I64}});
  Leaf unit = reshape(cast(emit(eq_op, {use(row), use(column)}), y.dtype), basis);
  Sym rows = map_lanes("jacobian", n, {&unit, 1}, [&](std::span<const Leaf> lane) -> Sym {
    Ids ids;
    for (const Leaf& x : inputs) ids.push_back(use(x));
    for (size_t i = 0; i < results.size(); ++i) {
      Type type = pullback.type(pullback.params[ids.size()]);
      if (!brings(pullback, inputs.size(), type.dims)) type = results[i];
      ids.push_back(i == which ? with_type(builder(), use(lane[0]), type, span_) : zeros_of(builder(), type, span_));
    }
    Ids gradients = inline_function(builder(), pullback, ids);
    size_t at = 0;
    return tree_of(like, gradients, at);
  });
  return map_leaves<Leaf>(rows, [&](const Leaf& x) {
    std::vector<Dim> dims = y.dims;
    dims.insert(dims.end(), x.type.dims.begin() + 1, x.type.dims.end());
    return reshape(x, dims);
  });
}

Sym Elaborator::apply_jacobian(const Sym::Transformed& t, const std::vector<CallArgument>& arguments) {
  WantedLeaves wanted = wanted_leaves(t, arguments);
  for (size_t i = 1; i < wanted.arguments.size(); ++i)
    if (wanted.arguments[i] < wanted.arguments[i - 1]) error(Kind::Type, "jacobian takes parameters in their order");
  ClosedCall call = close_call(*t.function, arguments, wanted.leaves);
  for (const Leaf& x : call.leaves)
    if (!is_float(x.type.dtype)) error(Kind::Type, fmt::format("jacobian wants a function that gives floats, and this gives {}", describe(x)));
  const size_t results = call.leaves.size();
  Pullback p = pullback_of(*call.function, call.active, true);
  Ids values = with_saved(*call.function, p.saved, call.arguments);
  std::vector<Leaf> inputs;
  for (ValueId v : call.arguments) inputs.push_back(frame_->result(v));
  for (size_t i = results; i < values.size(); ++i) inputs.push_back(frame_->result(values[i]));
  Sym like = map_leaves<Leaf>(wanted.structure(arguments), only_type);
  std::vector<Type> types;   // of the results
  for (size_t i = 0; i < results; ++i) types.push_back(builder().type(values[i]));
  size_t which = 0;
  std::function<Sym(const Sym&)> blocks = [&](const Sym& value) -> Sym {
    if (value.leaf()) {
      return jacobian_rows(*p.function, inputs, types, which++, like);
    }
    if (auto* tuple = value.as<Sym::Tuple>()) {
      Sym::Tuple out;
      for (const Sym& x : tuple->elements) out.elements.push_back(blocks(x));
      return out;
    }
    auto* record = value.as<Sym::Record>();
    if (!record) error(Kind::Type, fmt::format("jacobian wants a function that gives arrays, and this gives {}", describe(value)));
    Sym::Record out{record->names, {}};
    for (const Sym& x : record->values) out.values.push_back(blocks(x));
    return out;
  };
  return blocks(call.result);
}

/// The function's operations, and values of it behind its results.
std::vector<ValueId> Elaborator::with_saved(const Function& f, std::span<const ValueId> saved, std::span<const ValueId> arguments) {
  Function kept = f;
  kept.results.insert(kept.results.end(), saved.begin(), saved.end());
  return inline_function(builder(), kept, arguments);
}

/// Every array of the arguments is an operand: what is captured besides has no gradient anyway.
Sym Elaborator::apply_checkpoint(const Sym::Transformed& t, const std::vector<CallArgument>& arguments) {
  ClosedCall call = close_call(*t.function, arguments, Flags(leaves_of(arguments).size(), true));
  Ids results = emit_body(checkpoint_op, call.arguments, {}, {call.function});
  size_t at = 0;
  return tree_of(call.result, results, at);
}

/// Sizes that only the body knows get names of the operation's own.
std::vector<ValueId> Elaborator::emit_body(const OpDef& op, std::vector<ValueId> inputs, Attrs attrs, std::vector<FunctionPtr> bodies) {
  std::vector<uint64_t> inside;
  collect_defined(*bodies[0], inside);
  std::vector<Dim> defines;
  for (const Type& type : bodies[0]->result_types())
    for (const Dim& d : type.dims)
      if (mentions(d, inside)) defines.push_back(Dim::symbol("s"));
  if (!defines.empty()) attrs.set("defines", defines);
  return builder().emit_many(op, std::move(inputs), std::move(attrs), span_, std::move(bodies));
}

namespace {

/// How the results of custom_grad's rules are told to be wrong.
std::string floats_text(size_t n) { return fmt::format("{} float array{}", n, n == 1 ? "" : "s"); }

}  // namespace

Sym Elaborator::apply_custom(const Sym::Transformed& t, const std::vector<CallArgument>& arguments) {
  const auto& rules = t.function->as<Sym::Tuple>()->elements;
  std::vector<CallArgument> given = positional_arguments(rules[0], arguments);
  std::vector<Leaf> all = leaves_of(given);
  Frame* outer = frame_;
  Frame value("custom_grad", outer), forward("forward", outer), backward("backward", outer);
  Sym results, kept;
  std::vector<Leaf> value_leaves, forward_leaves, back_leaves;
  Ids value_ids, forward_ids, back_ids, inputs;
  auto inside = [&](Frame& frame, const std::function<void()>& work) {
    frame_ = &frame;
    try {
      work();
    } catch (...) {
      frame_ = outer;
      throw;
    }
    frame_ = outer;
  };
  auto called = [&](Frame& frame, const Sym& function) {
    std::vector<CallArgument> inner = given;
    for (CallArgument& a : inner) a.value = map_leaves<Leaf>(a.value, [&](const Leaf& x) { return frame.param(x.type, x.weak); });
    return apply(function, std::move(inner), span_);
  };
  auto finish = [&](const Sym& tree, std::vector<Leaf>& leaves, Ids& ids) {
    collect_leaves(tree, leaves);
    for (const Leaf& x : leaves) ids.push_back(use(x));
  };
  for (const Leaf& x : all) inputs.push_back(use(x));
  inside(value, [&] { finish(results = called(value, rules[0]), value_leaves, value_ids); });
  inside(forward, [&] {
    kept = called(forward, rules[1]);
    auto* pair = kept.as<Sym::Tuple>();
    if (!pair || pair->elements.size() != 2) error(Kind::Type, fmt::format("custom_grad's `forward` gives (value, kept), and this gives {}", describe(kept)));
    finish(kept, forward_leaves, forward_ids);
  });
  size_t n = value_leaves.size();
  for (size_t i = 0; i < n; ++i) {
    const Type& a = value.builder().type(value_ids[i]);
    bool same = i < forward_ids.size() && forward.builder().type(forward_ids[i]).dtype == a.dtype && forward.builder().type(forward_ids[i]).rank() == a.rank();
    if (!same) error(Kind::Type, fmt::format("custom_grad: f gives {}, and the value of `forward` is {}", describe(results), describe(kept.as<Sym::Tuple>()->elements[0])));
  }
  std::vector<Leaf> floats;
  for (const Leaf& x : all)
    if (is_float(x.type.dtype)) floats.push_back(x);
  inside(backward, [&] {
    const auto& pair = kept.as<Sym::Tuple>()->elements;
    Sym residual = map_leaves<Leaf>(pair[1], [&, i = n](const Leaf& x) mutable { return backward.param(forward.builder().type(forward_ids[i++]), x.weak); });
    Sym cotangent = map_leaves<Leaf>(results, [&, i = size_t{0}](const Leaf& x) mutable { return backward.param(value.builder().type(value_ids[i++]), x.weak); });
    Sym out = apply(rules[2], {{"", residual, span_}, {"", cotangent, span_}}, span_);
    collect_leaves(out, back_leaves);
    std::vector<Leaf> found;
    for (const Leaf& x : back_leaves)
      if (is_float(x.type.dtype)) found.push_back(x);
    bool fits = found.size() == floats.size();
    for (size_t i = 0; fits && i < floats.size(); ++i) fits = found[i].type.rank() == floats[i].type.rank();
    if (!fits) error(Kind::Type, fmt::format("custom_grad's `backward` gives the gradients of the arguments, {} of their shapes, and this gives {}", floats_text(floats.size()), describe(out)));
    for (size_t i = 0; i < floats.size(); ++i) {
      for (size_t k = 0; k < floats[i].type.dims.size(); ++k)
        require_equal(found[i].type.dims[k], floats[i].type.dims[k], fmt::format("axis {} of a gradient from custom_grad's `backward` is {{left}}, and of its argument {{right}}", k));
      back_ids.push_back(renamed(builder(), use(cast(found[i], floats[i].type.dtype)), floats[i].type.dims, span_));
    }
  });
  std::vector<Leaf> captures = value.captures();
  for (const Frame* frame : {&forward, &backward})
    for (const Leaf& leaf : frame->captures())
      if (std::none_of(captures.begin(), captures.end(), [&](const Leaf& c) { return c.frame == leaf.frame && c.id == leaf.id; })) captures.push_back(leaf);
  std::vector<FunctionPtr> bodies{value.finish_ordered(value_ids, captures), forward.finish_ordered(forward_ids, captures), backward.finish_ordered(back_ids, captures)};
  for (const Leaf& c : captures) inputs.push_back(use(c));
  Ids ids = emit_body(custom_grad_op, std::move(inputs), {{"arguments", static_cast<int64_t>(all.size())}}, std::move(bodies));
  size_t at = 0;
  return tree_of(results, ids, at);
}

/// Arguments in the order of the function's parameters, so that the rules of custom_grad may call them what they like.
std::vector<CallArgument> Elaborator::positional_arguments(const Sym& function, const std::vector<CallArgument>& arguments) {
  std::vector<std::string> names = parameter_names(function);
  std::vector<CallArgument> out = arguments;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].name.empty()) continue;
    auto at = static_cast<size_t>(std::find(names.begin(), names.end(), out[i].name) - names.begin());
    if (at >= out.size()) error(Kind::Name, fmt::format("`{}` is no parameter that this call fills", out[i].name), "give the arguments in order");
    std::swap(out[i], out[at]);
    if (at > i) --i;
    else out[at].name.clear();
  }
  for (CallArgument& a : out) a.name.clear();
  return out;
}

}  // namespace tercet
