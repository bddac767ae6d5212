#include "interpreter/ir/rewrite.h"

#include <algorithm>

#include "interpreter/ir/op_def.h"

namespace tercet {

void for_each_dim(const Attr& attr, const std::function<void(const Dim&)>& f) {
  if (auto* one = std::get_if<Dim>(&attr)) f(*one);
  if (auto* many = std::get_if<std::vector<Dim>>(&attr))
    for (const Dim& d : *many) f(d);
}

Attr map_dims(const Attr& attr, const std::function<Dim(const Dim&)>& f) {
  if (auto* one = std::get_if<Dim>(&attr)) return f(*one);
  if (auto* many = std::get_if<std::vector<Dim>>(&attr)) {
    std::vector<Dim> out;
    for (const Dim& d : *many) out.push_back(f(d));
    return out;
  }
  return attr;
}

Attrs rewrite_attrs(const Attrs& attrs, DimMap& map) {
  Attrs out;
  if (const Attr* defines = attrs.find("defines")) {
    out.set("defines", map_dims(*defines, [&](const Dim& d) {
              Dim fresh = Dim::symbol(d.text());
              map[d.symbol_id()] = fresh;
              return fresh;
            }));
  }
  for (auto& [name, value] : attrs.items())
    if (name != "defines") out.set(name, map_dims(value, [&](const Dim& d) { return d.substitute(map); }));
  return out;
}

void collect_symbols(const Function& f, std::vector<uint64_t>& out) {
  for (const Type& t : f.types)
    for (const Dim& d : t.dims) d.collect_symbols(out);
  for (const Op& op : f.ops) {
    for (auto& [name, value] : op.attrs.items()) for_each_dim(value, [&](const Dim& d) { d.collect_symbols(out); });
    for (const FunctionPtr& body : op.bodies) collect_symbols(*body, out);
  }
}

std::vector<uint64_t> defined_by(const Op& op) {
  std::vector<uint64_t> out;
  if (const Attr* defines = op.attrs.find("defines")) for_each_dim(*defines, [&](const Dim& d) { out.push_back(d.symbol_id()); });
  return out;
}

void collect_defined(const Function& f, std::vector<uint64_t>& out) {
  for (const Op& op : f.ops) {
    std::vector<uint64_t> own = defined_by(op);
    out.insert(out.end(), own.begin(), own.end());
    for (const FunctionPtr& body : op.bodies) collect_defined(*body, out);
  }
}

bool mentions(const Dim& d, const std::vector<uint64_t>& symbols) {
  std::vector<uint64_t> used;
  d.collect_symbols(used);
  return std::any_of(used.begin(), used.end(), [&](uint64_t s) { return std::find(symbols.begin(), symbols.end(), s) != symbols.end(); });
}

Attrs substitute(const Attrs& attrs, const DimMap& map) {
  Attrs out = attrs;
  for (auto& [name, value] : out.items()) value = map_dims(value, [&](const Dim& d) { return d.substitute(map); });
  return out;
}

FunctionPtr substitute(const FunctionPtr& f, const DimMap& map) {
  if (map.empty()) return f;
  std::vector<uint64_t> symbols;
  collect_symbols(*f, symbols);
  if (std::none_of(symbols.begin(), symbols.end(), [&](uint64_t s) { return map.count(s) != 0; })) return f;
  auto out = std::make_shared<Function>(*f);
  for (Type& t : out->types)
    for (Dim& d : t.dims) d = d.substitute(map);
  for (Op& op : out->ops) {
    op.attrs = substitute(op.attrs, map);
    for (FunctionPtr& body : op.bodies) body = substitute(body, map);
  }
  return out;
}

void bind_sizes(const std::vector<Dim>& pattern, const std::vector<Dim>& actual, DimMap& map) {
  for (size_t i = 0; i < pattern.size() && i < actual.size(); ++i)
    if (uint64_t id = pattern[i].symbol_id(); id && !(pattern[i] == actual[i])) map.emplace(id, actual[i]);
}

bool reaches(const Op& op, Effect least) {
  if (op.def->effect >= least) return true;
  auto inside = [&](const Op& inner) { return reaches(inner, least); };
  return std::any_of(op.bodies.begin(), op.bodies.end(), [&](const FunctionPtr& b) { return std::any_of(b->ops.begin(), b->ops.end(), inside); });
}

bool meets_over(const Op& op, int64_t level) {
  if (level < 0) return false;
  if (op.attrs.get_or<int64_t>("over", -1) == level) return true;
  return std::any_of(op.bodies.begin(), op.bodies.end(), [&](const FunctionPtr& f) { return meets_over(*f, level); });
}

bool meets_over(const Function& f, int64_t level) {
  return level >= 0 && std::any_of(f.ops.begin(), f.ops.end(), [&](const Op& op) { return meets_over(op, level); });
}

bool has_effects(const Op& op) { return reaches(op, Effect::Check); }

bool has_effects(const Function& f) {
  return std::any_of(f.ops.begin(), f.ops.end(), [](const Op& op) { return has_effects(op); });
}

void compact(Function& f, const std::vector<bool>& keep) {
  std::vector<ValueId> renumbered(f.types.size(), no_value);
  std::deque<Type> types;
  auto take = [&](ValueId v) {
    renumbered[v] = static_cast<ValueId>(types.size());
    types.push_back(std::move(f.types[v]));
  };
  // Parameters first, then results in program order: a printed function reads from 0 up.
  for (ValueId& p : f.params) {
    take(p);
    p = renumbered[p];
  }
  std::deque<Op> ops;
  for (size_t i = 0; i < f.ops.size(); ++i) {
    if (!keep[i]) continue;
    Op& op = ops.emplace_back(std::move(f.ops[i]));
    for (ValueId& v : op.inputs) v = renumbered[v];
    ValueId first = static_cast<ValueId>(types.size());
    for (uint32_t k = 0; k < op.outputs; ++k) take(op.output(k));
    op.first_output = first;
  }
  for (ValueId& r : f.results) r = renumbered[r];
  f.ops = std::move(ops);
  f.types = std::move(types);
  f.last_use.assign(f.types.size(), 0);
  for (uint32_t i = 0; i < f.ops.size(); ++i)
    for (ValueId v : f.ops[i].inputs) f.last_use[v] = i;
  for (ValueId r : f.results) f.last_use[r] = UINT32_MAX;
}

std::vector<ValueId> rebuild(Builder& out, const Function& f, std::unordered_map<ValueId, ValueId>& values,
                             DimMap& map) {
  for (const Op& op : f.ops) {
    std::vector<ValueId> inputs;
    for (ValueId v : op.inputs) inputs.push_back(values.at(v));
    Attrs attrs = rewrite_attrs(op.attrs, map);
    std::vector<FunctionPtr> bodies;
    for (const FunctionPtr& body : op.bodies) bodies.push_back(substitute(body, map));
    std::vector<ValueId> results = out.emit_many(*op.def, std::move(inputs), std::move(attrs), op.span, std::move(bodies));
    for (size_t i = 0; i < results.size(); ++i) values[op.output(static_cast<uint32_t>(i))] = results[i];
  }
  std::vector<ValueId> results;
  for (ValueId r : f.results) results.push_back(values.at(r));
  return results;
}

std::vector<ValueId> inline_function(Builder& out, const Function& f, std::span<const ValueId> arguments) {
  std::unordered_map<ValueId, ValueId> values;
  DimMap map;
  for (size_t i = 0; i < f.params.size(); ++i) {
    values[f.params[i]] = arguments[i];
    bind_sizes(f.type(f.params[i]).dims, out.type(arguments[i]).dims, map);
  }
  return rebuild(out, f, values, map);
}

}  // namespace tercet
