// Library: output, checks, questions about values, functions of functions, contraction.
#include <fmt/format.h>

#include "interpreter/elaborate/lowering.h"
#include "interpreter/ops/rows.h"

namespace tercet {

/// Text of a value with marks where arrays go: \1 bare, \2 quoted (op `print`).
std::string Elaborator::print_template(const Sym& value, bool top, std::vector<ValueId>& operands) {
  auto joined = [&](const std::vector<Sym>& list, const std::vector<std::string>* names) {
    std::string out = "(";
    for (size_t i = 0; i < list.size(); ++i)
      out += (i ? ", " : "") + (names ? (*names)[i] + "=" : "") + print_template(list[i], false, operands);
    return out + (!names && list.size() == 1 ? ",)" : ")");
  };
  if (auto* leaf = value.leaf()) {
    operands.push_back(use(*leaf));
    return top ? "\1" : "\2";
  }
  if (auto* t = value.as<Sym::Tuple>()) return joined(t->elements, nullptr);
  if (auto* r = value.as<Sym::Record>()) return joined(r->values, &r->names);
  if (auto* r = value.as<Sym::Range>()) {
    std::string low = print_template(*r->low, false, operands);
    return low + ".." + print_template(*r->high, false, operands);
  }
  if (value.is_none()) return "none";
  return fmt::format("<{}>", describe(value));
}

void Elaborator::print(std::span<const Sym> values, bool newline) {
  std::string text;
  std::vector<ValueId> operands;
  for (size_t i = 0; i < values.size(); ++i) text += (i ? " " : "") + print_template(values[i], true, operands);
  emit_effect(print_op, std::move(operands), {{"text", text + (newline ? "\n" : "")}});
}

Sym Elaborator::scan(const Sym& function, const Sym& init, const Sym& xs) {
  contexts_.back().scopes.emplace_back();
  declare("%carry", init);
  Loop loop;
  loop.names = {"%carry"};
  Sym stacked = loop_over_rows(loop, xs, [&](const Sym& row) -> Sym {
    Sym out = apply(function, {{"", local("%carry"), span_}, {"", row, span_}}, span_);
    auto* pair = out.as<Sym::Tuple>();
    if (!pair || pair->elements.size() != 2) error(Kind::Type, fmt::format("scan's function gives (carry, y), and this gives {}", describe(out)));
    set_local("%carry", pair->elements[0]);
    return pair->elements[1];
  });
  Sym carry = local("%carry");
  contexts_.back().scopes.pop_back();
  return Sym::Tuple{{carry, stacked}};
}

Sym Elaborator::scan_rows(const Sym& rows, const std::function<Sym(const Sym&)>& f) {
  Loop loop;
  return loop_over_rows(loop, rows, f);
}

Sym Elaborator::fold_rows(const Sym& rows, const Sym& init, const std::function<Sym(const Sym&, const Sym&)>& f) {
  contexts_.back().scopes.emplace_back();
  declare("%carry", init);
  Loop loop;
  loop.names = {"%carry"};
  loop_over_rows(loop, rows, [&](const Sym& row) -> Sym {
    set_local("%carry", f(local("%carry"), row));
    return Sym::unit();
  });
  Sym carry = local("%carry");
  contexts_.back().scopes.pop_back();
  return carry;
}

namespace {

using A = BuiltinArguments;
using Ints = std::vector<int64_t>;

Sym print(Elaborator& e, A& a) {
  e.print(a[0]->as<Sym::Tuple>()->elements);
  return Sym::unit();
}

Sym assertion(Elaborator& e, A& a) {
  const Leaf* c = a[0]->leaf();
  if (!c || c->type.dtype != DType::Bool || c->type.rank() != 0)
    e.error(Kind::Type, fmt::format("assert takes one bool, and this is {}", describe(*a[0])), "ask all(c) of an array");
  if (absent(a[1])) {
    e.emit_effect(assert_op, {e.use(*c)}, {{"message", std::string("assertion failed")}});
    return Sym::unit();
  }
  const Leaf* message = a[1]->leaf();
  if (!message || message->type.dtype != DType::Str || message->type.rank() != 0)
    e.error(Kind::Type, fmt::format("assert's message is a text, and this is {}", describe(*a[1])), "write f\"{x}\" for the text of a value");
  if (std::optional<std::string> known = e.known_string(*message)) e.emit_effect(assert_op, {e.use(*c)}, {{"message", *known}});
  else e.emit_effect(assert_text_op, {e.use(*c), e.use(*message)}, {});
  return Sym::unit();
}

Sym dtype(Elaborator& e, A& a) {
  std::string_view name = name_of(e.array(*a[0], "dtype").type.dtype);
  return e.emit(constant_op, {}, {{"value", Array::strings({&name, 1}).reshaped({})}});
}

Sym compile_count(Elaborator& e, A& a) {
  auto* t = a[0]->as<Sym::Transformed>();
  if (!t || t->spec->kind != ast::TransformKind::Jit) e.error(Kind::Type, "compile_count takes a function made by jit", "let f = jit g, then compile_count(f)");
  return e.emit(*find_op("compile_count"), {}, {{"counter", std::shared_ptr<const void>(e.jit_counter(*a[0]))}});
}

Sym explain(Elaborator& e, A& a) { return e.explain(*a[0], a[1]->as<Sym::Tuple>()->elements); }

/// map(f, xs): the values of vmap, one row (or `batch` rows) after another.
Sym map(Elaborator& e, A& a) {
  if (!a[0]->is_function()) e.error(Kind::Type, fmt::format("map takes a function first, and this is {}", describe(*a[0])), "map(f, xs)");
  auto spec = std::make_shared<TransformSpec>();
  spec->kind = ast::TransformKind::Vmap;
  Sym batched = Sym::Transformed{spec, std::make_shared<const Sym>(*a[0])};
  Sym source = a[1]->as<Sym::Range>() ? Sym(e.array(*a[1], "map")) : *a[1];
  auto over_rows = [&](const Sym& function, const Sym& rows) {
    return e.scan_rows(rows, [&](const Sym& row) { return e.apply(function, {{"", row, e.span()}}, e.span()); });
  };
  if (absent(a[2])) return over_rows(*a[0], source);
  Dim batch = e.size(*a[2], "`batch`");
  std::vector<Leaf> leaves;
  collect_leaves(source, leaves);
  if (leaves.empty()) e.error(Kind::Type, fmt::format("map runs over arrays, and this is {}", describe(*a[1])));
  Dim n = leaves[0].type.dims[0], whole = floordiv(n, batch);
  auto part = [&](const Dim& start, const Dim& size) { return map_leaves<Leaf>(source, [&](const Leaf& x) { return *e.slice_rows(x, start, size).leaf(); }); };
  Sym chunks = map_leaves<Leaf>(part(0, whole * batch), [&](const Leaf& x) {
    std::vector<Dim> dims = x.type.dims;
    dims[0] = batch;
    dims.insert(dims.begin(), whole);
    return e.reshape(x, dims);
  });
  Sym main = over_rows(batched, chunks), rest = e.apply(batched, {{"", part(whole * batch, n - whole * batch), e.span()}}, e.span());
  std::vector<Leaf> tails;
  collect_leaves(rest, tails);
  size_t at = 0;
  return map_leaves<Leaf>(main, [&](const Leaf& x) {
    std::vector<Dim> dims(x.type.dims.begin() + 1, x.type.dims.end());
    dims[0] = whole * batch;
    std::vector<Leaf> both{e.reshape(x, dims), tails[at++]};
    Leaf all = e.concat(both, 0);
    dims[0] = n;
    return e.reshape(all, dims);
  });
}

Sym scan(Elaborator& e, A& a) { return e.scan(*a[0], *a[1], *a[2]); }

Sym fold(Elaborator& e, A& a) {
  return e.fold_rows(*a[2], *a[1], [&](const Sym& carry, const Sym& row) { return e.apply(*a[0], {{"", carry, e.span()}, {"", row, e.span()}}, e.span()); });
}

/// f of the leaves at one place of trees that have one structure. `place`: ".w[0]", for messages.
Sym mapped_together(Elaborator& e, const Sym& f, const std::vector<const Sym*>& trees, const std::string& place) {
  auto mismatch = [&](size_t i, const std::string& why) {
    e.error(Kind::Type, fmt::format("tree_map takes trees of one structure{}{}: the first has {}, number {} has {}", place.empty() ? "" : ", and they differ at ", place, describe(*trees[0]), i + 1, describe(*trees[i])), why);
  };
  const Sym& first = *trees[0];
  for (size_t i = 1; i < trees.size(); ++i)
    if (trees[i]->node.index() != first.node.index()) mismatch(i, "an array stands opposite an array, a tuple opposite a tuple, a record opposite a record");
  auto parts = [&](auto&& part) {
    std::vector<const Sym*> out;
    for (const Sym* t : trees) out.push_back(&part(*t));
    return out;
  };
  if (first.leaf()) {
    std::vector<CallArgument> arguments;
    for (const Sym* t : trees) arguments.push_back({"", *t, e.span()});
    return e.array(e.apply(f, std::move(arguments), e.span()), "tree_map's function");
  }
  if (auto* t = first.as<Sym::Tuple>()) {
    Sym::Tuple out;
    for (size_t i = 1; i < trees.size(); ++i)
      if (trees[i]->as<Sym::Tuple>()->elements.size() != t->elements.size()) mismatch(i, "tuples have equally many elements");
    for (size_t k = 0; k < t->elements.size(); ++k)
      out.elements.push_back(mapped_together(e, f, parts([&](const Sym& x) -> const Sym& { return x.as<Sym::Tuple>()->elements[k]; }), fmt::format("{}[{}]", place, k)));
    return out;
  }
  if (auto* r = first.as<Sym::Record>()) {
    Sym::Record out{r->names, {}};
    for (size_t i = 1; i < trees.size(); ++i) {
      const auto& other = *trees[i]->as<Sym::Record>();
      for (const std::string& name : r->names)
        if (other.names.size() != r->names.size() || !field<Leaf>(other, name)) mismatch(i, "records have the same fields");
    }
    for (const std::string& name : r->names)
      out.values.push_back(mapped_together(e, f, parts([&](const Sym& x) -> const Sym& { return *field<Leaf>(*x.as<Sym::Record>(), name); }), place + "." + name));
    return out;
  }
  if (trees.size() > 1 && !first.is_none()) mismatch(1, "only arrays, tuples and records go together");
  return map_leaves<Leaf>(first, [&](const Leaf& x) { return e.array(e.apply(f, {{"", x, e.span()}}, e.span()), "tree_map's function"); });
}

Sym tree_map(Elaborator& e, A& a) {
  std::vector<const Sym*> trees{&*a[1]};
  for (const Sym& more : a[2]->as<Sym::Tuple>()->elements) trees.push_back(&more);
  return mapped_together(e, *a[0], trees, "");
}

Sym tree_leaves(Elaborator&, A& a) {
  std::vector<Leaf> leaves;
  collect_leaves(*a[0], leaves);
  Sym::Tuple out;
  out.elements.assign(leaves.begin(), leaves.end());
  return out;
}

}  // namespace

namespace {
constexpr BuiltinDef list[] = {
    {"print", "*values", "Prints values, separated by spaces.", print},
    {"assert", "condition, message=", "Stops with an error unless the condition holds.", assertion},
    {"dtype", "x", "Name of the element type.", dtype},
    {"compile_count", "f", "How often a jitted function was compiled.", compile_count},
    {"explain", "f, *arguments", "How the call f(arguments) is compiled, as text.", explain},
    {"map", "f, xs, batch=", "f of every row, one after another or `batch` at a time.", map},
    {"scan", "f, init, xs", "f(carry, row) -> (carry, y) over rows; gives the last carry and all y.", scan},
    {"fold", "f, init, xs", "f(carry, row) -> carry over rows; gives the last carry.", fold},
    {"tree_map", "f, tree, *trees", "f of every array in a tuple or record; of several trees of one structure, f of what stands at one place.", tree_map},
    {"tree_leaves", "tree", "The arrays in a tuple or record, in order, as a tuple.", tree_leaves},
};
}
const BuiltinList language_builtins = list;

}  // namespace tercet
