// Expressions: literals, names, members, calls, comprehensions, formatted strings.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "interpreter/elaborate/check_names.h"
#include "interpreter/elaborate/elaborator.h"
#include "interpreter/elaborate/free_names.h"
#include "interpreter/ops/rows.h"

namespace tercet {

Sym Elaborator::expr(const ast::Expr& e) {
  check_stack(e.span);
  SpanScope at(*this, e.span);
  return eval(e);
}

namespace {

Leaf int_literal(const ast::IntLiteral& n, Span span) {
  uint64_t limit = n.negative ? uint64_t{1} << 63 : INT64_MAX;
  auto value = static_cast<int64_t>(n.negative ? uint64_t(0) - n.magnitude : n.magnitude);
  if (!n.suffix.empty()) {
    DType dtype = DType::I32;
    parse_dtype(n.suffix, &dtype);
    if (is_float(dtype)) return float_leaf(n.negative ? -static_cast<double>(n.magnitude) : static_cast<double>(n.magnitude), dtype, false);
    Leaf leaf = int_leaf(value, dtype, false);
    bool fits = dtype == DType::U64 ? !n.negative : n.magnitude <= limit && scalar_of_int(dtype, value).as_int() == value;
    if (!fits) fail(Kind::Value, span, fmt::format("this number does not fit in {}", n.suffix));
    return leaf;
  }
  if (n.magnitude > limit) fail(Kind::Value, span, "this number does not fit in i64", "write it as u64 (suffix u64) or as a float");
  return int_leaf(value, value >= INT32_MIN && value <= INT32_MAX ? DType::I32 : DType::I64);
}

Leaf float_literal(const ast::FloatLiteral& n) {
  if (n.suffix.empty()) return float_leaf(n.value);
  DType dtype = DType::F32;
  parse_dtype(n.suffix, &dtype);
  return float_leaf(n.value, dtype, false);
}

}  // namespace

Leaf string_leaf(Elaborator& e, const std::string& text) {
  std::string_view view = text;
  return e.emit(constant_op, {}, {{"value", Array::strings({&view, 1}).reshaped({})}});
}

Sym Elaborator::eval(const ast::Expr& e) {
  bool needed = std::exchange(needed_, true);
  if (auto* n = e.as<ast::Name>()) return name(*n, e.span);
  if (auto* n = e.as<ast::IntLiteral>()) return int_literal(*n, e.span);
  if (auto* n = e.as<ast::FloatLiteral>()) return float_literal(*n);
  if (auto* n = e.as<ast::BoolLiteral>()) return bool_leaf(n->value);
  if (auto* n = e.as<ast::StringLiteral>()) return string_leaf(*this, n->value);
  if (e.as<ast::NoneLiteral>()) return Sym();
  if (e.as<ast::Placeholder>()) error(Kind::Syntax, "`_` stands for nothing here", "it marks a shared argument in vmap[…] and an ignored name in a pattern");
  if (auto* n = e.as<ast::FString>()) return f_string(*n);
  if (auto* n = e.as<ast::Tuple>()) {
    Sym::Tuple out;
    for (const auto& x : n->elements) out.elements.push_back(expr(x));
    return out;
  }
  if (auto* n = e.as<ast::Record>()) {
    Sym::Record out;
    if (n->base) {
      Sym base = expr(n->base);
      auto* record = base.as<Sym::Record>();
      if (!record) error(Kind::Type, fmt::format("`..` takes a record, and this is {}", describe(base)));
      out = *record;
    }
    for (const auto& f : n->fields) {
      Sym value = expr(f.value);
      auto at = std::find(out.names.begin(), out.names.end(), f.name);
      if (at != out.names.end()) out.values[static_cast<size_t>(at - out.names.begin())] = value;
      else out.names.push_back(f.name), out.values.push_back(value);
    }
    return out;
  }
  if (auto* n = e.as<ast::ArrayLiteral>()) {
    std::vector<Sym> elements;
    for (const auto& x : n->elements) elements.push_back(expr(x));
    return columns_or_array(elements);
  }
  if (auto* n = e.as<ast::Comprehension>()) return comprehension(*n);
  if (e.as<ast::Block>()) return block(e, needed);
  if (auto* n = e.as<ast::If>()) return if_expression(*n, needed);
  if (auto* n = e.as<ast::Lambda>()) return lambda(n->function);
  if (auto* n = e.as<ast::Range>()) {
    auto low = std::make_shared<const Sym>(expr(n->low));
    return Sym::Range{low, std::make_shared<const Sym>(expr(n->high))};
  }
  if (auto* n = e.as<ast::Chain>()) return chain(*n);
  if (auto* n = e.as<ast::Unary>()) return unary(*n);
  if (auto* n = e.as<ast::Call>()) return call(*n, e.span);
  if (auto* n = e.as<ast::Pipe>()) return pipe(*n);
  if (auto* n = e.as<ast::Index>()) return index(*n);
  if (auto* n = e.as<ast::Member>()) return member(*n);
  if (auto* n = e.as<ast::Transform>()) return transform(*n);
  error(Kind::Unsupported, "this form has no meaning yet");
}

// ---- names ----
Elaborator::Binding* Elaborator::find_local(const std::string& name) {
  auto& scopes = contexts_.back().scopes;
  for (size_t i = scopes.size(); i-- > 0;) {
    auto found = scopes[i].names.find(name);
    if (found != scopes[i].names.end()) return &found->second;
  }
  return nullptr;
}

bool Elaborator::is_inside_comprehension(const std::string& name) const {
  const Context& c = contexts_.back();
  for (size_t i = c.comprehension; i < c.scopes.size(); ++i)
    if (c.scopes[i].names.count(name)) return true;
  return c.comprehension == 0;
}

const Sym* Elaborator::find_captured(const std::string& name) {
  for (auto& [n, value] : contexts_.back().captured)
    if (n == name) return &value;
  return nullptr;
}

Sym Elaborator::import_value(const std::string& name, const Value& value) {
  Frame* home = frame_;   // the function whose parameters globals are: the nearest that is compiled or run on its own
  while (home->parent() && !home->isolated()) home = home->parent();
  auto found = home->globals.find(name);
  if (found != home->globals.end()) return found->second;
  size_t at = 0;
  bool generic = home->isolated(), known = environment_.value_known(name);
  Sym sym = map_leaves<Leaf>(value, [&](const Array& a) -> Leaf {
    size_t leaf = at++;
    if (!generic && known && a.rank() == 0 && (is_int(a.dtype) || a.dtype == DType::Bool) && a.dtype != DType::U64) {
      // A statement runs once: its integers are known, so they may be sizes and axes.
      return softened(a.dtype == DType::Bool ? bool_leaf(a.as_int() != 0) : int_leaf(a.as_int(), a.dtype, a.weak));
    }
    if (!generic && a.rank() == 0 && a.dtype == DType::Str)   // so are its texts: paths, patterns
      return home->result(home->builder().emit(constant_op, {}, {{"value", a}}));
    Type type{a.dtype, {}};
    const bool untyped = a.weak && a.shape.size() == 1 && a.shape[0] == 0 && a.dtype == DType::F32;
    auto size = [&](size_t axis) {
      int64_t s = a.shape[axis];
      if (s == ragged_axis) return Dim::ragged();
      if (home == jit_frame_) return jit_sizes_->inside(fmt::format("{}{}", name, leaf ? std::to_string(leaf) : ""), axis, Dim(s));
      return generic ? Dim::symbol("n") : Dim(s);
    };
    for (size_t k = 0; k < a.shape.size(); ++k) type.dims.push_back(size(k));
    home->hidden.push_back({name, leaf});
    Leaf param = home->carried_param(type, a.weak && !untyped);
    param.untyped = untyped;
    param.placement = a.placement;
    return param;
  });
  return home->globals[name] = sym;
}

std::optional<Sym> Elaborator::global(const std::string& home, const std::string& name) {
  const std::string known_as = qualified(home, name);
  if (inside_jit_) jit_read_.insert(known_as);
  if (const Value* value = environment_.global(known_as)) return import_value(known_as, *value);
  if (auto c = find_constant(name)) return Sym(float_leaf(*c));
  if (ast::FunctionPtr f = environment_.library_function(name)) return Sym(Sym::Closure{f, {}, library_home});
  if (const BuiltinDef* b = find_builtin(name)) return Sym(Sym::Builtin{b});
  return std::nullopt;
}

void Elaborator::unknown_name(const std::string& name, Span span) {
  static const std::map<std::string, const char*> foreign{
      {"None", "write `none`"}, {"True", "write `true`"}, {"False", "write `false`"}, {"range", "write `0..n`"},
      {"np", "NumPy's functions have no prefix here: sum(x)"}, {"jnp", "JAX's functions have no prefix here: sum(x)"},
      {"torch", "functions have no prefix here: sum(x)"}, {"str", "write f\"{x}\""},
      {"float", "write f32(x) or f64(x)"}, {"int", "write i32(x) or i64(x)"}, {"float64", "write f64"}, {"float32", "write f32"},
      {"float16", "write f16"}, {"bfloat16", "write bf16"}, {"int64", "write i64"}, {"int32", "write i32"}, {"int16", "write i16"},
      {"int8", "write i8"}, {"uint64", "write u64"}, {"uint32", "write u32"}, {"uint16", "write u16"}, {"uint8", "write u8"},
      {"bool_", "write bool"}, {"array", "write [a, b]"}, {"asarray", "write [a, b]"}, {"zip", "write (a, b) as the source: for (x, y) in (a, b)"},
      {"enumerate", "write `for i in 0..len(x)`"}, {"open", "write read_text(path)"}, {"type", "write dtype(x) or shape(x)"},
      {"concatenate", "write concat((a, b))"}, {"astype", "write f32(x)"}, {"newaxis", "write `none`: x[:, none]"},
      {"PRNGKey", "write key(seed)"}, {"split_key", "write split(k, n)"}, {"shuffle", "write permutation(k, x)"}, {"rand", "write uniform(k, shape)"},
      {"ord", "write codepoints(text)[0]"}, {"reverse", "write flip(x)"}, {"reversed", "write flip(x)"},
      {"re", "patterns have functions without prefix: matches, extract, tokenize, replace_matches, split_matches"},
      {"randn", "write normal(k, shape)"}, {"seed", "write key(seed), and pass the key on"}};
  auto known = foreign.find(name);
  std::string help = known != foreign.end() ? known->second : "";
  if (auto later = environment_.bound_later(here(name))) help = fmt::format("line {} defines it: move that above", later->line);
  if (help.empty()) {
    std::vector<std::string> candidates = environment_.global_names(contexts_.back().home);
    for (const Scope& s : contexts_.back().scopes)
      for (auto& [n, b] : s.names) candidates.push_back(n);
    for (const std::string& n : builtin_names()) candidates.push_back(n);
    std::string near = closest_name(name, candidates);
    if (!near.empty()) help = fmt::format("did you mean `{}`?", near);
  }
  fail(Kind::Name, span, fmt::format("`{}` is not defined", name), help);
}

Sym Elaborator::name(const ast::Name& n, Span span) {
  if (Binding* b = find_local(n.name)) return b->value;
  if (const Sym* c = find_captured(n.name)) return *c;
  if (auto g = global(n.name)) return *g;
  unknown_name(n.name, span);
}

Sym Elaborator::lambda(const ast::FunctionPtr& f) {
  Sym::Closure out{f, {}, contexts_.back().home};
  std::set<std::string> names;
  free_names(*f, names);
  for (const std::string& n : names) {
    if (Binding* b = find_local(n)) {
      // What stands outside every block of the program is a global: it is seen as it is at the call.
      bool is_global = contexts_.back().top_level && contexts_.back().scopes[0].names.count(n) &&
                       b == &contexts_.back().scopes[0].names[n];
      if (is_global) continue;
      b->captured = true;
      out.captured.push_back({n, b->value});
    } else if (const Sym* c = find_captured(n)) {
      out.captured.push_back({n, *c});
    }
  }
  return out;
}

Sym Elaborator::module_member(const Sym::Module& module, const std::string& name, Span span) {
  if (std::find(module.names.begin(), module.names.end(), name) != module.names.end())
    if (auto value = global(module.home, name)) return *value;
  throw Failure(no_member(module.names, name, span));
}

Sym Elaborator::member(const ast::Member& m) {
  Sym base = expr(m.base);
  if (auto* r = base.as<Sym::Record>())
    if (const Sym* value = field<Leaf>(*r, m.name)) return *value;
  if (auto* module = base.as<Sym::Module>()) return module_member(*module, m.name, m.name_span);
  SpanScope at(*this, m.name_span);
  if (m.name == "shape" || m.name == "dtype" || m.name == "T" || m.name == "size" || m.name == "ndim")
    error(Kind::Name, fmt::format("{} has no field `{}`", describe(base), m.name),
          m.name == "T" ? "write transpose(x)" : m.name == "ndim" ? "write len(shape(x))" : fmt::format("write {}(x)", m.name == "size" ? "len" : m.name));
  std::string near;
  if (auto* r = base.as<Sym::Record>()) near = closest_name(m.name, r->names);
  error(Kind::Name, fmt::format("{} has no field `{}`", describe(base), m.name),
        !near.empty() ? fmt::format("did you mean `{}`?", near) : find_builtin(m.name) || environment_.library_function(m.name) ? fmt::format("call it: x.{}()", m.name) : "");
}

// ---- calls ----
Sym Elaborator::call(const ast::Call& c, Span span, const Sym* piped) {
  std::vector<CallArgument> arguments;
  if (piped) arguments.push_back({"", *piped, span});
  Sym callee;
  bool resolved = false;
  if (auto* m = c.callee->as<ast::Member>()) {   // x.f(a) is f(x, a) when x has no field f
    Sym base = expr(m->base);
    auto* record = base.as<Sym::Record>();
    const Sym* value = record ? field<Leaf>(*record, m->name) : nullptr;
    if (auto* module = base.as<Sym::Module>()) callee = module_member(*module, m->name, m->name_span);
    else if (value) callee = *value;
    else {
      arguments.push_back({"", base, m->base->span});
      callee = name(ast::Name{m->name}, m->name_span);
    }
    resolved = true;
  }
  if (!resolved) callee = expr(c.callee);
  for (const ast::Argument& a : c.arguments) arguments.push_back({a.name, expr(a.value), a.span});
  SpanScope at(*this, span);
  return apply(callee, std::move(arguments), span);
}

Sym Elaborator::pipe(const ast::Pipe& p) {
  Sym value = expr(p.first);
  for (size_t i = 0; i < p.stages.size(); ++i) {
    const ast::ExprPtr& stage = p.stages[i];
    SpanScope at(*this, stage->span);
    if (auto* c = stage->as<ast::Call>(); c && !p.whole[i] && !c->callee->as<ast::Transform>()) value = call(*c, stage->span, &value);
    else value = apply(expr(stage), {{"", value, p.first->span}}, stage->span);
  }
  return value;
}

// ---- arrays ----
Leaf Elaborator::array(const Sym& value, const char* what) {
  if (auto* leaf = value.leaf()) return *leaf;
  if (auto* r = value.as<Sym::Range>()) {
    Dim low = size(*r->low, "a range"), high = size(*r->high, "a range");
    Leaf steps = iota(max(high - low, Dim(0)), DType::I32);
    return low.is(0) ? steps : binary(ast::BinaryOp::Add, steps, cast(size_leaf(low), DType::I32, true));
  }
  if (auto* t = value.as<Sym::Tuple>(); t && !t->elements.empty()) {
    bool leaves = std::all_of(t->elements.begin(), t->elements.end(), [](const Sym& e) { return e.leaf() != nullptr; });
    if (leaves) return array_literal(t->elements);
  }
  error(Kind::Type, fmt::format("{} takes an array, and this is {}", what, describe(value)),
        value.is_function() ? "call the function first: f(x)" : "");
}

Leaf Elaborator::dtype_joined(std::span<const Leaf> leaves, std::vector<Leaf>& converted) {
  auto typed = std::find_if(leaves.begin(), leaves.end(), [](const Leaf& x) { return !x.untyped; });
  const Leaf& first = typed == leaves.end() ? leaves[0] : *typed;
  DType dtype = first.type.dtype;
  bool weak = first.weak;
  for (const Leaf& x : leaves) {
    if (x.untyped) continue;
    bool number = x.type.dtype <= DType::F64 && dtype <= DType::F64;
    if (!number && x.type.dtype != dtype) error(Kind::Type, fmt::format("an array holds one type: {} against {}", name_of(dtype), name_of(x.type.dtype)));
    if (number) dtype = promote(dtype, weak, x.type.dtype, x.weak, &weak);
  }
  for (const Leaf& x : leaves) converted.push_back(cast(x, dtype));
  return converted[0];
}

/// Elements whose first sizes are known to differ (or that are rows of such) are the rows of a ragged array.
bool Elaborator::ragged_literal(std::span<const Leaf> parts, Leaf& out) {
  auto rows = [](const Leaf& x) { return x.type.rank() > 0; };
  if (!std::all_of(parts.begin(), parts.end(), rows)) return false;
  bool differ = false, inside = false;
  auto known_to_differ = [](const Dim& a, const Dim& b) { return a.constant() && b.constant() && !(a == b); };
  for (const Leaf& p : parts) {
    if (p.type.rank() != parts[0].type.rank()) return false;
    differ |= known_to_differ(parts[0].type.dims[0], p.type.dims[0]);
    inside |= p.type.is_ragged() || (p.type.rank() > 1 && known_to_differ(parts[0].type.dims[1], p.type.dims[1]));
  }
  std::vector<Leaf> fitted, lengths;
  if (inside) {   // rows of rows
    auto ragged_of = [&](const Leaf& x) {   // whose rows happen to be of one length
      std::vector<Dim> dims(x.type.dims.begin() + 1, x.type.dims.end());
      dims[0] = x.type.dims[0] * x.type.dims[1];
      return emit(*find_op("ragged"), {use(reshape(frame_->result(use(x)), dims)), use(full({x.type.dims[0]}, size_leaf(x.type.dims[1]), DType::I64))});
    };
    for (const Leaf& p : parts) {
      lengths.push_back(cast(size_leaf(p.type.dims[0]), DType::I64));
      fitted.push_back(p.type.is_ragged() ? p : ragged_of(p));
    }
    out = emit(*find_op("ragged"), {use(concat_ragged(fitted)), use(array_literal(std::vector<Sym>(lengths.begin(), lengths.end())))});
    return true;
  }
  if (!differ) return false;
  for (const Leaf& p : parts) {
    std::vector<Dim> dims = parts[0].type.dims;
    dims[0] = p.type.dims[0];
    for (size_t k = 1; k < dims.size(); ++k) {
      if (dims[k].constant() && p.type.dims[k].constant() && !(dims[k] == p.type.dims[k])) return false;
      require_equal(dims[k], p.type.dims[k], "the elements of an array differ along their first two axes at most: size {left} against {right}");
    }
    fitted.push_back(broadcast_to(frame_->result(use(p)), dims));
    lengths.push_back(cast(size_leaf(p.type.dims[0]), DType::I64));
  }
  out = emit(*find_op("ragged"), {use(concat(fitted, 0)), use(array_literal(std::vector<Sym>(lengths.begin(), lengths.end())))});
  return true;
}

/// Records of the same names give a record of columns, as they do from vmap; everything else is an array.
Sym Elaborator::columns_or_array(const std::vector<Sym>& elements) {
  const auto* first = elements.empty() ? nullptr : elements[0].as<Sym::Record>();
  if (!first) return array_literal(elements);
  Sym::Record out{first->names, {}};
  for (size_t k = 0; k < first->names.size(); ++k) {
    std::vector<Sym> column;
    for (const Sym& element : elements) {
      const auto* r = element.as<Sym::Record>();
      if (!r || r->names != first->names)
        error(Kind::Type, fmt::format("the elements of an array are of one kind: {} against {}", describe(elements[0]), describe(element)), "records have the same names, in the same order");
      column.push_back(r->values[k]);
    }
    out.values.push_back(columns_or_array(column));
  }
  return out;
}

Leaf Elaborator::array_literal(const std::vector<Sym>& elements) {
  if (elements.empty()) {
    Leaf out = full({Dim(0)}, float_leaf(0), DType::F32);
    out.untyped = true;
    return out;
  }
  std::vector<Leaf> leaves, parts;
  for (const Sym& e : elements) leaves.push_back(array(e, "an array literal"));
  dtype_joined(leaves, parts);
  // Many literals make one constant.
  if (std::all_of(parts.begin(), parts.end(), [](const Leaf& x) { return x.constant && x.type.rank() == 0; })) {
    Array value = Array::make(parts[0].type.dtype, {static_cast<int64_t>(parts.size())});
    size_t width = size_of(value.dtype);
    for (size_t i = 0; i < parts.size(); ++i) {
      bool real = is_float(parts[i].type.dtype);
      Array one = real ? scalar_of(value.dtype, parts[i].constant->real) : scalar_of_int(value.dtype, parts[i].constant->integer);
      std::memcpy(static_cast<void*>(value.raw() + i * width), one.raw(), width);
    }
    return emit(constant_op, {}, {{"value", value}});
  }
  if (Leaf rows; ragged_literal(parts, rows)) return rows;
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].type.rank() != parts[0].type.rank())
      error(Kind::Shape, fmt::format("the elements of an array have one shape: {} against {}", describe(parts[0]), describe(parts[i])));
    for (size_t k = 0; k < parts[0].type.dims.size(); ++k) {
      const Dim &a = parts[0].type.dims[k], &b = parts[i].type.dims[k];
      if (a.constant() && b.constant() && !(a == b))
        error(Kind::Shape, fmt::format("the elements of an array differ along their first two axes at most: size {} against {} along axis {}", a.text(), b.text(), k),
              "pad them to one size");
      require_equal(a, b, "the elements of an array have one shape: size {left} against {right}");
    }
    parts[i] = broadcast_to(parts[i], parts[0].type.dims);
  }
  return stack(parts);
}

Sym Elaborator::comprehension(const ast::Comprehension& c) {
  Sym source = expr(c.source);
  std::vector<Leaf> leaves;
  Sym rows = source;
  if (source.as<Sym::Range>()) {
    Leaf numbers = array(source, "a comprehension");
    numbers.weak = true;   // like a written number
    rows = numbers;
  }
  collect_leaves(rows, leaves);
  if (leaves.empty()) error(Kind::Type, fmt::format("a comprehension runs over an array or a range, and this is {}", describe(source)));
  for (const Leaf& x : leaves)
    if (x.type.rank() == 0) error(Kind::Type, fmt::format("a comprehension runs over an array or a range, and this is {}", describe(source)), "write 0..n for the numbers below n");
  Dim lanes = leaves[0].type.dims[0];
  auto lane = [&](std::span<const Leaf> values, const ast::Expr& body) {
    size_t at = 0;
    Sym element = map_leaves<Leaf>(rows, [&](const Leaf&) { return values[at++]; });
    const size_t outside = std::exchange(contexts_.back().comprehension, contexts_.back().scopes.size());
    contexts_.back().scopes.emplace_back();
    bind(c.pattern, element, false);
    Sym out = expr(body);
    contexts_.back().scopes.pop_back();
    contexts_.back().comprehension = outside;
    return out;
  };
  if (c.filter) {
    Sym mask = map_lanes("filter", lanes, leaves, [&](std::span<const Leaf> v) -> Sym { return truth(lane(v, *c.filter), "`if`"); });
    Leaf kept = nonzero(*mask.leaf());
    for (Leaf& x : leaves) x = gather_rows(x, kept, 0);
    lanes = leaves[0].type.dims[0];
  }
  return map_lanes("comprehension", lanes, leaves, [&](std::span<const Leaf> v) { return lane(v, *c.body); });
}

// ---- formatted strings ----
Sym Elaborator::f_string(const ast::FString& f) {
  std::string text;
  std::vector<ValueId> operands;
  for (const auto& part : f.parts) {
    if (!part.hole) {
      for (char c : part.text) text += c == '\1' || c == '\2' ? '?' : c;
      continue;
    }
    Sym value = expr(part.hole);
    if (part.format.empty()) text += print_template(value, true, operands);
    else {
      Leaf x = array(value, "a format");
      operands.push_back(use(emit(*find_op("format"), {use(x)}, {{"spec", part.format}})));
      text += '\1';
    }
  }
  if (operands.empty()) return string_leaf(*this, text);
  return emit(*find_op("format_text"), std::move(operands), {{"text", text}});
}

}  // namespace tercet
