#include "interpreter/elaborate/joining.h"

#include <fmt/format.h>

#include <algorithm>

#include "interpreter/ir/rewrite.h"
#include "interpreter/ops/rows.h"

namespace tercet {
namespace {

bool same_value(const Leaf& a, const Leaf& b) {
  if (!(a.type == b.type) || a.weak != b.weak) return false;
  if (a.constant && b.constant)
    return is_float(a.type.dtype) ? std::bit_cast<uint64_t>(a.constant->real) == std::bit_cast<uint64_t>(b.constant->real)
                                  : a.constant->integer == b.constant->integer;
  if (!a.constant && !b.constant && !a.frame && !b.frame) return a.dim && b.dim && *a.dim == *b.dim;
  return a.frame && a.frame == b.frame && a.id == b.id;
}

/// Marks a leaf that stands for result `number` of the cond under construction.
Leaf pending(Type type, bool weak, size_t number) {
  Leaf out{std::move(type), weak, nullptr, static_cast<ValueId>(number), {}, {}};
  return out;
}
bool is_pending(const Leaf& leaf) { return !leaf.frame && !leaf.constant && !leaf.dim; }

}  // namespace

Leaf placeholder_of(Elaborator& e, const Type& type, std::span<const Dim> unknown) {
  std::vector<Dim> dims;
  for (const Dim& d : type.dims) dims.push_back(std::find(unknown.begin(), unknown.end(), d) == unknown.end() ? d : Dim(0));
  if (type.dtype == DType::Str) {
    std::string_view empty;
    Leaf one = e.emit(constant_op, {}, {{"value", Array::strings({&empty, 1}).reshaped({})}});
    return e.broadcast_to(one, dims);
  }
  if (type.dtype == DType::Key) return e.broadcast_to(e.emit(constant_op, {}, {{"value", Array::zeros(DType::Key, {})}}), dims);
  return e.full(dims, is_float(type.dtype) ? float_leaf(0) : type.dtype == DType::Bool ? bool_leaf(false) : int_leaf(0), type.dtype);
}

Leaf Joiner::join(const Leaf& a, const Leaf& b) {
  if (same_value(a, b)) return a;
  bool weak = false;
  Type type = a.type;
  if (a.untyped != b.untyped) {
    const Leaf& typed = a.untyped ? b : a;
    type.dtype = typed.type.dtype;
    weak = typed.weak;
  } else if (a.type.dtype != b.type.dtype || a.weak != b.weak) {
    if (a.type.dtype > DType::F64 || b.type.dtype > DType::F64)
      e_.error(Kind::Type, fmt::format("the branches give {} and {}", describe(a), describe(b)), "give both branches one type");
    type.dtype = promote(a.type.dtype, a.weak, b.type.dtype, b.weak, &weak);
  } else {
    weak = a.weak;
  }
  if (a.type.rank() != b.type.rank())
    e_.error(Kind::Type, fmt::format("the branches give {} and {}", describe(a), describe(b)), "give both branches one number of axes");
  for (size_t k = 0; k < type.dims.size(); ++k)
    if (!e_.same_size(a.type.dims[k], b.type.dims[k])) {
      type.dims[k] = Dim::symbol("s");
      defines_.push_back(type.dims[k]);
    }
  pairs_.push_back({a, b, type, weak});
  return pending(type, weak, pairs_.size() - 1);
}

Sym Joiner::join_unset(const Sym& set, bool set_is_yes) {
  return map_leaves<Leaf>(set, [&](const Leaf& x) {
    Type type = x.type;
    for (Dim& d : type.dims)
      if ((set_is_yes ? yes_ : no_).defines(d)) defines_.push_back(d = Dim::symbol("s"));
    pairs_.push_back({set_is_yes ? std::optional(x) : std::nullopt, set_is_yes ? std::nullopt : std::optional(x), type, x.weak});
    return pending(type, x.weak, pairs_.size() - 1);
  });
}

Sym Joiner::add(const Sym& a, const Sym& b, bool may_be_unset) {
  if (a.leaf() && b.leaf()) return join(*a.leaf(), *b.leaf());
  if (may_be_unset && a.is_none() && !b.is_none()) return join_unset(b, false);
  if (may_be_unset && b.is_none() && !a.is_none()) return join_unset(a, true);
  auto mismatch = [&]() -> Sym {
    e_.error(Kind::Type, fmt::format("the branches give {} and {}", describe(a), describe(b)), "give both branches values of one structure");
  };
  if (a.node.index() != b.node.index()) return mismatch();
  auto all = [&](const std::vector<Sym>& x, const std::vector<Sym>& y) {
    if (x.size() != y.size()) mismatch();
    std::vector<Sym> out;
    for (size_t i = 0; i < x.size(); ++i) out.push_back(add(x[i], y[i], may_be_unset));
    return out;
  };
  if (auto* t = a.as<Sym::Tuple>()) return Sym::Tuple{all(t->elements, b.as<Sym::Tuple>()->elements)};
  if (auto* r = a.as<Sym::Record>()) {
    if (r->names != b.as<Sym::Record>()->names) mismatch();
    return Sym::Record{r->names, all(r->values, b.as<Sym::Record>()->values)};
  }
  if (auto* r = a.as<Sym::Range>()) {
    auto* s = b.as<Sym::Range>();
    auto low = std::make_shared<const Sym>(add(*r->low, *s->low, false));
    return Sym::Range{low, std::make_shared<const Sym>(add(*r->high, *s->high, false))};
  }
  if (a.is_function() && e_.identity(a) != e_.identity(b))
    e_.error(Kind::Unsupported, "the branches give different functions, and which is only known when run", "call the function inside the branches");
  if (auto* c = a.as<Sym::Closure>()) {
    Sym::Closure out = *c;
    for (size_t i = 0; i < out.captured.size(); ++i)
      out.captured[i].value = add(c->captured[i].value, b.as<Sym::Closure>()->captured[i].value, false);
    return out;
  }
  return a;
}

std::vector<Sym> Joiner::finish(const Leaf& condition, const std::vector<Sym>& trees) {
  auto close = [&](Frame& frame, bool yes) {
    Frame* outer = e_.swap_frame(&frame);
    std::vector<ValueId> results;
    for (const Pair& p : pairs_) {
      const std::optional<Leaf>& side = yes ? p.a : p.b;
      Leaf value = side ? e_.cast(*side, p.type.dtype, p.weak) : placeholder_of(e_, p.type, defines_);
      results.push_back(e_.use(value));
    }
    e_.swap_frame(outer);
    return results;
  };
  std::vector<ValueId> a = close(yes_, true), b = close(no_, false);
  std::vector<Leaf> captures = joined_captures(yes_, no_);
  FunctionPtr then_body = yes_.finish_ordered(a, captures), else_body = no_.finish_ordered(b, captures);
  std::vector<ValueId> inputs{e_.use(condition)};
  for (const Leaf& c : captures) inputs.push_back(e_.use(c));
  std::vector<Dim> kept;   // only names that the types of both bodies leave open
  std::vector<Type> ta = then_body->result_types(), tb = else_body->result_types();
  for (size_t i = 0; i < pairs_.size(); ++i)
    for (size_t k = 0; k < ta[i].dims.size(); ++k)
      if (!(ta[i].dims[k] == tb[i].dims[k])) {
        bool own = std::any_of(defines_.begin(), defines_.end(), [&](const Dim& d) { return d == pairs_[i].type.dims[k]; });
        kept.push_back(own ? pairs_[i].type.dims[k] : Dim::symbol("s"));
      }
  std::vector<ValueId> ids = e_.builder().emit_many(cond_op, inputs, {{"defines", kept}}, e_.span(), {then_body, else_body});
  std::vector<Sym> out;
  for (const Sym& tree : trees)
    out.push_back(map_leaves<Leaf>(tree, [&](const Leaf& x) { return is_pending(x) ? e_.frame().result(ids[x.id], x.weak) : x; }));
  return out;
}

}  // namespace tercet
