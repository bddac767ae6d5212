// Transforms: reading of their brackets, and jit. vmap is in lanes.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "interpreter/elaborate/elaborator.h"
#include "interpreter/ir/rewrite.h"
#include "interpreter/ops/jit_call.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

const std::set<std::string>& option_names() {
  static const std::set<std::string> names{"out", "axis", "size", "devices", "reduce", "split", "threads", "math", "aux"};
  return names;
}

AxisSpec read_axis(const ast::Expr& e) {
  AxisSpec out;
  if (e.as<ast::Placeholder>()) return out;
  if (auto* n = e.as<ast::IntLiteral>()) {
    out.kind = AxisSpec::Kind::Axis;
    out.axis = n->negative ? -static_cast<int64_t>(n->magnitude) : static_cast<int64_t>(n->magnitude);
    return out;
  }
  if (auto* t = e.as<ast::Tuple>()) {
    out.kind = AxisSpec::Kind::Tuple;
    for (const auto& x : t->elements) out.children.push_back(read_axis(*x));
    return out;
  }
  if (auto* r = e.as<ast::Record>()) {
    out.kind = AxisSpec::Kind::Record;
    for (const auto& f : r->fields) out.names.push_back(f.name), out.children.push_back(read_axis(*f.value));
    return out;
  }
  fail(Kind::Syntax, e.span, "an axis is a number, `_` for shared, or a tuple or record of these", "as in vmap[0, _] or vmap[ids=0]");
}

/// "jit vmap[0,_] f": a function as its user would name it.
std::string title(const Sym& function) {
  if (auto* c = function.as<Sym::Closure>()) return c->code->name.empty() ? "a function without a name" : c->code->name;
  if (auto* b = function.as<Sym::Builtin>()) return b->def->name;
  auto* t = function.as<Sym::Transformed>();
  return t ? fmt::format("{} {}", ast::spelling(t->spec->kind), title(*t->function)) : "";
}

}  // namespace

std::string text_of(const AxisSpec& s) {
  if (s.kind == AxisSpec::Kind::Axis) return std::to_string(s.axis);
  if (s.kind == AxisSpec::Kind::Shared) return "_";
  std::string out;
  for (size_t i = 0; i < s.children.size(); ++i) out += (i ? "," : "") + (s.names.empty() ? "" : s.names[i] + "=") + text_of(s.children[i]);
  return "(" + out + ")";
}

/// An option that only pmap has; false when it is none.
bool Elaborator::read_device_option(const ast::Argument& a, TransformSpec& out) {
  if (a.name == "devices") {
    out.devices = static_int(expr(a.value), "`devices`");
    if (out.devices < 1) error(Kind::Value, fmt::format("`devices` is a number from 1, and this is {}", out.devices));
  } else if (a.name == "split") {
    out.split = static_bool(expr(a.value), "`split`");
  } else if (a.name == "out" && a.value->as<ast::Placeholder>()) {
    out.out_common = true;
  } else if (a.name == "reduce") {
    out.reduce = static_string(expr(a.value), "`reduce`");
    if (out.reduce != "mean" && out.reduce != "sum") error(Kind::Value, fmt::format("`reduce` is \"mean\" or \"sum\", and this is \"{}\"", out.reduce));
  } else {
    return false;
  }
  return true;
}

bool Elaborator::fast_math(const std::string& math) const {
  if (math != "fast" && math != "strict") error(Kind::Value, fmt::format("`math` is \"{}\"", math), "it is \"strict\", which is the default, or \"fast\"");
  return math == "fast";
}

TransformSpec Elaborator::read_spec(const ast::Transform& t) {
  TransformSpec out;
  out.kind = t.kind;
  for (const ast::Argument& a : t.specs) {
    out.text += (out.text.empty() ? "" : ",") + (a.name.empty() ? "" : a.name + "=");
    if (!a.name.empty() && option_names().count(a.name)) {
      SpanScope at(*this, a.span);
      if (a.name == "out" && a.value->as<ast::IntLiteral>()) out.out = read_axis(*a.value).axis;
      else if (a.name == "size") out.size = static_int(expr(a.value), "`size`");
      else if (a.name == "threads") out.threads = static_int(expr(a.value), "`threads`");
      else if (a.name == "math" && t.kind == ast::TransformKind::Jit) out.fast_math = fast_math(static_string(expr(a.value), "`math`"));
      else if (a.name == "axis") out.axis = static_string(expr(a.value), "`axis`");
      else if (a.name == "aux") out.aux = static_bool(expr(a.value), "`aux`");
      else if (t.kind == ast::TransformKind::Pmap && read_device_option(a, out)) {}
      else error(Kind::Unsupported, fmt::format("the option `{}` of {} is not there yet", a.name, ast::spelling(t.kind)));
      out.text += fmt::format("{}:{}:{}:{}:{}:{}:{}{}:{}:{}", out.out, out.size, out.threads, out.fast_math, out.axis, out.devices, out.split, out.out_common, out.reduce, out.aux);
      continue;
    }
    if (t.kind == ast::TransformKind::Jit) fail(Kind::Name, a.span, "jit has the options `threads` and `math`");
    if (t.kind == ast::TransformKind::Grad) {
      auto* name = a.value->as<ast::Name>();
      if (!a.name.empty() || (!name && !a.value->as<ast::IntLiteral>()))
        fail(Kind::Syntax, a.span, "grad takes positions and names of parameters, and the option `aux`", "as in grad[0, 2] or grad[params]");
      out.wanted.push_back(name ? name->name : text_of(read_axis(*a.value)));
      out.text += out.wanted.back();
      continue;
    }
    AxisSpec axis = read_axis(*a.value);
    out.text += text_of(axis);
    if (a.name.empty()) out.positional.push_back(std::move(axis));
    else out.named.emplace_back(a.name, std::move(axis));
  }
  return out;
}

Sym Elaborator::transform(const ast::Transform& t) {
  Sym f = expr(t.operand);
  if (!f.is_function())
    error(Kind::Type, fmt::format("`{}` takes a function, and this is {}", ast::spelling(t.kind), describe(f)), t.kind == ast::TransformKind::Vmap ? "axes go in brackets: vmap[0, _] f" : "");
  TransformSpec spec = read_spec(t);
  spec.span = span_;
  return Sym::Transformed{std::make_shared<const TransformSpec>(std::move(spec)), std::make_shared<const Sym>(std::move(f))};
}

Sym Elaborator::apply_transformed(const Sym::Transformed& t, std::vector<CallArgument> arguments, Span span) {
  SpanScope at(*this, span);
  if (t.spec->kind == ast::TransformKind::Vmap) return apply_vmap(t, std::move(arguments), span);
  if (t.spec->kind == ast::TransformKind::Grad) return apply_derivative(t, std::move(arguments));
  if (t.spec->kind == ast::TransformKind::Pmap) return apply_pmap(t, std::move(arguments), span);
  return apply_jit(t, std::move(arguments), span);
}

// ---- jit ----
bool Elaborator::same_size(const Dim& a, const Dim& b) const {
  if (a == b) return true;
  if (jit_sizes_ && jit_sizes_->equal_in_call(a, b)) throw EqualInCall{a, b};
  return false;
}

std::shared_ptr<JitCounter> Elaborator::jit_counter(const Sym& function) {
  std::shared_ptr<JitCounter>& counter = environment_.jit_counters()[identity(function)];
  if (!counter) counter = std::make_shared<JitCounter>();
  return counter;
}

Sym Elaborator::apply_jit(const Sym::Transformed& t, std::vector<CallArgument> arguments, Span span) {
  if (inside_jit_) return apply(*t.function, std::move(arguments), span);   // one program already
  JitCall call = elaborate_jit(t, std::move(arguments), span);
  std::vector<ValueId> ids = emit_jit_call(builder(), call.entry, std::move(call.inputs), span_);
  size_t at = 0;
  return map_leaves<Leaf>(call.result, [&](const Leaf&) {
    size_t i = at++;
    Leaf x = frame_->result(ids[i], call.leaves[i].weak);
    x.placement = call.leaves[i].placement;
    return x;
  });
}

Sym Elaborator::explain(const Sym& function, std::span<const Sym> arguments) {
  refuse_in_compiled("explain");
  if (!function.is_function()) error(Kind::Type, fmt::format("explain takes a function first, and this is {}", describe(function)), "explain(f, x) explains the call f(x)");
  auto* jit = function.as<Sym::Transformed>();
  TransformSpec spec;
  spec.kind = ast::TransformKind::Jit;
  bool is_jit = jit && jit->spec->kind == ast::TransformKind::Jit;
  Sym::Transformed compiled = is_jit ? *jit : Sym::Transformed{std::make_shared<const TransformSpec>(spec), std::make_shared<const Sym>(function)};
  std::vector<CallArgument> given;
  for (const Sym& a : arguments) given.push_back({"", a, span_});
  JitCall call = elaborate_jit(compiled, std::move(given), span_);
  return emit(*find_op("explain"), std::move(call.inputs), {{"jit", std::shared_ptr<const void>(call.entry)}, {"explain", true}, {"name", title(function)}});
}

Elaborator::JitCall Elaborator::elaborate_jit(const Sym::Transformed& t, std::vector<CallArgument> arguments, Span span) {
  // Parameters of the compiled function: the arguments' arrays, then what the function captured.
  std::vector<Leaf> given;
  for (CallArgument& a : arguments) collect_leaves(a.value, given);
  collect_leaves(*t.function, given);
  const std::optional<std::string> key = memo_key(t, arguments, given);
  if (key)
    if (std::optional<JitCall> known = remembered(*key, given)) return std::move(*known);
  jit_read_.clear();
  const size_t before = builder().mark();
  Frame* outer = frame_;
  Marks start = mark({});
  std::vector<bool> fixed(given.size(), false);
  JitSizes sizes;
  for (;;) {
    Frame body("jit", outer, true);
    size_t next = 0;
    auto inside = [&](const Leaf& x) {
      size_t i = next++;
      if (fixed[i]) return x;
      Type type = x.type;
      for (size_t k = 0; k < type.dims.size(); ++k)
        if (Dim& d = type.dims[k]; !d.is_ragged()) d = sizes.inside(fmt::format("n{}", i), k, d);
      Leaf param = body.carried_param(type, x.weak);
      param.placement = x.placement;
      param.untyped = x.untyped;
      return param;
    };
    std::vector<CallArgument> inner = arguments;
    for (CallArgument& a : inner) a.value = map_leaves<Leaf>(a.value, inside);
    Sym function = map_leaves<Leaf>(*t.function, inside);
    frame_ = &body;
    inside_jit_ = true;
    jit_frame_ = &body;
    jit_sizes_ = &sizes;
    Sym result;
    std::vector<ValueId> ids;
    std::vector<Leaf> leaves;
    auto leave = [&] {
      frame_ = outer;
      inside_jit_ = false;
      jit_frame_ = nullptr;
      jit_sizes_ = nullptr;
    };
    try {
      SpanScope called(*this, Span::of_call());
      result = apply(function, std::move(inner), Span::of_call());
      collect_leaves(result, leaves);
      for (const Leaf& x : leaves) ids.push_back(use(x));
    } catch (const StaticNeeded& needed) {
      // An argument that decides an axis: compiled per value.
      leave();
      restore(start, {});
      size_t i = 0, param = 0;
      for (; i < given.size(); ++i)
        if (!fixed[i] && param++ == needed.parameter) break;
      if (i == given.size() || !given[i].constant) throw;
      fixed[i] = true;
      continue;
    } catch (const EqualInCall& equal) {
      leave();
      restore(start, {});
      sizes.assume(equal);
      continue;
    } catch (Failure& failure) {
      leave();
      set_call_span(failure, span);
      throw;
    } catch (...) {
      leave();
      throw;
    }
    leave();
    const bool alone = builder().mark() == before && std::find(fixed.begin(), fixed.end(), true) == fixed.end();
    FunctionPtr f = body.finish(ids);
    JitCall call = jit_call(t, f, body, given, fixed);
    call.result = std::move(result);
    call.leaves = std::move(leaves);
    if (key && alone) {
      JitMemo memo{{}, call.entry, call.result, call.leaves, body.hidden, {*t.function}};
      for (const CallArgument& a : arguments) memo.kept.push_back(a.value);
      remember(*key, std::move(memo));
    }
    return call;
  }
}

Elaborator::JitCall Elaborator::jit_call(const Sym::Transformed& t, const FunctionPtr& f, const Frame& body, std::span<const Leaf> given,
                                         const std::vector<bool>& fixed) {
  JitCall out;
  for (size_t i = 0; i < given.size(); ++i)
    if (!fixed[i]) out.inputs.push_back(frame_->carry(given[i], span_));
  for (const Frame::Hidden& h : body.hidden) out.inputs.push_back(frame_->carry(hidden_leaf(h), span_));
  // The same program text means the same compiled code, whichever statement it was elaborated for.
  std::shared_ptr<JitEntry>& entry = environment_.jit_entries()[fingerprint(*f) + fmt::format("/{}{}", t.spec->threads, t.spec->fast_math ? "/fast" : "")];
  if (!entry) {
    entry = std::make_shared<JitEntry>();
    entry->function = f;
    entry->options = {t.spec->threads, t.spec->fast_math};
    entry->counter = jit_counter(t);
  }
  out.entry = entry;
  return out;
}

}  // namespace tercet
