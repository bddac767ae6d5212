#include "interpreter/ir/function.h"

#include "interpreter/ir/batching.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "interpreter/ir/op_def.h"
#include "interpreter/ir/rewrite.h"
#include "interpreter/runtime/parallel.h"

namespace tercet {

bool Type::is_ragged() const {
  return std::any_of(dims.begin(), dims.end(), [](const Dim& d) { return d.is_ragged(); });
}

std::string Type::text() const { return name_of(dtype) + (dims.empty() ? std::string() : to_string(dims)); }

void Attrs::set(std::string_view key, Attr value) {
  auto at = std::lower_bound(items_.begin(), items_.end(), key, [](auto& item, auto k) { return item.first < k; });
  if (at != items_.end() && at->first == key) at->second = std::move(value);
  else items_.emplace(at, std::string(key), std::move(value));
}

const Attr* Attrs::find(std::string_view key) const {
  for (auto& [name, value] : items_)
    if (name == key) return &value;
  return nullptr;
}

std::vector<Type> Function::param_types() const {
  std::vector<Type> out;
  for (ValueId p : params) out.push_back(types[p]);
  return out;
}

std::vector<Type> Function::result_types() const {
  std::vector<Type> out;
  for (ValueId r : results) out.push_back(types[r]);
  return out;
}

Builder::Builder(std::string name) : function_(std::make_shared<Function>()) { function_->name = std::move(name); }

ValueId Builder::param(Type type) {
  ValueId id = static_cast<ValueId>(function_->types.size());
  function_->types.push_back(std::move(type));
  definitions_.push_back(UINT32_MAX);
  function_->params.push_back(id);
  return id;
}

namespace {

bool same_scalar(const Array& a, const Array& b) {
  return a.rank() == 0 && b.rank() == 0 && a.dtype == b.dtype && a.weak == b.weak && a.dtype != DType::Str && !std::memcmp(a.raw(), b.raw(), size_of(a.dtype));
}

bool same_attr(const Attr& a, const Attr& b) {
  return a.index() == b.index() && std::visit([&]<class T>(const T& x) {
    if constexpr (std::is_same_v<T, Array>) return same_scalar(x, std::get<T>(b));
    else if constexpr (std::is_same_v<T, double>) return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(std::get<T>(b));
    else return x == std::get<T>(b);
  }, a);
}

bool same_application(const Op& a, const Op& b) {
  auto same = [](auto& x, auto& y) { return x.first == y.first && same_attr(x.second, y.second); };
  return a.def == b.def && a.inputs == b.inputs &&
         std::equal(a.attrs.items().begin(), a.attrs.items().end(), b.attrs.items().begin(), b.attrs.items().end(), same);
}

}  // namespace

size_t Builder::find_scalar(const Op& op, std::span<const Type> outputs) {
  const auto& ops = function_->ops;
  if (op.def->effect != Effect::Pure || !op.bodies.empty() || outputs.size() != 1 || outputs[0].rank() != 0) return ops.size();
  if (outputs[0].dtype == DType::Key) return ops.size();   // keys made twice are two keys
  size_t hash = std::hash<const void*>{}(op.def);
  for (ValueId v : op.inputs) hash = hash * 31 + v;
  auto [first, last] = scalars_.equal_range(hash);
  for (auto at = first; at != last; ++at)
    if (same_application(ops[at->second], op)) return at->second;
  scalars_.emplace(hash, ops.size());
  return ops.size();
}

namespace {
[[noreturn]] void fail_ragged(const OpDef& def, const Type& type, Span span) {
  Diagnostic d;
  d.kind = Kind::Unsupported;
  d.span = span;
  d.message = fmt::format("`{}` does not take rows of different length yet: this is {}", def.name, type.text());
  d.help = "make it dense first: pad(x)";
  throw RaggedOperand(std::move(d));
}
}  // namespace

std::vector<ValueId> Builder::emit_many(const OpDef& def, std::vector<ValueId> inputs, Attrs attrs, Span span,
                                        std::vector<FunctionPtr> bodies) {
  poll();   // elaboration and passes are made of this
  std::vector<Type> operands;
  for (ValueId v : inputs) {
    operands.push_back(type(v));
    if (def.ragged == RaggedRule::Dense && type(v).is_ragged())
      fail_ragged(def, type(v), span);
  }
  std::vector<Type> outputs = def.infer({std::span<const Type>(operands), attrs, std::span<const FunctionPtr>(bodies), span});
  Op op{&def, std::move(inputs), static_cast<ValueId>(function_->types.size()), static_cast<uint32_t>(outputs.size()),
        std::move(attrs), std::move(bodies), span};
  if (size_t same = find_scalar(op, outputs); same != function_->ops.size()) return {function_->ops[same].output()};
  std::vector<ValueId> ids;
  for (Type& t : outputs) {
    ids.push_back(static_cast<ValueId>(function_->types.size()));
    function_->types.push_back(std::move(t));
    definitions_.push_back(static_cast<uint32_t>(function_->ops.size()));
  }
  function_->ops.push_back(std::move(op));
  return ids;
}

ValueId Builder::emit(const OpDef& def, std::vector<ValueId> inputs, Attrs attrs, Span span,
                      std::vector<FunctionPtr> bodies) {
  std::vector<ValueId> ids = emit_many(def, std::move(inputs), std::move(attrs), span, std::move(bodies));
  TERCET_CHECK(ids.size() == 1);
  return ids[0];
}

void Builder::rollback(size_t mark) {
  if (mark == function_->ops.size()) return;
  size_t values = function_->ops[mark].first_output;
  std::erase_if(scalars_, [&](const auto& entry) { return entry.second >= mark; });
  function_->ops.resize(mark);
  function_->types.resize(values);
  definitions_.resize(values);
}

void Builder::drop_output(size_t mark) {
  for (size_t i = mark; i < function_->ops.size(); ++i) {
    Op& op = function_->ops[i];
    if (op.def->effect != Effect::Output || op.outputs != 0) continue;
    op = Op{find_op("constant"), {}, op.first_output, 0, {}, {}, op.span};   // pure, and nobody needs it
  }
}

const Op* Builder::definition(ValueId v) const {
  uint32_t at = definitions_[v];
  return at == UINT32_MAX ? nullptr : &function_->ops[at];
}

namespace {

/// Symbols that a kept type or attribute mentions keep the operation alive that defines them.
void note_sizes(const Function& f, const Op& op, std::vector<uint64_t>& needed) {
  for (auto& [name, value] : op.attrs.items()) {
    if (name == "defines") continue;
    for_each_dim(value, [&](const Dim& d) { d.collect_symbols(needed); });
  }
  for (uint32_t i = 0; i < op.outputs; ++i)
    for (const Dim& d : f.types[op.output(i)].dims) d.collect_symbols(needed);
  for (const FunctionPtr& body : op.bodies) collect_symbols(*body, needed);
}

struct Liveness {
  std::vector<bool> values;
  std::vector<uint64_t> symbols;   // sorted lazily; small
  bool has_symbol(uint64_t id) const { return std::find(symbols.begin(), symbols.end(), id) != symbols.end(); }
};

bool is_needed(const Op& op, const Liveness& live) {
  if (reaches(op, Effect::Endless)) return true;
  for (uint32_t i = 0; i < op.outputs; ++i)
    if (live.values[op.output(i)]) return true;
  bool needed = false;
  if (const Attr* defines = op.attrs.find("defines"))
    for_each_dim(*defines, [&](const Dim& d) { needed |= live.has_symbol(d.symbol_id()); });
  return needed;
}

}  // namespace

FunctionPtr Builder::finish(std::vector<ValueId> results) {
  Function& f = *function_;
  Liveness live{std::vector<bool>(f.types.size()), {}};
  for (ValueId r : results) {
    live.values[r] = true;
    for (const Dim& d : f.types[r].dims) d.collect_symbols(live.symbols);
  }
  std::vector<bool> keep(f.ops.size());
  for (size_t i = f.ops.size(); i-- > 0;) {
    const Op& op = f.ops[i];
    if (!is_needed(op, live)) continue;
    keep[i] = true;
    for (ValueId v : op.inputs) live.values[v] = true;
    size_t before = live.symbols.size();
    note_sizes(f, op, live.symbols);
    if (live.symbols.size() > before + 8) {
      std::sort(live.symbols.begin(), live.symbols.end());
      live.symbols.erase(std::unique(live.symbols.begin(), live.symbols.end()), live.symbols.end());
    }
  }
  f.results = std::move(results);
  compact(f, keep);
  return std::move(function_);
}

}  // namespace tercet
