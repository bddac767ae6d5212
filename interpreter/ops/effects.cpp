// Rows: checks that may fail, and output. Their attributes about lanes are explained in effect_rules.h.
#include <fmt/format.h>

#include <cstring>

#include "interpreter/ops/effect_rules.h"
#include "interpreter/ops/index_plan.h"
#include "interpreter/ops/rows.h"
#include "interpreter/ops/sample_arrays.h"
#include "interpreter/runtime/polling.h"
#include "interpreter/runtime/print.h"

namespace tercet {
namespace {

/// Finds the first element, lane by lane, for which `bad` holds and reports `describe` of it.
template <class Bad, class Describe>
void report_first(EvalContext& context, const Op& op, std::span<const Array> in, Bad bad, Describe describe) {
  Lanes lanes(op, in);
  int64_t per_lane = lanes.count() ? in[0].count() / lanes.count() : 0;
  PollCounter polls;
  for (int64_t lane = 0; lane < lanes.count(); ++lane) {
    polls.add(1);
    if (!lanes.alive(lane)) continue;
    for (int64_t i = lane * per_lane; i < (lane + 1) * per_lane; ++i) {
      polls.add(1);
      if (!bad(i)) continue;
      Diagnostic d = describe(i);
      d.span = op.span;
      context.report(std::move(d), lanes.index(lane));
      return;
    }
  }
}

/// A size that a check names: attr `name`, or where it differs between lanes operand `from_end` from the end, by element.
class CheckedSize {
 public:
  CheckedSize(EvalContext& context, const Op& op, std::span<const Array> in, const char* name, size_t from_end = 1)
      : each_(op.attrs.get_or<bool>("sized", false) ? in[in.size() - has_live(op) - from_end].data<int64_t>() : nullptr),
        all_(each_ ? 0 : context.size(op.attrs.get<Dim>(name))) {}
  int64_t operator[](int64_t i) const { return each_ ? each_[i] : all_; }

 private:
  const int64_t* each_;
  int64_t all_;
};

std::vector<BatchedValue> batch_output(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  return batch_effect_mapped(c, op, in);
}

// ---- check_index ----
std::vector<Array> eval_check_index(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  CheckedSize size(context, op, in, "size");
  Scratch<int64_t> index = as_int64(in[0]);
  bool is_u64 = in[0].dtype == DType::U64;
  auto bad = [&](int64_t i) {
    int64_t v = index[static_cast<size_t>(i)];
    return v >= size[i] || v < -size[i] || (is_u64 && v < 0);
  };
  report_first(context, op, in, bad, [&](int64_t i) {
    Diagnostic d;
    const int64_t n = size[i];
    d.kind = Kind::Index;
    int64_t v = index[static_cast<size_t>(i)];
    d.message = fmt::format("index {} is out of range for size {}", is_u64 ? fmt::format("{}", static_cast<uint64_t>(v)) : fmt::format("{}", v), n);
    if (op.attrs.has("axis")) d.label = fmt::format("axis {}", op.attrs.get<int64_t>("axis"));
    if (op.attrs.has("help")) d.help = op.attrs.get<std::string>("help");
    else if (n == 0) d.help = "the axis is empty";
    else d.help = fmt::format("valid are {} to {}; take(x, i, mode=\"clip\" | \"wrap\" | \"fill\") has other rules", -n, n - 1);
    return d;
  });
  return {};
}
std::vector<Sample> check_index_samples() { return {{{integers(DType::I32, {3}, {0, 2, -3})}, {{"size", Dim(3)}, {"axis", int64_t{0}}}}}; }

// ---- check_id: 0 <= id < size ----
std::vector<Array> eval_check_id(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  CheckedSize size(context, op, in, "size");
  Scratch<int64_t> id = as_int64(in[0]);
  report_first(context, op, in, [&](int64_t i) { return id[static_cast<size_t>(i)] < 0 || id[static_cast<size_t>(i)] >= size[i]; }, [&](int64_t i) {
    Diagnostic d;
    const int64_t n = size[i];
    d.kind = Kind::Index;
    d.message = fmt::format("id {} is out of range for length {}", id[static_cast<size_t>(i)], n);
    d.help = "mode=\"drop\" leaves such ids out";
    return d;
  });
  return {};
}
std::vector<Sample> check_id_samples() { return {{{integers(DType::I64, {2}, {0, 2})}, {{"size", Dim(3)}}}}; }

// ---- check_window: start + attr "size" must fit in attr "length" ----
std::vector<Array> eval_check_window(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  CheckedSize length(context, op, in, "length", 2), size(context, op, in, "size");
  Scratch<int64_t> start = as_int64(in[0]);
  report_first(context, op, in, [&](int64_t i) { int64_t s = start[static_cast<size_t>(i)]; return size[i] < 0 || s < 0 || s > length[i] - size[i]; }, [&](int64_t i) {
    Diagnostic d;
    const int64_t n = length[i], w = size[i];
    d.kind = Kind::Index;
    int64_t s = start[static_cast<size_t>(i)];
    int64_t end = 0;
    const std::string to = __builtin_add_overflow(s, w, &end) ? fmt::format("{} + {}", s, w) : fmt::format("{}", end);
    d.message = fmt::format("the window {} : {} is out of range for size {}", s, to, n);
    d.help = fmt::format("a window x[e : e + w] must fit: 0 <= e and e + {} <= {}", w, n);
    return d;
  });
  return {};
}
std::vector<Sample> check_window_samples() { return {{{integers(DType::I32, {2}, {0, 5})}, {{"size", Dim(3)}, {"length", Dim(8)}}}}; }

// ---- check_nonzero ----
std::vector<Array> eval_check_nonzero(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  Scratch<int64_t> divisor = as_int64(in[0]);
  report_first(context, op, in, [&](int64_t i) { return divisor[static_cast<size_t>(i)] == 0; }, [&](int64_t) {
    Diagnostic d;
    d.kind = Kind::Arithmetic;
    d.message = fmt::format("integer `{}` by zero", op.attrs.get<std::string>("operator"));
    d.help = "use floats (`/`), or guard with `if` or `where(d == 0, 1, d)`";
    return d;
  });
  return {};
}
std::vector<Sample> check_nonzero_samples() { return {{{integers(DType::I32, {2}, {1, -5})}, {{"operator", std::string("//")}}}}; }

// ---- check_dims: attr "relation" "equal", "broadcast" or "at_least" between sizes ----
std::vector<Array> eval_check_dims(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  CheckedSize lefts(context, op, in, "left", 2), rights(context, op, in, "right");
  const std::string& relation = op.attrs.get<std::string>("relation");
  auto good = [&](int64_t left, int64_t right) {
    return left == right || (relation == "broadcast" && (left == 1 || right == 1)) || (relation == "at_least" && left >= right) ||
           (relation == "repeats" && left == 1);
  };
  Lanes lanes(op, in);
  int64_t lane = 0;
  while (lane < lanes.count() && (!lanes.alive(lane) || good(lefts[lane], rights[lane]))) ++lane;
  if (lane == lanes.count()) return {};
  const int64_t left = lefts[lane], right = rights[lane];
  Diagnostic d;
  d.kind = op.attrs.get_or<bool>("is_value", false) ? Kind::Value : Kind::Shape;
  d.span = op.span;
  d.message = op.attrs.get<std::string>("message");
  for (auto [mark, size] : {std::pair{"{left}", left}, std::pair{"{right}", right}})
    for (size_t at; (at = d.message.find(mark)) != std::string::npos;) d.message.replace(at, std::strlen(mark), fmt::format("{}", size));
  d.help = op.attrs.get_or<std::string>("help", "");
  if (relation != "at_least") d.label = fmt::format("{} against {}", left, right);
  context.report(std::move(d), lanes.index(lane));
  return {};
}
std::vector<Sample> check_dims_samples() {
  return {{{}, {{"left", Dim(3)}, {"right", Dim(3)}, {"relation", std::string("equal")}, {"message", std::string("sizes differ")}}}};
}

// ---- assert ----
std::vector<Array> eval_assert(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  const bool* condition = in[0].data<bool>();
  report_first(context, op, in, [&](int64_t i) { return !condition[i]; }, [&](int64_t) {
    Diagnostic d;
    d.kind = Kind::Assert;
    d.message = op.attrs.get<std::string>("message");
    return d;
  });
  return {};
}
/// The same with the message as operand 1, one for each lane. Compiled code only asks the condition: what it was, the reference finds out.
std::vector<Array> eval_assert_text(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  const bool* condition = in[0].data<bool>();
  report_first(context, op, in, [&](int64_t i) { return !condition[i]; }, [&](int64_t i) {
    Diagnostic d;
    d.kind = Kind::Assert;
    d.message = in[1].data<StringRef>()[i].view();
    return d;
  });
  return {};
}
std::vector<ValueId> expand_assert_text(Builder& b, const Op& op) {
  std::vector<ValueId> inputs{op.inputs[0]};
  inputs.insert(inputs.end(), op.inputs.begin() + 2, op.inputs.end());
  Attrs attrs = op.attrs;
  attrs.set("message", std::string());
  attrs.set("ids_at", int64_t{1});
  b.emit_many(assert_op, std::move(inputs), std::move(attrs), op.span);
  return {};
}
std::vector<Sample> assert_text_samples() {
  Array yes = Array::make(DType::Bool, {});
  *yes.data<bool>() = true;
  std::string_view text = "never";
  return {{{yes, Array::strings({&text, 1}).reshaped({})}, {}}};
}
std::vector<Sample> assert_samples() {
  Array yes = Array::make(DType::Bool, {});
  *yes.data<bool>() = true;
  return {{{yes}, {{"message", std::string("never")}}}};
}

// ---- print: attr "text" with \1 where an operand goes, \2 where it goes quoted ----
std::string lane_text(const Op& op, std::span<const Array> operands, int64_t lane, int64_t axes) {
  std::string out;
  size_t next = 0;
  for (char c : op.attrs.get<std::string>("text")) {
    if (c != '\1' && c != '\2') {
      out += c;
      continue;
    }
    Array a = operands[next++];
    for (int64_t k = 0; k < axes; ++k) a.shape.erase(0);
    a.offset += lane * a.bytes();
    out += c == '\1' ? format(a) : format_inside(a);
  }
  return out;
}
std::vector<Array> eval_print(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  Lanes lanes(op, in);
  for (int64_t lane = 0; lane < lanes.count(); ++lane)
    if (lanes.alive(lane)) context.print(lane_text(op, in.first(in.size() - has_live(op)), lane, lane_axes(op)), lanes.index(lane));
  return {};
}

// ---- regions ----
std::vector<Array> eval_region_begin(EvalContext& context, const Function&, const Op&, std::span<Array>) { context.begin_region(); return {}; }
std::vector<Array> eval_region_end(EvalContext& context, const Function&, const Op&, std::span<Array>) { context.end_region(); return {}; }
/// An inner vmap's region is part of the outer one's.
std::vector<BatchedValue> batch_region(BatchContext&, const Function&, const Op&, std::span<const BatchedValue>) { return {}; }

// ---- the same predicates for compiled code ----
Num index_fails(std::span<const Num> x, std::span<const Num> sizes) {
  Num index = cast<int64_t>(x[0]), n = sizes.empty() ? x.back() : sizes[0], zero = like(index, 0);
  Num bad = either(index >= n, index < zero - n);
  return x[0].dtype == DType::U64 ? either(bad, index < zero) : bad;
}
Num id_fails(std::span<const Num> x, std::span<const Num> sizes) {
  Num id = cast<int64_t>(x[0]);
  return either(id < like(id, 0), id >= (sizes.empty() ? x.back() : sizes[0]));
}
Num window_fails(std::span<const Num> x, std::span<const Num> sizes) {   // sizes: length, size
  Num start = cast<int64_t>(x[0]), zero = like(start, 0);
  Num length = sizes.empty() ? x[x.size() - 2] : sizes[0], size = sizes.empty() ? x.back() : sizes[1];
  return either(either(size < zero, start < zero), start > length - size);
}
Num divisor_is_zero(std::span<const Num> x, std::span<const Num>) { return eq(x[0], like(x[0], 0)); }
Num condition_is_false(std::span<const Num> x, std::span<const Num>) { return negation(x[0]); }

constexpr NotDifferentiable no_result{"it has no result"};

constexpr OpDef check_row(const char* name, const char* doc, EvalRule eval, Code code, Samples samples) {
  return {.name = name, .doc = doc, .surface = Internal{}, .effect = Effect::Check, .ragged = RaggedRule::Dense, .infer = infer_nothing, .eval = eval,
          .batch = BatchCustom{batch_check, flat_check}, .diff = no_result, .code = code, .samples = samples};
}
constexpr OpDef output_row(const char* name, const char* doc, EvalRule eval, BatchFn batch) {
  return {.name = name, .doc = doc, .surface = Internal{}, .effect = Effect::Output, .ragged = RaggedRule::Whole, .infer = infer_nothing, .eval = eval,
          .batch = BatchCustom{batch}, .diff = no_result, .code = CodeCall{}, .samples = nullptr};
}

}  // namespace

const OpDef check_index_op = check_row("check_index", "Indices are within -size .. size - 1.", eval_check_index, CodeCheck{index_fails}, check_index_samples);
const OpDef check_id_op = check_row("check_id", "Ids are within 0 .. size - 1.", eval_check_id, CodeCheck{id_fails}, check_id_samples);
const OpDef check_window_op = check_row("check_window", "Windows fit.", eval_check_window, CodeCheck{window_fails}, check_window_samples);
const OpDef check_nonzero_op = check_row("check_nonzero", "No divisor is zero.", eval_check_nonzero, CodeCheck{divisor_is_zero}, check_nonzero_samples);
const OpDef check_dims_op = check_row("check_dims", "Two sizes go together.", eval_check_dims, CodeCheck{nullptr}, check_dims_samples);
const OpDef assert_op = check_row("assert", "A condition holds.", eval_assert, CodeCheck{condition_is_false}, assert_samples);
const OpDef assert_text_op = check_row("assert_text", "A condition holds, else there is this to say.", eval_assert_text, CodeExpand{expand_assert_text}, assert_text_samples);
const OpDef print_op = output_row("print", "A line on standard output.", eval_print, batch_output);
const OpDef region_begin_op = output_row("region_begin", "From here on effects are ordered by lane.", eval_region_begin, batch_region);
const OpDef region_end_op = output_row("region_end", "Effects since the region began act, lane by lane.", eval_region_end, batch_region);

namespace {
constexpr const OpDef* rows[] = {&check_index_op, &check_id_op, &check_window_op, &check_nonzero_op, &check_dims_op, &assert_op, &assert_text_op, &print_op, &region_begin_op, &region_end_op};
}
const Family effect_rows = rows;

}  // namespace tercet
