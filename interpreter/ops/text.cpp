// Rows: text and ragged rows, as native calls on whole arrays (interpreter/runtime/text.h, ragged.h, vocab.h, files.h).
#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "interpreter/ir/jit_entry.h"
#include "interpreter/ops/at_span.h"
#include "interpreter/ops/batch_rules.h"
#include "interpreter/ops/flat_rules.h"
#include "interpreter/ops/row_ops_diff.h"
#include "interpreter/ops/rows.h"
#include "interpreter/ops/sample_arrays.h"
#include "interpreter/ops/subwords.h"
#include "interpreter/runtime/files.h"
#include "interpreter/runtime/polling.h"
#include "interpreter/runtime/print.h"
#include "interpreter/runtime/ragged.h"
#include "interpreter/runtime/text.h"
#include "interpreter/runtime/text_arena.h"
#include "interpreter/runtime/text_hash.h"
#include "interpreter/runtime/vocab.h"

namespace tercet {
namespace {

using Dims = std::vector<Dim>;

const std::string& text_attr(const Op& op, const char* name) { return op.attrs.get<std::string>(name); }

Array some_texts() {
  std::vector<std::string_view> texts{"The cat", "", "h\xC3\xA9llo w\xC3\xB6rld, and more text than fits inside", "a b c"};
  return Array::strings(texts);
}
std::vector<Sample> text_samples() { return {{{some_texts()}, {}}}; }

// ---- one string in, one value out ----
template <DType To> std::vector<Type> infer_per_text(const InferInput& in) {
  TERCET_CHECK(in.operands[0].dtype == DType::Str);
  return {{To, in.operands[0].dims}};
}
template <Array (*Fn)(const Array&)> std::vector<Array> eval_text(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  return at_span(op, [&]() -> std::vector<Array> { return {Fn(in[0])}; });
}
template <Array (*Fn)(const Array&, std::string_view)> std::vector<Array> eval_text_with(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  return at_span(op, [&]() -> std::vector<Array> { return {Fn(in[0], text_attr(op, "text"))}; });
}
std::vector<Array> eval_replace(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  return at_span(op, [&]() -> std::vector<Array> { return {replace(in[0], text_attr(op, "from"), text_attr(op, "to"))}; });
}

std::vector<Type> infer_concat_text(const InferInput& in) {
  TERCET_CHECK(in.operands[0] == in.operands[1] && in.operands[0].dtype == DType::Str);
  return {in.operands[0]};
}
std::vector<Array> eval_concat_text(EvalContext&, const Function&, const Op&, std::span<Array> in) {
  const StringRef *a = in[0].data<StringRef>(), *b = in[1].data<StringRef>();
  Array out = Array::make(DType::Str, in[0].shape);
  TextArena arena;
  std::string joined;
  PollCounter polls;
  for (int64_t i = 0, n = in[0].count(); i < n; ++i) {
    polls.add(8 + (a[i].size + b[i].size) / 16);
    joined.assign(a[i].view()).append(b[i].view());
    out.data<StringRef>()[i] = arena.add(joined);
  }
  arena.give_to(out);
  return {std::move(out)};
}
/// The other operands are texts too, one for each element of operand 0; often the same for all.
bool is_one_text(const Array& parts) {
  const StringRef* p = parts.data<StringRef>();
  for (int64_t i = 1; i < parts.count(); ++i)
    if (p[i].view() != p[0].view()) return false;
  return parts.count() > 0;
}
/// fn(texts, others…) of whole arrays where the others are the same for all elements, else one element after another.
template <class Fn> std::vector<Array> each_with(const Op& op, std::span<Array> in, DType to, Fn fn) {
  return at_span(op, [&]() -> std::vector<Array> {
    if (std::all_of(in.begin() + 1, in.end(), is_one_text)) return {fn(in[0], int64_t{0})};
    const Array texts = in[0].reshaped({in[0].count()});
    std::vector<Array> rows;
    PollCounter polls;
    for (int64_t i = 0; i < texts.count(); ++i) {
      polls.add(64);
      rows.push_back(fn(texts.row(i), i));
    }
    if (rows.empty()) return {Array::zeros(to, in[0].shape)};
    return {stack_rows(to, std::move(rows), {}, {}).reshaped(in[0].shape)};
  });
}
std::string_view part_at(const Array& parts, int64_t i) { return parts.data<StringRef>()[i].view(); }
template <Array (*Fn)(const Array&, std::string_view), DType To> std::vector<Array> eval_text_each(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  return each_with(op, in, To, [&](const Array& x, int64_t i) { return Fn(x, part_at(in[1], i)); });
}
std::vector<Array> eval_replace_each(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  return each_with(op, in, DType::Str, [&](const Array& x, int64_t i) { return replace(x, part_at(in[1], i), part_at(in[2], i)); });
}
template <DType To> std::vector<Type> infer_text_each(const InferInput& in) {
  for (const Type& t : in.operands) TERCET_CHECK(t == in.operands[0] && t.dtype == DType::Str);
  return {{To, in.operands[0].dims}};
}
std::vector<Sample> text_each_samples() { return {{{some_texts(), some_texts()}, {}}}; }
std::vector<Sample> replace_each_samples() {   // what is replaced is never empty
  std::vector<std::string_view> from;
  for (int64_t i = 0; i < some_texts().count(); ++i) from.push_back(i % 2 ? "l" : "T");
  return {{{some_texts(), Array::strings(from).reshaped(some_texts().shape), some_texts()}, {}}};
}

std::vector<Sample> concat_text_samples() { return {{{some_texts(), some_texts()}, {}}}; }

std::vector<Type> infer_edit_distance(const InferInput& in) {
  TERCET_CHECK(in.operands[0] == in.operands[1] && in.operands[0].dtype == DType::Str);
  return {{DType::I32, in.operands[0].dims}};
}
std::vector<Array> eval_edit_distance(EvalContext&, const Function&, const Op&, std::span<Array> in) { return {edit_distances(in[0], in[1])}; }
std::vector<Sample> edit_distance_samples() {
  std::vector<std::string_view> others{"The hat", "x", "hello world, and a text that does not fit inside", "a b c"};
  return {{{some_texts(), Array::strings(others)}, {}}};
}

constexpr NotDifferentiable on_text{"it works on text"};

template <DType To> constexpr OpDef per_text(const char* name, const char* doc, EvalRule eval, Samples samples) {
  return {.name = name, .doc = doc, .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Whole,
          .infer = infer_per_text<To>, .eval = eval, .batch = BatchElementwise{}, .diff = on_text, .code = CodeCall{}, .samples = samples};
}
template <DType To> constexpr OpDef text_each(const char* name, const char* doc, EvalRule eval, Samples samples = text_each_samples) {
  return {.name = name, .doc = doc, .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
          .infer = infer_text_each<To>, .eval = eval, .batch = BatchElementwise{}, .diff = on_text, .code = CodeCall{}, .samples = samples};
}
template <char C> std::vector<Sample> text_with_samples() { return {{{some_texts()}, {{"text", std::string(1, C)}}}}; }
std::vector<Sample> number_samples() {
  std::vector<std::string_view> texts{"12", "-3", " 40 "};
  return {{{Array::strings(texts)}, {}}};
}
std::vector<Sample> normalize_samples() { return {{{some_texts()}, {{"text", std::string("NFD")}}}}; }
std::vector<Sample> replace_samples() { return {{{some_texts()}, {{"from", std::string("l")}, {"to", std::string("LL")}}}}; }

std::vector<Type> infer_chr(const InferInput& in) {
  TERCET_CHECK(in.operands[0].dtype == DType::I64);
  return {{DType::Str, in.operands[0].dims}};
}
std::vector<Sample> chr_samples() {
  Array numbers = Array::make(DType::I64, {4});
  const int64_t points[] = {0, 0x41, 0x4E2D, 0x10FFFF};
  std::copy(std::begin(points), std::end(points), numbers.data<int64_t>());
  return {{{numbers}, {}}};
}

std::vector<Array> eval_hash_tokens(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  return at_span(op, [&]() -> std::vector<Array> { return {hash_tokens(in[0], context.size(op.attrs.get<Dim>("size")), op.attrs.get<int64_t>("seed"))}; });
}
std::vector<Sample> hash_samples() { return {{{some_texts()}, {{"size", Dim(100)}, {"seed", int64_t{1}}}}}; }
std::vector<BatchedValue> batch_hash(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  Attrs attrs{{"size", c.size(op.attrs.get<Dim>("size"))}, {"seed", op.attrs.get<int64_t>("seed")}};
  std::vector<BatchedValue> out = emit_mapped(c, op, {in[0].packing ? in[0].value : c.mapped(in[0], op.span)}, std::move(attrs));
  out[0].packing = in[0].packing;
  return out;
}
std::vector<Type> infer_minhash(const InferInput& in) {
  Type t{DType::U32, in.operands[0].dims};
  require_rank(t, 1);
  t.dims.back() = in.attrs.get<Dim>("n");
  return {t};
}
std::vector<Array> eval_minhash(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  return at_span(op, [&]() -> std::vector<Array> { return {minhash(in[0], context.size(op.attrs.get<Dim>("n")), op.attrs.get<int64_t>("seed"))}; });
}
std::vector<BatchedValue> batch_minhash(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  Attrs attrs{{"n", c.size(op.attrs.get<Dim>("n"))}, {"seed", op.attrs.get<int64_t>("seed")}};
  if (in[0].packing && f.type(op.inputs[0]).rank() != 1) fail_lane_dependent(op.span);
  return emit_mapped(c, op, {in[0].packing ? c.as_ragged(in[0], op.span) : c.mapped(in[0], op.span)}, std::move(attrs));
}

// ---- one string in, a row out ----
template <DType To> std::vector<Type> infer_rows(const InferInput& in) {
  Type t{To, in.operands[0].dims};
  if (t.dims.empty()) t.dims.push_back(in.attrs.get<Dim>("defines"));
  else t.dims.push_back(Dim::ragged());
  return {t};
}
/// A row alone has a size that is known now.
std::vector<Array> with_size(EvalContext& context, const Op& op, Array out) {
  if (op.attrs.has("defines")) context.define(op, out.shape[0]);
  return {std::move(out)};
}
std::vector<Array> eval_tokenize(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  return at_span(op, [&] { return with_size(context, op, tokenize(in[0], text_attr(op, "text"))); });
}
std::vector<Array> eval_split(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  return at_span(op, [&] { return with_size(context, op, split(in[0], text_attr(op, "text"))); });
}
template <Array (*Fn)(const Array&)> std::vector<Array> eval_units(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  return at_span(op, [&] { return with_size(context, op, Fn(in[0])); });
}
std::vector<BatchedValue> batch_rows(BatchContext&, const Function&, const Op& op, std::span<const BatchedValue>) {
  fail_lane_dependent(op.span);
}
/// One text a lane: the rows of all of them.
std::vector<BatchedValue> batch_text(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (f.type(op.inputs[0]).rank() != 0 || !in[0].mapped) fail_lane_dependent(op.span);
  Attrs attrs;
  for (auto& [name, value] : op.attrs.items())
    if (name != "defines") attrs.set(name, value);
  return unpacked(c, op, c.out().emit(*op.def, {in[0].value}, std::move(attrs), op.span), op.attrs.get<Dim>("defines"));
}
template <DType To> constexpr OpDef rows_of_text(const char* name, const char* doc, EvalRule eval) {
  return {.name = name, .doc = doc, .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Whole,
          .infer = infer_rows<To>, .eval = eval, .batch = BatchCustom{batch_text}, .diff = on_text, .code = CodeCall{}, .samples = nullptr};
}

// ---- rows ----
std::vector<Type> infer_join(const InferInput& in) {
  Type t = in.operands[0];
  TERCET_CHECK(t.dtype == DType::Str && t.rank() > 0);
  t.dims.pop_back();
  return {t};
}
template <DType From> std::vector<Type> infer_text_of_rows(const InferInput& in) {
  Type t{DType::Str, in.operands[0].dims};
  TERCET_CHECK(in.operands[0].dtype == From && t.rank() > 0);
  t.dims.pop_back();
  return {t};
}
std::vector<BatchedValue> batch_join(BatchContext& c, const Function&, const Op& op, std::span<const BatchedValue> in) {
  return emit_mapped(c, op, {c.mapped(in[0], op.span)}, op.attrs);
}
std::vector<Type> infer_lengths(const InferInput& in) {
  Type t{DType::I64, in.operands[0].dims};
  TERCET_CHECK(std::any_of(t.dims.begin(), t.dims.end(), [](const Dim& d) { return d.is_ragged(); }));
  while (!t.dims.back().is_ragged()) t.dims.pop_back();
  t.dims.pop_back();
  return {t};
}
std::vector<Array> eval_lengths(EvalContext&, const Function&, const Op&, std::span<Array> in) { return {row_lengths(in[0])}; }

/// The sizes after the last ragged axis.
Dims inner_sizes(const Type& t) {
  Dims out;
  for (const Dim& d : t.dims)
    if (d.is_ragged()) out.clear();
    else out.push_back(d);
  return out;
}
std::vector<Type> infer_flatten(const InferInput& in) {
  Type t{in.operands[0].dtype, inner_sizes(in.operands[0])};
  t.dims.insert(t.dims.begin(), in.attrs.get<Dim>("defines"));
  return {t};
}
std::vector<Array> eval_flatten(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  Dims inner = inner_sizes(f.type(op.inputs[0]));
  Array out = in[0];
  out.ragged = nullptr;
  int64_t total = total_elements(in[0]), per = 1;
  Shape shape = context.shape(inner);
  for (int64_t s : shape) per *= s;
  shape.insert(0, per ? total / per : 0);
  out.shape = shape;
  context.define(op, shape[0]);
  return {std::move(out)};
}
std::vector<Type> infer_ragged_row(const InferInput& in) {   // x, index
  Type t = in.operands[0];
  require_rank(t, 2);
  t.dims.erase(t.dims.begin());
  if (t.dims[0].is_ragged()) t.dims[0] = in.attrs.get<Dim>("defines");
  return {t};
}
std::vector<Array> eval_ragged_row(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  int64_t i = std::clamp<int64_t>(in[1].as_int(), 0, std::max<int64_t>(0, in[0].shape[0] - 1));
  if (in[0].shape[0] == 0) fail(Kind::Index, op.span, "index 0 is out of range for size 0");
  Array out = row_of(in[0], i);
  if (out.shape[0] != ragged_axis) context.define(op, out.shape[0]);
  return {std::move(out)};
}
std::vector<Type> infer_ragged(const InferInput& in) {   // values, lengths
  Type t = in.operands[0];
  size_at(t.dims, 0) = size_at(in.operands[1].dims, 0);
  t.dims.insert(t.dims.begin() + 1, Dim::ragged());
  return {t};
}
std::vector<Array> eval_ragged(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  return at_span(op, [&]() -> std::vector<Array> {
    std::vector<int64_t> lengths(in[1].data<int64_t>(), in[1].data<int64_t>() + in[1].count());
    int64_t total = 0;
    PollCounter polls;
    for (int64_t n : lengths) {
      polls.add(1);
      if (n < 0 || __builtin_add_overflow(total, n, &total)) fail(Kind::Value, op.span, fmt::format("a row's length must not be negative, and this is {}", n));
    }
    if (total != in[0].shape[0])
      fail(Kind::Shape, op.span, fmt::format("the rows' lengths add up to {}, and there are {} values", total, in[0].shape[0]));
    if (!in[0].ragged) return {ragged_rows(in[0], lengths)};
    Array out = in[0];   // rows of rows
    auto levels = std::make_shared<Ragged>();
    levels->offsets.emplace_back(1, 0);
    for (int64_t n : lengths) levels->offsets[0].push_back(levels->offsets[0].back() + n);
    levels->offsets.insert(levels->offsets.end(), in[0].ragged->offsets.begin(), in[0].ragged->offsets.end());
    out.shape[0] = static_cast<int64_t>(lengths.size());
    out.shape.insert(1, ragged_axis);
    out.ragged = std::move(levels);
    return {std::move(out)};
  });
}
std::vector<Type> infer_pad(const InferInput& in) {   // x, fill; attr length, or defines where the longest row decides
  Type t = in.operands[0];
  require_rank(t, 1);
  Dim length = in.attrs.has("length") ? in.attrs.get<Dim>("length") : in.attrs.get<Dim>("defines");
  auto ragged = std::find_if(t.dims.rbegin(), t.dims.rend(), [](const Dim& d) { return d.is_ragged(); });
  if (ragged == t.dims.rend()) t.dims[t.rank() > 1 ? 1 : 0] = length;
  else *ragged = length;
  return {t};
}
std::vector<Array> eval_pad(EvalContext& context, const Function& f, const Op& op, std::span<Array> in) {
  return at_span(op, [&]() -> std::vector<Array> {
    int64_t length = op.attrs.has("length") ? context.size(op.attrs.get<Dim>("length")) : -1;
    Array out = pad_rows(in[0], length, in[1]);
    const Dims& dims = f.type(op.output()).dims;
    if (!op.attrs.has("length"))
      for (size_t k = 0; k < dims.size(); ++k)
        if (dims[k] == op.attrs.get<Dim>("defines")) context.define(op, out.shape[k]);
    return {std::move(out)};
  });
}

// ---- vocabularies: a table of tokens, and their numbers ----
std::vector<Type> infer_vocab(const InferInput& in) {
  Dim n = in.attrs.get<Dim>("defines");
  return {{DType::Str, {n}}, {DType::I64, {n}}};
}
/// Vocabularies by their token table, for the tables used last.
class RecentVocabs {
 public:
  std::shared_ptr<const Vocab> find(const Array& tokens, bool unknown) {
    std::scoped_lock lock(mutex_);
    for (const Entry& e : entries_)
      if (e.tokens.buffer == tokens.buffer && e.tokens.offset == tokens.offset && e.tokens.shape == tokens.shape && e.unknown == unknown) return e.vocab;
    return nullptr;
  }
  void add(const Array& tokens, bool unknown, std::shared_ptr<const Vocab> vocab) {
    std::scoped_lock lock(mutex_);
    if (entries_.size() >= 4) entries_.erase(entries_.begin());
    entries_.push_back({tokens, unknown, std::move(vocab)});
  }

 private:
  struct Entry { Array tokens; bool unknown; std::shared_ptr<const Vocab> vocab; };
  std::mutex mutex_;
  std::vector<Entry> entries_;
};
RecentVocabs& recent_vocabs() {
  static RecentVocabs recent;
  return recent;
}

/// The hash table of a token table.
std::shared_ptr<const Vocab> vocab_of(const Array& tokens, bool unknown) {
  if (auto known = recent_vocabs().find(tokens, unknown)) return known;
  VocabOptions options;
  // The table has every token once, so counting it again numbers it as it is.
  if (unknown && tokens.count()) options.unknown = std::string(tokens.data<StringRef>()->view());
  auto made = Vocab::build(tokens, options);
  recent_vocabs().add(tokens, unknown, made);
  return made;
}
std::vector<Array> eval_vocab(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  return at_span(op, [&]() -> std::vector<Array> {
    VocabOptions options{op.attrs.get<int64_t>("max_size"), op.attrs.get<int64_t>("min_count"), {}};
    if (op.attrs.has("unknown")) options.unknown = text_attr(op, "unknown");
    auto v = Vocab::build(in[0], options);
    context.define(op, v->size());
    recent_vocabs().add(v->tokens(), options.unknown.has_value(), v);
    return {v->tokens(), v->counts()};
  });
}
std::vector<Type> infer_encode(const InferInput& in) {   // table, tokens
  Type t{DType::I32, in.operands[1].dims};
  if (in.attrs.get<bool>("unknown") || t.dims.empty()) return {t};
  if (t.rank() == 1) t.dims[0] = in.attrs.get<Dim>("defines");
  else if (!t.dims.back().is_ragged()) t.dims.back() = Dim::ragged();
  return {t};
}
std::vector<Array> eval_encode(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  return at_span(op, [&] { return with_size(context, op, encode(*vocab_of(in[0], op.attrs.get<bool>("unknown")), in[1])); });
}
std::vector<Type> infer_decode(const InferInput& in) { return {{DType::Str, in.operands[1].dims}}; }
std::vector<Array> eval_decode(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  return at_span(op, [&]() -> std::vector<Array> { return {decode(*vocab_of(in[0], false), in[1])}; });
}
std::vector<BatchedValue> batch_encode(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in) {
  if (in[0].mapped || (!op.attrs.get_or<bool>("unknown", true))) return batch_rows(c, f, op, in);
  return emit_mapped(c, op, {in[0].value, in[1].value}, op.attrs);
}

// ---- files ----
std::vector<Type> infer_read_text(const InferInput&) { return {{DType::Str, {}}}; }
std::vector<Type> infer_read_lines(const InferInput& in) { return {{DType::Str, {in.attrs.get<Dim>("defines")}}}; }
std::string path_of(const Array& a) { return std::string(a.data<StringRef>()->view()); }
InvalidBytes invalid_bytes(const Op& op) { return op.attrs.get_or<bool>("replace", false) ? InvalidBytes::Replace : InvalidBytes::Error; }
std::vector<Array> eval_read_text(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  return at_span(op, [&]() -> std::vector<Array> { return {read_text(path_of(in[0]), invalid_bytes(op))}; });
}
std::vector<Array> eval_read_lines(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  return at_span(op, [&] { return with_size(context, op, read_lines(path_of(in[0]), invalid_bytes(op))); });
}

// ---- text of values ----
std::vector<Type> infer_text(const InferInput&) { return {{DType::Str, {}}}; }
Array one_text(const std::string& text) {
  std::string_view view = text;
  return Array::strings({&view, 1}).reshaped({});
}
std::vector<Array> eval_format(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  return {one_text(format(in[0], text_attr(op, "spec"), op.span))};
}
std::vector<Array> eval_format_text(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  std::string out;
  size_t next = 0;
  for (char c : text_attr(op, "text"))
    if (c == '\1') out += format(in[next++]);
    else if (c == '\2') out += format_inside(in[next++]);
    else out += c;
  return {one_text(out)};
}
std::vector<Type> infer_count(const InferInput&) { return {{DType::I64, {}}}; }
std::vector<Array> eval_compile_count(EvalContext&, const Function&, const Op& op, std::span<Array>) {
  auto& counter = *static_cast<const JitCounter*>(op.attrs.get<std::shared_ptr<const void>>("counter").get());
  return {scalar_of_int(DType::I64, counter.compiled.load())};
}

std::vector<Array> eval_explain(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  return context.call(op, {in.begin(), in.end()});
}

constexpr OpDef whole_row(const char* name, const char* doc, Effect effect, InferRule infer, EvalRule eval, Batch batch, Diff diff = on_text) {
  return {.name = name, .doc = doc, .surface = Internal{}, .effect = effect, .ragged = RaggedRule::Whole, .infer = infer,
          .eval = eval, .batch = batch, .diff = diff, .code = CodeCall{}, .samples = nullptr};
}

}  // namespace

const OpDef lower_op = per_text<DType::Str>("lower", "Texts in lower case.", eval_text<lower>, text_samples);
const OpDef upper_op = per_text<DType::Str>("upper", "Texts in upper case.", eval_text<upper>, text_samples);
const OpDef strip_op = per_text<DType::Str>("strip", "Texts without white space at both ends.", eval_text<strip>, text_samples);
const OpDef parse_int_op = per_text<DType::I64>("parse_int", "The integers that texts are.", eval_text<parse_integers>, number_samples);
const OpDef parse_float_op = per_text<DType::F64>("parse_float", "The numbers that texts are.", eval_text<parse_floats>, number_samples);
const OpDef normalize_op = per_text<DType::Str>("normalize", "Texts in a Unicode normalisation form.", eval_text_with<normalize>, normalize_samples);
const OpDef chr_op = {
    .name = "chr", .doc = "A text of one code point for each number.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Whole,
    .infer = infer_chr, .eval = eval_text<characters>, .batch = BatchElementwise{}, .diff = on_text, .code = CodeCall{}, .samples = chr_samples};
const OpDef text_length_op = per_text<DType::I64>("text_length", "Number of code points.", eval_text<text_lengths>, text_samples);
const OpDef replace_op = per_text<DType::Str>("replace", "Texts with every occurrence replaced.", eval_replace, replace_samples);
const OpDef starts_with_op = per_text<DType::Bool>("starts_with", "Does the text start so?", eval_text_with<starts_with>, text_with_samples<'T'>);
const OpDef ends_with_op = per_text<DType::Bool>("ends_with", "Does the text end so?", eval_text_with<ends_with>, text_with_samples<'c'>);
const OpDef contains_op = per_text<DType::Bool>("contains", "Is this part of the text?", eval_text_with<contains>, text_with_samples<'a'>);
const OpDef find_text_op = per_text<DType::I64>("find", "First position of a part, -1 when absent.", eval_text_with<find>, text_with_samples<'a'>);
const OpDef starts_with_each_op = text_each<DType::Bool>("starts_with_each", "Does each text start with its part?", eval_text_each<starts_with, DType::Bool>);
const OpDef ends_with_each_op = text_each<DType::Bool>("ends_with_each", "Does each text end with its part?", eval_text_each<ends_with, DType::Bool>);
const OpDef contains_each_op = text_each<DType::Bool>("contains_each", "Is its part in each text?", eval_text_each<contains, DType::Bool>);
const OpDef find_each_op = text_each<DType::I64>("find_each", "First position of its part in each text, -1 when absent.", eval_text_each<find, DType::I64>);
const OpDef replace_each_op = text_each<DType::Str>("replace_each", "Each text with every occurrence of its own part replaced.", eval_replace_each, replace_each_samples);
const OpDef concat_text_op = {
    .name = "concat_text", .doc = "Texts one after another, element by element.", .surface = Internal{}, .effect = Effect::Pure,
    .ragged = RaggedRule::Dense, .infer = infer_concat_text, .eval = eval_concat_text, .batch = BatchElementwise{},
    .diff = on_text, .code = CodeCall{}, .samples = concat_text_samples};
const OpDef edit_distance_op = {
    .name = "edit_distance", .doc = "Changes of code points that turn one text into another.", .surface = Internal{}, .effect = Effect::Pure,
    .ragged = RaggedRule::Dense, .infer = infer_edit_distance, .eval = eval_edit_distance, .batch = BatchElementwise{},
    .diff = on_text, .code = CodeCall{}, .samples = edit_distance_samples};
const OpDef hash_tokens_op = {
    .name = "hash_tokens", .doc = "Numbers of tokens by a hash.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Whole,
    .infer = infer_per_text<DType::I32>, .eval = eval_hash_tokens, .batch = BatchCustom{batch_hash, batch_hash}, .diff = on_text, .code = CodeCall{}, .samples = hash_samples};
const OpDef minhash_op = whole_row("minhash", "The least of several hashes over the tokens of each row.", Effect::Pure, infer_minhash, eval_minhash, BatchCustom{batch_minhash, batch_minhash});
const OpDef tokenize_op = rows_of_text<DType::Str>("tokenize", "The tokens of each text.", eval_tokenize);
const OpDef split_op = rows_of_text<DType::Str>("split", "The pieces between separators.", eval_split);
const OpDef bytes_op = rows_of_text<DType::U8>("bytes", "The bytes of each text.", eval_units<text_bytes>);
const OpDef codepoints_op = rows_of_text<DType::I32>("codepoints", "The code points of each text.", eval_units<code_points>);
const OpDef join_op = whole_row("join", "The texts of each row in one.", Effect::Pure, infer_join, eval_text_with<join>, BatchCustom{batch_join, flat_as_rows});
const OpDef from_bytes_op = whole_row("from_bytes", "The text of each row of bytes.", Effect::Pure, infer_text_of_rows<DType::U8>, eval_text<text_from_bytes>, BatchCustom{batch_join, flat_as_rows});
const OpDef from_codepoints_op = whole_row("from_codepoints", "The text of each row of code points.", Effect::Pure, infer_text_of_rows<DType::I32>, eval_text<text_from_code_points>, BatchCustom{batch_join, flat_as_rows});
const OpDef lengths_op = whole_row("lengths", "Length of each row.", Effect::Pure, infer_lengths, eval_lengths, BatchCustom{batch_rows});
const OpDef flatten_op = whole_row("flatten", "All rows one after another.", Effect::Pure, infer_flatten, eval_flatten, BatchCustom{batch_rows}, Linear{transpose_flatten});
const OpDef ragged_op = whole_row("ragged", "Values cut into rows.", Effect::Pure, infer_ragged, eval_ragged, BatchCustom{batch_rows}, Linear{transpose_ragged});
const OpDef ragged_row_op = whole_row("ragged_row", "One row.", Effect::Pure, infer_ragged_row, eval_ragged_row, BatchCustom{batch_rows}, Linear{transpose_ragged_row});
const OpDef pad_op = whole_row("pad", "Rows cut or filled to one length.", Effect::Pure, infer_pad, eval_pad, BatchCustom{batch_rows}, Linear{transpose_pad});
const OpDef vocab_op = whole_row("vocab", "Tokens by falling count, and their counts.", Effect::Pure, infer_vocab, eval_vocab, BatchCustom{batch_rows});
const OpDef encode_op = whole_row("encode", "Numbers of tokens.", Effect::Pure, infer_encode, eval_encode, BatchCustom{batch_encode, flat_encode});
const OpDef decode_op = whole_row("decode", "Tokens of numbers.", Effect::Pure, infer_decode, eval_decode, BatchCustom{batch_encode, flat_encode});
const OpDef read_text_op = whole_row("read_text", "A file as one text.", Effect::Output, infer_read_text, eval_read_text, BatchCustom{batch_rows});
const OpDef read_lines_op = whole_row("read_lines", "The lines of a file.", Effect::Output, infer_read_lines, eval_read_lines, BatchCustom{batch_rows});
const OpDef format_op = whole_row("format", "A value as text, by a format.", Effect::Pure, infer_text, eval_format, BatchByLoop{});
const OpDef format_text_op = whole_row("format_text", "Values put into a text.", Effect::Pure, infer_text, eval_format_text, BatchByLoop{});
const OpDef compile_count_op = whole_row("compile_count", "Compilations so far.", Effect::Output, infer_count, eval_compile_count, BatchCustom{batch_rows});
const OpDef explain_op = whole_row("explain", "How a function is compiled, as text.", Effect::Output, infer_text, eval_explain, BatchCustom{batch_rows});

namespace {
constexpr const OpDef* rows[] = {&hash_tokens_op, &minhash_op, &normalize_op, &parse_int_op, &parse_float_op, &chr_op, &from_bytes_op, &from_codepoints_op, &lower_op, &upper_op, &strip_op, &text_length_op, &replace_op, &starts_with_op, &ends_with_op, &starts_with_each_op, &ends_with_each_op, &contains_each_op, &find_each_op, &replace_each_op,
                                 &contains_op, &concat_text_op, &edit_distance_op, &find_text_op, &tokenize_op, &split_op, &bytes_op, &codepoints_op,
                                 &join_op, &lengths_op, &flatten_op, &ragged_op, &ragged_row_op, &pad_op, &vocab_op, &encode_op, &decode_op, &encode_subwords_op, &decode_subwords_op,
                                 &read_text_op, &read_lines_op, &format_op, &format_text_op, &compile_count_op, &explain_op};
}
const Family text_rows = rows;

}  // namespace tercet
