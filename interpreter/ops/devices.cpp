// Row: one body on several devices (language.md section 9).
#include <fmt/format.h>

#include <algorithm>

#include "interpreter/ir/rewrite.h"
#include "interpreter/ops/batch_rules.h"
#include "interpreter/ops/devices_diff.h"
#include "interpreter/ops/pmap.h"
#include "interpreter/ops/rows.h"
#include "interpreter/runtime/device.h"
#include "interpreter/runtime/ragged.h"

namespace tercet {
namespace {

using Ints = std::vector<int64_t>;
using Dims = std::vector<Dim>;
using Flags = std::vector<bool>;

/// Sizes that each device has for itself: those its operations define, its chunk's, and the lengths of ragged rows.
std::vector<uint64_t> own_symbols(const Function& body, std::span<const Type> operands, const Attrs& attrs) {
  std::vector<uint64_t> out;
  collect_defined(body, out);
  if (attrs.has("share")) out.push_back(attrs.get<Dim>("share").symbol_id());
  auto consumed = static_cast<size_t>(attrs.get<int64_t>("consumed"));
  for (size_t i = 0; i < consumed && i < operands.size(); ++i)
    for (size_t k = 1; k < operands[i].dims.size(); ++k) {
      const Dims& row = body.type(body.params[i]).dims;
      size_t at = attrs.has("share") ? k : k - 1;
      if (operands[i].dims[k].is_ragged() && at < row.size() && row[at].symbol_id()) out.push_back(row[at].symbol_id());
    }
  return out;
}

/// The types of the results; `fresh` gives the names of sizes that are only known when it has run.
std::vector<Type> result_types(const Function& body, std::span<const Type> operands, const Attrs& attrs, const std::function<Dim()>& fresh) {
  const std::vector<uint64_t> own = own_symbols(body, operands, attrs);
  const Ints& joins = attrs.get<Ints>("joins");
  std::vector<Type> out = body.result_types();
  TERCET_CHECK(joins.size() == out.size());
  for (size_t i = 0; i < out.size(); ++i) {
    auto join = static_cast<PmapJoin>(joins[i]);
    Dims& dims = out[i].dims;
    for (size_t k = 0; k < dims.size(); ++k) {
      if (dims[k].is_ragged() || !mentions(dims[k], own)) {
        if (k == 0 && join == PmapJoin::Concat) dims[k] = dims[k] * attrs.get<Dim>("devices");
      } else if (k == 0 && join == PmapJoin::Concat && dims[k] == attrs.get<Dim>("share")) {
        dims[k] = attrs.get<Dim>("length");
      } else {
        dims[k] = join == PmapJoin::Stack && !attrs.has("share") ? Dim::ragged() : fresh();
      }
    }
    if (join == PmapJoin::Stack) dims.insert(dims.begin(), attrs.get<Dim>("devices"));
  }
  return out;
}

std::vector<Type> infer_pmap(const InferInput& in) {
  TERCET_CHECK(in.bodies.size() == 1 && in.bodies[0]->params.size() == in.operands.size());
  const Dims& defines = in.attrs.get<Dims>("defines");
  size_t next = 0;
  return result_types(*in.bodies[0], in.operands, in.attrs, [&] { return TERCET_CHECK(next < defines.size()), defines[next++]; });
}

/// Rows begin .. begin + count along axis 0.
Array chunk_of(const Array& x, int64_t begin, int64_t count) {
  if (!x.ragged) {
    Array out = x;
    int64_t rows = x.shape[0];
    out.offset += rows ? x.bytes() / rows * begin : 0;
    out.shape[0] = count;
    return out;
  }
  std::vector<Array> rows;
  std::vector<bool> ragged;
  Shape rest;
  for (int64_t i = begin; i < begin + count; ++i) rows.push_back(row_of(x, i));
  for (size_t k = 1; k < x.shape.size(); ++k) {
    ragged.push_back(x.shape[k] == ragged_axis);
    rest.push_back(std::max<int64_t>(x.shape[k], 0));
  }
  return stack_rows(x.dtype, std::move(rows), ragged, rest);
}

std::string text_of(const Array& a) {
  std::string sizes;
  for (int64_t s : a.shape) sizes += (sizes.empty() ? "" : ", ") + (s == ragged_axis ? std::string("*") : std::to_string(s));
  return name_of(a.dtype) + (a.rank() ? "[" + sizes + "]" : std::string());
}

/// Results of all devices must agree in their sizes, from axis `first` on.
void require_alike(const Op& op, const std::vector<const Array*>& parts, size_t first) {
  for (size_t r = 1; r < parts.size(); ++r)
    for (size_t k = first; k < parts[0]->shape.size(); ++k)
      if (parts[r]->shape[k] != parts[0]->shape[k])
        fail(Kind::Shape, op.span, fmt::format("the results of devices differ in size: device 0 gives {}, and device {} gives {}", text_of(*parts[0]), r, text_of(*parts[r])),
             "give every device's result one size");
}

Array concatenated(const Op& op, const std::vector<const Array*>& parts) {
  require_alike(op, parts, 1);
  Shape shape = parts[0]->shape;
  shape[0] = 0;
  for (const Array* p : parts) shape[0] += p->shape[0];
  Array out = Array::make(parts[0]->dtype, shape);
  std::byte* to = out.raw();
  for (const Array* p : parts) {
    auto bytes = static_cast<size_t>(p->bytes());
    if (bytes) std::memcpy(static_cast<void*>(to), p->raw(), bytes);
    to += bytes;
    out.owners.insert(out.owners.end(), p->owners.begin(), p->owners.end());
  }
  return out;
}

Array stacked(const Op& op, const Type& type, const std::vector<const Array*>& parts) {
  std::vector<bool> ragged;
  for (size_t k = 1; k < type.dims.size(); ++k) ragged.push_back(type.dims[k].is_ragged());
  if (!type.is_ragged()) require_alike(op, parts, 0);
  std::vector<Array> rows;
  for (const Array* p : parts) rows.push_back(*p);
  return stack_rows(type.dtype, std::move(rows), ragged, {});
}

/// What all devices have alike.
Array common(const Op& op, const std::vector<const Array*>& parts) {
  require_alike(op, parts, 0);
  const Array& first = *parts[0];
  if (first.dtype >= DType::Str || first.ragged) fail(Kind::Unsupported, op.span, "`out=_` is for arrays of numbers", "out=0 stacks the results of all devices");
  for (size_t r = 1; r < parts.size(); ++r)
    if (first.bytes() && std::memcmp(first.raw(), parts[r]->raw(), static_cast<size_t>(first.bytes())) != 0)
      fail(Kind::Value, op.span, fmt::format("`out=_` is for results that are the same on every device, and those of devices 0 and {} differ", r),
           "reduce=\"mean\" or \"sum\" makes them the same; out=0 stacks them");
  return first;
}

Array joined(const Op& op, PmapJoin how, const Type& type, const std::vector<const Array*>& parts) {
  if (how == PmapJoin::First) return common(op, parts);
  if (how == PmapJoin::Stack) return stacked(op, type, parts);
  if (type.is_ragged()) {
    std::vector<bool> ragged;
    for (size_t k = 1; k < type.dims.size(); ++k) ragged.push_back(type.dims[k].is_ragged());
    std::vector<Array> rows;
    for (const Array* p : parts)
      for (int64_t i = 0; i < p->shape[0]; ++i) rows.push_back(row_of(*p, i));
    return stack_rows(type.dtype, std::move(rows), ragged, {});
  }
  return concatenated(op, parts);
}

std::vector<Array> eval_pmap(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  const int64_t n = context.size(op.attrs.get<Dim>("devices"));
  if (n < 1) fail(Kind::Device, op.span, "pmap over no devices: the mapped axis is empty", "pmap[split=true, devices=n] takes arrays of any length");
  if (n > most_host_devices)
    fail(Kind::Device, op.span, fmt::format("pmap asks for {} devices, and this machine makes {} at most", n, most_host_devices),
         "pmap[split=true, devices=n] gives each device many elements");
  const auto ranks = static_cast<size_t>(n);
  const auto consumed = static_cast<size_t>(op.attrs.get<int64_t>("consumed"));
  const bool split = op.attrs.has("share");
  const int64_t length = split ? context.size(op.attrs.get<Dim>("length")) : n;
  std::vector<std::vector<Array>> arguments(ranks), results(ranks);
  for (int64_t r = 0; r < n; ++r) {
    int64_t begin = length / n * r + std::min(r, length % n), count = length / n + (r < length % n);
    for (size_t i = 0; i < in.size(); ++i)
      arguments[static_cast<size_t>(r)].push_back(i >= consumed ? in[i] : split ? chunk_of(in[i], begin, count) : row_of(in[i], r));
  }
  const DimEnv dims = context.dims;
  auto work = [&](EvalContext& device, int rank) {
    device.dims = dims;
    results[static_cast<size_t>(rank)] = device.run_body(*op.bodies[0], arguments[static_cast<size_t>(rank)]);
  };
  context.on_devices(static_cast<int>(n), op.attrs.get<int64_t>("level"), work);
  std::vector<Array> out;
  const Ints& joins = op.attrs.get<Ints>("joins");
  for (uint32_t i = 0; i < op.outputs; ++i) {
    std::vector<const Array*> parts;
    for (const auto& of_rank : results) parts.push_back(&of_rank[i]);
    out.push_back(joined(op, static_cast<PmapJoin>(joins[i]), f.type(op.output(i)), parts));
  }
  context.bind_defined(f, op, out);
  return out;
}

// ---- batching: lanes go behind the axis that is dealt out ----
/// A body that gets chunks with their lanes behind axis 0, and gives results so where they are put together.
FunctionPtr around_chunks(const Function& body, const Flags& swapped_params, const Flags& swapped_results, Span span) {
  Builder b(body.name);
  std::vector<ValueId> arguments;
  for (size_t i = 0; i < body.params.size(); ++i) {
    Type type = body.type(body.params[i]);
    bool swap = i < swapped_params.size() && swapped_params[i];
    if (swap) std::swap(type.dims[0], type.dims[1]);
    ValueId p = b.param(type);
    arguments.push_back(swap ? swap_front(b, p, span) : p);
  }
  std::vector<ValueId> results = inline_function(b, body, arguments);
  for (size_t i = 0; i < results.size(); ++i)
    if (swapped_results[i]) results[i] = swap_front(b, results[i], span);
  return b.finish(results);
}

std::vector<BatchedValue> batch_pmap(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (has_effects(*op.bodies[0])) return c.loop_over_lanes(f, op, in);   // lane after lane, and in each rank after rank
  const auto consumed = static_cast<size_t>(op.attrs.get<int64_t>("consumed"));
  const bool split = op.attrs.has("share");
  const Ints& joins = op.attrs.get<Ints>("joins");
  Builder& b = c.out();
  Flags mapped, swapped_params(consumed, false), swapped_results;
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < in.size(); ++i) {
    mapped.push_back(in[i].mapped);
    bool swap = i < consumed && in[i].mapped;
    inputs.push_back(swap ? swap_front(b, in[i].value, op.span) : in[i].value);
    if (i < consumed) swapped_params[i] = swap && split;
  }
  BatchContext::ClosedBody body = c.batch_closed(*op.bodies[0], mapped, {}, false);
  for (size_t i = 0; i < joins.size(); ++i) swapped_results.push_back(body.mapped[i] && static_cast<PmapJoin>(joins[i]) == PmapJoin::Concat);
  FunctionPtr inside = around_chunks(*body.function, swapped_params, swapped_results, op.span);
  if (c.live() != no_value) inputs.push_back(c.live());
  PmapAttrs attrs{c.size(op.attrs.get<Dim>("devices")), split ? std::optional(op.attrs.get<Dim>("share")) : std::nullopt,
                  c.size(op.attrs.get<Dim>("length")), static_cast<int64_t>(consumed), op.attrs.get<int64_t>("level"), joins};
  std::vector<ValueId> values = emit_pmap(b, inside, std::move(inputs), attrs, op.span);
  std::vector<BatchedValue> out;
  for (size_t i = 0; i < values.size(); ++i) {
    bool behind = body.mapped[i] && static_cast<PmapJoin>(joins[i]) != PmapJoin::First;
    out.push_back({behind ? swap_front(b, values[i], op.span) : values[i], body.mapped[i]});
  }
  return out;
}

}  // namespace

std::vector<ValueId> emit_pmap(Builder& out, FunctionPtr body, std::vector<ValueId> inputs, const PmapAttrs& a, Span span) {
  Attrs attrs{{"devices", a.devices}, {"length", a.length}, {"consumed", a.consumed}, {"level", a.level}, {"joins", a.joins}};
  if (a.share) attrs.set("share", *a.share);
  std::vector<Type> operands;
  for (ValueId v : inputs) operands.push_back(out.type(v));
  Dims defines;
  result_types(*body, operands, attrs, [&] { return defines.emplace_back(Dim::symbol("s")); });
  attrs.set("defines", defines);
  return out.emit_many(pmap_op, std::move(inputs), std::move(attrs), span, {std::move(body)});
}

const OpDef pmap_op = {
    .name = "pmap", .doc = "A body on several devices at once, each on its part of the operands.", .surface = Internal{},
    .effect = Effect::Pure, .ragged = RaggedRule::Whole, .infer = infer_pmap, .eval = eval_pmap, .batch = BatchCustom{batch_pmap},
    .diff = ByRule{nullptr, reverse_pmap}, .code = CodeControl{}, .samples = nullptr};

namespace {
constexpr const OpDef* rows[] = {&pmap_op};
}
const Family device_rows = rows;

}  // namespace tercet
