// Rows: files read a chunk at a time, and written.
#include <fmt/format.h>

#include <algorithm>

#include "interpreter/ops/batch_rules.h"
#include "interpreter/ops/rows.h"
#include "interpreter/runtime/files.h"
#include "interpreter/runtime/line_stream.h"
#include "interpreter/runtime/plots.h"
#include "interpreter/runtime/progress.h"
#include "interpreter/runtime/tensor_files.h"

namespace tercet {
namespace {

std::string path_of(const Array& a) { return std::string(a.data<StringRef>()->view()); }

/// Errors of native functions get the place of the call.
template <class F> auto at_span(const Op& op, F f) {
  try {
    return f();
  } catch (Failure& failure) {
    if (!failure.first().span.known()) failure.first().span = op.span;
    throw;
  }
}

std::vector<BatchedValue> one_by_one(BatchContext&, const Function&, const Op& op, std::span<const BatchedValue>) { fail_lane_dependent(op.span); }

// ---- read_chunk(path, place) -> lines, place of the rest ----
std::vector<Type> infer_read_chunk(const InferInput& in) { return {{DType::Str, {in.attrs.get<Dim>("defines")}}, {DType::I64, {}}}; }
std::vector<Array> eval_read_chunk(EvalContext& context, const Function&, const Op& op, std::span<Array> in) {
  return at_span(op, [&]() -> std::vector<Array> {
    LineChunk chunk = read_line_chunk(path_of(in[0]), in[1].as_int(), in[2].as_int(), op.attrs.get_or<bool>("replace", false) ? InvalidBytes::Replace : InvalidBytes::Error);
    note_share_read(chunk.share);
    context.define(op, chunk.lines.shape[0]);
    return {std::move(chunk.lines), scalar_of_int(DType::I64, chunk.next)};
  });
}

// ---- write_file(path, arrays…): attr "format", and "names" of the arrays, one a line ----
std::vector<std::string> names_of(const Op& op) {
  std::vector<std::string> out;
  std::string text = op.attrs.get<std::string>("names"), name;
  for (char c : text)
    if (c == '\n') out.push_back(name), name.clear();
    else name += c;
  return out;
}

NamedArrays named(const Op& op, std::span<Array> in) {
  NamedArrays out;
  std::vector<std::string> names = names_of(op);
  for (size_t i = 0; i < names.size(); ++i) out.emplace_back(names[i], in[i + 1]);
  return out;
}

struct Format { std::string_view name; void (*write)(const std::string& path, const Op& op, std::span<Array> in); };
void put_text(const std::string& path, const Op&, std::span<Array> in) { write_text(path, in[1].data<StringRef>()->view()); }
void put_lines(const std::string& path, const Op& op, std::span<Array> in) {
  std::string out;
  for (int64_t i = 0, n = in[1].count(); i < n; ++i) {
    std::string_view line = in[1].data<StringRef>()[i].view();
    if (line.find('\n') != std::string_view::npos) fail(Kind::Value, op.span, fmt::format("row {} has a line break inside, and would be two lines", i), "replace it first: replace(lines, \"\\n\", \" \")");
    (out += line) += '\n';
  }
  write_text(path, out);
}
void put_jsonl(const std::string& path, const Op& op, std::span<Array> in) { write_text(path, json_lines(named(op, in))); }
void put_csv(const std::string& path, const Op& op, std::span<Array> in) {
  write_text(path, csv_text(named(op, in), op.attrs.get<std::string>("separator")[0], op.attrs.get<bool>("header")));
}
void put_npy(const std::string& path, const Op&, std::span<Array> in) { save_npy(path, in[1]); }
void put_npz(const std::string& path, const Op& op, std::span<Array> in) { save_npz(path, named(op, in)); }
void put_safetensors(const std::string& path, const Op& op, std::span<Array> in) { save_safetensors(path, named(op, in)); }
constexpr Format formats[] = {{"text", put_text}, {"lines", put_lines}, {"jsonl", put_jsonl}, {"csv", put_csv}, {"npy", put_npy}, {"npz", put_npz}, {"safetensors", put_safetensors}};

std::vector<Type> infer_none(const InferInput&) { return {}; }
std::vector<Array> eval_write_file(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  at_span(op, [&] {
    for (const Format& f : formats)
      if (f.name == op.attrs.get<std::string>("format")) f.write(path_of(in[0]), op, in);
  });
  return {};
}

// ---- plots as text ----
std::vector<Type> infer_plot(const InferInput&) { return {{DType::Str, {}}}; }
Array one_text(const std::string& text) {
  std::string_view view = text;
  return Array::strings({&view, 1}).reshaped({});
}
std::span<const double> numbers(const Array& a) { return {a.data<double>(), static_cast<size_t>(a.count())}; }
std::vector<Array> eval_bar_chart(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  std::vector<std::string_view> labels;
  for (int64_t i = 0; i < in[0].count(); ++i) labels.push_back(in[0].data<StringRef>()[i].view());
  return {one_text(bar_chart(labels, numbers(in[1]), op.attrs.get<int64_t>("width"), op.attrs.get<bool>("svg")))};
}
std::vector<Array> eval_line_plot(EvalContext&, const Function&, const Op& op, std::span<Array> in) {
  return {one_text(line_plot(numbers(in[0]), numbers(in[1]), op.attrs.get<int64_t>("width"), op.attrs.get<int64_t>("height"), op.attrs.get<bool>("svg")))};
}

constexpr NotDifferentiable on_files{"it works on files and text"};
const OpDef read_chunk_op = {
    .name = "read_chunk", .doc = "Some lines of a file.", .surface = Internal{}, .effect = Effect::Output, .ragged = RaggedRule::Dense,
    .infer = infer_read_chunk, .eval = eval_read_chunk, .batch = BatchCustom{one_by_one}, .diff = on_files, .code = CodeCall{}, .samples = nullptr};
const OpDef write_file_op = {
    .name = "write_file", .doc = "A file of a value.", .surface = Internal{}, .effect = Effect::Output, .ragged = RaggedRule::Whole,
    .infer = infer_none, .eval = eval_write_file, .batch = BatchCustom{one_by_one}, .diff = on_files, .code = CodeCall{}, .samples = nullptr};

const OpDef bar_chart_op = {
    .name = "bar_chart", .doc = "Bars as text.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_plot, .eval = eval_bar_chart, .batch = BatchByLoop{}, .diff = on_files, .code = CodeCall{}, .samples = nullptr};
const OpDef line_plot_op = {
    .name = "line_plot", .doc = "Joined points as text.", .surface = Internal{}, .effect = Effect::Pure, .ragged = RaggedRule::Dense,
    .infer = infer_plot, .eval = eval_line_plot, .batch = BatchByLoop{}, .diff = on_files, .code = CodeCall{}, .samples = nullptr};

constexpr const OpDef* rows[] = {&read_chunk_op, &write_file_op, &bar_chart_op, &line_plot_op};

}  // namespace
const Family file_rows = rows;

}  // namespace tercet
