// Rows: where the lanes of a vmap, or the devices of a pmap, meet (language.md section 9).
//
// Attr "over" is the level of the axis: how many axes of vmaps and pmaps enclose it where it was elaborated. Batching that
// axis replaces the operation by one along the lanes; batching another one puts its lanes aside. On devices the
// operation is the communicator's of the same name. Attr "title" is its name in the program; attr "differs" marks those
// whose result is each lane's own.
#include <fmt/format.h>

#include "interpreter/ir/rewrite.h"
#include "interpreter/ops/batch_rules.h"
#include "interpreter/ops/devices_diff.h"
#include "interpreter/ops/rows.h"
#include "interpreter/ops/sample_arrays.h"
#include "interpreter/runtime/ragged.h"

namespace tercet {
namespace {

using Ints = std::vector<int64_t>;
using Dims = std::vector<Dim>;
using Pairs = std::vector<std::pair<int64_t, int64_t>>;

const std::string& title_of(const Op& op) { return op.attrs.get<std::string>("title"); }
int64_t level_of(const Op& op) { return op.attrs.get<int64_t>("over"); }
Meeting meeting_of(const Op& op) { return {title_of(op).c_str(), op.span}; }

Communicator& devices_of(EvalContext& context, const Op& op) {
  if (Communicator* c = context.communicator(level_of(op))) return *c;
  fail(Kind::Unsupported, op.span, fmt::format("all lanes meet in {}, and the lanes of this vmap run one after another", title_of(op)),
       "lanes run so when they have rows of different length, or call a function that calls itself: pad the rows, or take it out of the vmap");
}

void refuse_masked(BatchContext& c, const Op& op) {
  if (c.live() == no_value) return;
  fail(Kind::Unsupported, op.span, fmt::format("all lanes meet in {}, and not all of them come to this branch or step", title_of(op)),
       "move it in front of the branch or loop");
}

/// The same elements; the sizes are known to be equal, whatever names they have.
ValueId with_first(BatchContext& c, ValueId v, const Dim& size, Span span) {
  Dims dims = c.out().type(v).dims;
  if (dims[0] == size) return v;
  dims[0] = size;
  return c.out().emit(reshape_op, {v}, {{"dims", dims}}, span);
}

Attrs rewritten(BatchContext& c, const Op& op) {
  Attrs attrs;
  for (auto& [name, value] : op.attrs.items()) attrs.set(name, map_dims(value, [&](const Dim& d) { return c.size(d); }));
  return attrs;
}

/// Another axis is batched, and the operation's own first axis stays in front of the lanes.
ValueId beside_lanes(BatchContext& c, const Op& op, ValueId x) {
  return c.out().emit(*op.def, {swap_front(c.out(), x, op.span)}, rewritten(c, op), op.span);
}

ReduceKind kind_of(const Op& op) {
  const std::string& kind = op.attrs.get<std::string>("kind");
  return kind == "sum" ? ReduceKind::Sum : kind == "max" ? ReduceKind::Max : ReduceKind::Min;
}
ValueId reduced(BatchContext& c, const Op& op, ValueId x) {
  ReduceKind kind = kind_of(op);
  const OpDef& reduction = kind == ReduceKind::Sum ? sum_op : kind == ReduceKind::Max ? max_op : min_op;
  return c.out().emit(reduction, {x}, {{"axes", Ints{0}}}, op.span);
}

// ---- all_reduce ----
std::vector<Type> infer_all_reduce(const InferInput& in) {
  TERCET_CHECK(in.operands.size() == 1 && (is_int(in.operands[0].dtype) || is_float(in.operands[0].dtype)));
  return {in.operands[0]};
}
std::vector<Array> eval_all_reduce(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  return {devices_of(context, op).all_reduce(meeting_of(op), kind_of(op), std::move(in[0]))};
}
std::vector<BatchedValue> batch_all_reduce(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (level_of(op) == c.level()) {
    refuse_masked(c, op);
    return {{reduced(c, op, c.mapped(in[0], op.span)), false}};
  }
  return in[0].mapped ? emit_mapped(c, op, {in[0].value}, rewritten(c, op)) : c.emit_shared(f, op, in);
}

// ---- all_gather: attr "count" is the number of lanes or devices ----
std::vector<Type> infer_all_gather(const InferInput& in) {
  TERCET_CHECK(in.operands.size() == 1 && !in.operands[0].is_ragged());
  return {{in.operands[0].dtype, prepended(in.attrs.get<Dim>("count"), in.operands[0].dims)}};
}
std::vector<Array> eval_all_gather(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  return {devices_of(context, op).all_gather(meeting_of(op), std::move(in[0]))};
}
std::vector<BatchedValue> batch_all_gather(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (level_of(op) == c.level()) {
    refuse_masked(c, op);
    return {{with_first(c, c.mapped(in[0], op.span), c.size(op.attrs.get<Dim>("count")), op.span), false}};
  }
  if (!in[0].mapped) return c.emit_shared(f, op, in);
  ValueId all = c.out().emit(*op.def, {in[0].value}, rewritten(c, op), op.span);
  return {{swap_front(c.out(), all, op.span), true}};
}

// ---- reduce_scatter: row i of all lanes or devices, combined, is lane i's ----
std::vector<Type> infer_reduce_scatter(const InferInput& in) {
  TERCET_CHECK(in.operands.size() == 1 && in.operands[0].rank() > 0);
  return {{in.operands[0].dtype, Dims(in.operands[0].dims.begin() + 1, in.operands[0].dims.end())}};
}
void require_rows(const Communicator& devices, const Op& op, const Array& x) {
  if (x.shape[0] == devices.size()) return;
  fail(Kind::Shape, op.span, fmt::format("{} deals {} rows to {} devices", title_of(op), x.shape[0], devices.size()), "it needs one for each");
}
std::vector<Array> eval_reduce_scatter(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  Communicator& devices = devices_of(context, op);
  require_rows(devices, op, in[0]);
  return {devices.reduce_scatter(meeting_of(op), kind_of(op), std::move(in[0]))};
}
std::vector<BatchedValue> batch_reduce_scatter(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (level_of(op) == c.level()) {
    refuse_masked(c, op);
    return {{with_first(c, reduced(c, op, c.mapped(in[0], op.span)), c.lanes(), op.span), true}};
  }
  return in[0].mapped ? std::vector<BatchedValue>{{beside_lanes(c, op, in[0].value), true}} : c.emit_shared(f, op, in);
}

// ---- all_to_all ----
std::vector<Type> infer_all_to_all(const InferInput& in) {
  TERCET_CHECK(in.operands.size() == 1 && in.operands[0].rank() > 0);
  return {in.operands[0]};
}
std::vector<Array> eval_all_to_all(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  Communicator& devices = devices_of(context, op);
  require_rows(devices, op, in[0]);
  return {devices.all_to_all(meeting_of(op), std::move(in[0]))};
}
std::vector<BatchedValue> batch_all_to_all(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (level_of(op) == c.level()) {
    refuse_masked(c, op);
    ValueId x = c.mapped(in[0], op.span);
    Dims dims = c.out().type(x).dims;
    std::swap(dims[0], dims[1]);
    ValueId swapped = with_first(c, swap_front(c.out(), x, op.span), c.lanes(), op.span);
    Dims own = c.out().type(swapped).dims;
    own[1] = dims[0];   // the number of lanes, by the name that the program has for it
    if (!(own == c.out().type(swapped).dims)) swapped = c.out().emit(reshape_op, {swapped}, {{"dims", own}}, op.span);
    return {{swapped, true}};
  }
  if (!in[0].mapped) return c.emit_shared(f, op, in);
  return {{swap_front(c.out(), beside_lanes(c, op, in[0].value), op.span), true}};
}

// ---- permute(x, pairs i64[k, 2]): the array of lane or device pairs[., 0] goes to pairs[., 1] ----
std::vector<Type> infer_permute(const InferInput& in) {
  TERCET_CHECK(in.operands.size() == 2 && in.operands[1].dtype == DType::I64 && in.operands[1].rank() == 2);
  return {in.operands[0]};
}
/// The pairs, when they are a permutation of some of n.
Pairs pairs_of(const Array& array, int64_t n, const Op& op) {
  Pairs out;
  if (array.shape[1] != 2) fail(Kind::Shape, op.span, fmt::format("{} takes pairs (from, to), and these have {} numbers", title_of(op), array.shape[1]));
  std::vector<bool> from(static_cast<size_t>(n), false), to = from;
  for (int64_t i = 0; i < array.shape[0]; ++i) {
    const int64_t* pair = array.data<int64_t>() + 2 * i;
    for (auto [at, seen, word] : {std::tuple{pair[0], &from, "sends"}, std::tuple{pair[1], &to, "receives"}}) {
      if (at < 0 || at >= n) fail(Kind::Index, op.span, fmt::format("{}: {} is out of range for {} of them", title_of(op), at, n));
      if ((*seen)[static_cast<size_t>(at)]) fail(Kind::Value, op.span, fmt::format("{}: {} {} twice", title_of(op), at, word), "each sends to one, and receives from one");
      (*seen)[static_cast<size_t>(at)] = true;
    }
    out.emplace_back(pair[0], pair[1]);
  }
  return out;
}
std::vector<Array> eval_permute(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  Communicator& devices = devices_of(context, op);
  return {devices.permute(meeting_of(op), std::move(in[0]), pairs_of(in[1], devices.size(), op))};
}
std::vector<BatchedValue> batch_permute(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (level_of(op) == c.level()) {
    refuse_masked(c, op);
    if (in[1].mapped) fail(Kind::Type, op.span, fmt::format("the pairs of {} are the same in all lanes", title_of(op)));
    return {{c.out().emit(*find_op("permute_lanes"), {c.mapped(in[0], op.span), in[1].value}, {{"title", title_of(op)}}, op.span), true}};
  }
  if (in[1].mapped) return c.loop_over_lanes(f, op, in);
  return in[0].mapped ? emit_mapped(c, op, {in[0].value, in[1].value}, rewritten(c, op)) : c.emit_shared(f, op, in);
}

// ---- permute_lanes(x[n, …], pairs): the same along axis 0 ----
std::vector<Array> eval_permute_lanes(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  const Array& x = in[0];
  Array out = Array::zeros(x.dtype, x.shape);
  out.owners = x.owners;
  const auto n = x.shape[0], row = n ? x.bytes() / n : 0;
  for (auto [from, to] : pairs_of(in[1], n, op))
    if (row) std::memcpy(static_cast<void*>(out.raw() + to * row), x.raw() + from * row, static_cast<size_t>(row));
  return {std::move(out)};
}

// ---- axis_index ----
std::vector<Type> infer_axis_index(const InferInput& in) {
  TERCET_CHECK(in.operands.empty());
  return {{DType::I32, {}}};
}
std::vector<Array> eval_axis_index(EvalContext& context, const Function&, const Op& op, std::span<Array>) {
  return {scalar_of_int(DType::I32, devices_of(context, op).rank())};
}
std::vector<BatchedValue> batch_axis_index(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (level_of(op) != c.level()) return c.emit_shared(f, op, in);
  return {{c.out().emit(iota_op, {}, {{"dims", Dims{c.lanes()}}, {"axis", int64_t{0}}, {"dtype", DType::I32}}, op.span), true}};
}

// ---- samples: a group of one ----
Attrs sample_attrs(const char* title) { return {{"over", int64_t{0}}, {"title", std::string(title)}}; }

std::vector<Sample> combining_samples(bool rows) {
  std::vector<Sample> out;
  for (int d = 1; d <= static_cast<int>(DType::F64); ++d)
    for (const char* kind : {"sum", "max", "min"}) {
      if (rows && std::string_view(kind) != "sum") continue;   // psum_scatter only
      Attrs attrs = sample_attrs("psum");
      attrs.set("kind", std::string(kind));
      if (rows) attrs.set("differs", true);
      for (Shape shape : {Shape{}, Shape{5}, Shape{3, 7}}) {
        if (rows) shape.insert(0, 1);
        out.push_back({{counting(static_cast<DType>(d), shape)}, attrs});
      }
    }
  return out;
}
std::vector<Sample> all_reduce_samples() { return combining_samples(false); }
std::vector<Sample> reduce_scatter_samples() { return combining_samples(true); }

std::vector<Sample> moving_samples(Attrs attrs, bool rows) {
  std::vector<Sample> out;
  for (DType dtype : {DType::Bool, DType::I8, DType::F16, DType::F32, DType::I64})
    for (Shape shape : {Shape{}, Shape{5}, Shape{3, 7}}) {
      if (rows) shape.insert(0, 1);
      out.push_back({{counting(dtype, shape)}, attrs});
    }
  return out;
}
std::vector<Sample> all_gather_samples() {
  Attrs attrs = sample_attrs("all_gather");
  attrs.set("count", Dim(1));
  return moving_samples(attrs, false);
}
std::vector<Sample> all_to_all_samples() {
  Attrs attrs = sample_attrs("all_to_all");
  attrs.set("differs", true);
  return moving_samples(attrs, true);
}
std::vector<Sample> permute_samples() {
  Attrs attrs = sample_attrs("ppermute");
  attrs.set("differs", true);
  std::vector<Sample> out = moving_samples(attrs, false);
  for (size_t i = 0; i < out.size(); ++i) out[i].operands.push_back(i % 2 ? integers(DType::I64, {1, 2}, {0, 0}) : integers(DType::I64, {0, 2}, {}));
  return out;
}
std::vector<Sample> permute_lanes_samples() {
  std::vector<Sample> out;
  for (DType dtype : {DType::Bool, DType::F16, DType::F32, DType::I64})
    for (const Shape& shape : {Shape{4}, Shape{4, 7}})
      out.push_back({{counting(dtype, shape), integers(DType::I64, {3, 2}, {0, 1, 1, 3, 3, 2})}, {{"title", std::string("ppermute")}}});
  return out;
}
std::vector<Sample> axis_index_samples() {
  Attrs attrs = sample_attrs("axis_index");
  attrs.set("differs", true);
  return {{{}, attrs}};
}

constexpr OpDef collective(const char* name, const char* doc, InferRule infer, EvalRule eval, BatchFn batch, Diff diff, Samples samples) {
  return {.name = name, .doc = doc, .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense, .infer = infer, .eval = eval,
          .batch = BatchCustom{batch}, .diff = diff, .code = CodeCall{}, .samples = samples};
}

}  // namespace

const OpDef all_reduce_op = collective("all_reduce", "The values of all lanes or devices combined: the same for all.", infer_all_reduce, eval_all_reduce, batch_all_reduce, ByRule{nullptr, reverse_all_reduce}, all_reduce_samples);
const OpDef all_gather_op = collective("all_gather", "The values of all lanes or devices, stacked: the same for all.", infer_all_gather, eval_all_gather, batch_all_gather, Linear{transpose_all_gather}, all_gather_samples);
const OpDef reduce_scatter_op = collective("reduce_scatter", "Row i of all lanes or devices combined, for number i.", infer_reduce_scatter, eval_reduce_scatter, batch_reduce_scatter, ByRule{nullptr, transpose_reduce_scatter}, reduce_scatter_samples);
const OpDef all_to_all_op = collective("all_to_all", "Row i of every lane or device goes to number i.", infer_all_to_all, eval_all_to_all, batch_all_to_all, Linear{transpose_all_to_all}, all_to_all_samples);
const OpDef permute_op = collective("permute", "The value of another lane or device, by pairs (from, to); zeros without one.", infer_permute, eval_permute, batch_permute, Linear{transpose_permute}, permute_samples);
const OpDef axis_index_op = collective("axis_index", "The number of this lane or device.", infer_axis_index, eval_axis_index, batch_axis_index, NotDifferentiable{"it is a number of a lane"}, axis_index_samples);

namespace {
const OpDef permute_lanes_op = {
    .name = "permute_lanes", .doc = "Rows moved to other places by pairs (from, to); zeros elsewhere.", .surface = Internal{},
    .effect = Effect::Pure, .ragged = RaggedRule::Dense, .infer = infer_permute, .eval = eval_permute_lanes, .batch = BatchByLoop{},
    .diff = Linear{transpose_permute}, .code = CodeCall{}, .samples = permute_lanes_samples};

constexpr const OpDef* rows[] = {&all_reduce_op, &all_gather_op, &reduce_scatter_op, &all_to_all_op, &permute_op, &axis_index_op, &permute_lanes_op};
}
const Family collective_rows = rows;

}  // namespace tercet
