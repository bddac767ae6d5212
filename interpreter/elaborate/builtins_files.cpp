// Library: files of arrays, tables and lines.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "interpreter/elaborate/lowering.h"
#include "interpreter/ops/rows.h"
#include "interpreter/runtime/files.h"
#include "interpreter/runtime/print.h"
#include "interpreter/runtime/subwords.h"
#include "interpreter/runtime/tensor_files.h"

namespace tercet {

Leaf unknown_entry(Elaborator& e, std::string_view token) { return e.emit(constant_op, {}, {{"value", Array::strings({&token, 1}).reshaped({})}}); }

bool replaces_invalid(Elaborator& e, const std::optional<Sym>& errors) {
  if (absent(errors)) return false;
  const std::string name = e.static_string(*errors, "`errors`");
  if (name != "strict" && name != "replace")
    e.error(Kind::Value, fmt::format("errors=\"{}\" is nothing that can become of bytes that are not UTF-8", name), "errors=\"replace\" makes them U+FFFD; without it they are an error");
  return name == "replace";
}

namespace {

using A = BuiltinArguments;

Leaf path_of(Elaborator& e, const Sym& value, const char* what) {
  Leaf x = e.array(value, what);
  if (x.type.dtype != DType::Str || x.type.rank() != 0) e.error(Kind::Type, fmt::format("`{}` takes the path of a file, and this is {}", what, describe(x)));
  return x;
}

/// A file that decides types is read while the statement is elaborated (docs/decisions/0010).
template <class F> auto read_now(Elaborator& e, const char* what, F read) {
  e.refuse_in_compiled(what);
  if (e.frame().parent()) e.error(Kind::Unsupported, fmt::format("{} inside a loop, branch or transformed function", what), "read the file in a statement of its own");
  try {
    return read();
  } catch (Failure& failure) {
    failure.first().span = e.span();
    throw;
  }
}
Leaf constant_of(Elaborator& e, const Array& value) { return e.emit(constant_op, {}, {{"value", value}}); }

/// A name that can be written after a point.
std::string field_name(std::string name) {
  for (char& c : name)
    if (!(std::isalnum(static_cast<unsigned char>(c)) || c == '_' || static_cast<unsigned char>(c) >= 0x80)) c = '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) name.insert(0, "_");
  return name;
}

/// Arrays by name as a record; points in names make records inside.
Sym record_of(Elaborator& e, const NamedArrays& arrays, const std::string& path) {
  Sym::Record out;
  for (const auto& [name, array] : arrays) {
    Sym::Record* at = &out;
    std::string rest = name;
    for (size_t point; (point = rest.find('.')) != std::string::npos; rest = rest.substr(point + 1)) {
      const std::string field = field_name(rest.substr(0, point));
      size_t k = static_cast<size_t>(std::find(at->names.begin(), at->names.end(), field) - at->names.begin());
      if (k == at->names.size()) at->names.push_back(field), at->values.push_back(Sym::Record{});
      auto* inner = at->values[k].as<Sym::Record>();
      if (!inner) e.error(Kind::Io, fmt::format("\"{}\" has both `{}` and names below it", path, field));
      at = inner;
    }
    const std::string field = field_name(rest);
    if (std::find(at->names.begin(), at->names.end(), field) != at->names.end()) e.error(Kind::Io, fmt::format("\"{}\" has two arrays called `{}`", path, name));
    at->names.push_back(field);
    at->values.push_back(constant_of(e, array));
  }
  return out;
}

Sym load_npy_file(Elaborator& e, A& a) {
  std::string path = e.static_string(*a[0], "load_npy");
  return constant_of(e, read_now(e, "load_npy", [&] { return load_npy(path); }));
}
constexpr char npz_name[] = "load_npz", safetensors_name[] = "load_safetensors";
template <const char* Name, NamedArrays (*Load)(const std::string&)> Sym load_named(Elaborator& e, A& a) {
  std::string path = e.static_string(*a[0], Name);
  return record_of(e, read_now(e, Name, [&] { return Load(path); }), path);
}

std::string separator_of(Elaborator& e, const std::optional<Sym>& value) {
  std::string separator = absent(value) ? "," : e.static_string(*value, "`separator`");
  if (separator.size() != 1 || separator[0] == '"' || separator[0] == '\n' || separator[0] == '\r')
    e.error(Kind::Value, fmt::format("a separator is one character of ASCII, no quote and no line break, and this is {}", quoted(separator)));
  return separator;
}
Sym read_csv_file(Elaborator& e, A& a) {
  const std::string path = e.static_string(*a[0], "read_csv"), separator = separator_of(e, a[1]);
  bool header = absent(a[2]) || e.static_bool(*a[2], "`header`");
  const InvalidBytes invalid = replaces_invalid(e, a[3]) ? InvalidBytes::Replace : InvalidBytes::Error;
  Sym::Record out;
  for (auto& [name, column] : read_now(e, "read_csv", [&] { return read_csv(path, separator[0], header, invalid); })) {
    out.names.push_back(name);
    out.values.push_back(constant_of(e, column));
  }
  return out;
}

Sym load_vocab(Elaborator& e, A& a) {
  std::string path = e.static_string(*a[0], "load_vocab");
  Columns columns = read_now(e, "load_vocab", [&] { return read_jsonl(path, {"token", "count", "unknown"}); });
  if (columns.size() != 3 || columns[0].second.dtype != DType::Str || columns[1].second.dtype != DType::I64 || columns[2].second.dtype != DType::Bool)
    e.error(Kind::Io, fmt::format("\"{}\" is no vocabulary", path), "save_vocab(voc, path) makes such a file");
  bool unknown = columns[2].second.count() > 0 && *columns[2].second.data<bool>();
  return Sym::Record{{"tokens", "counts", "unknown"}, {constant_of(e, columns[0].second), constant_of(e, columns[1].second),
                                                          unknown ? Sym(unknown_entry(e, columns[0].second.data<StringRef>()->view())) : Sym()}};
}

Sym load_subwords(Elaborator& e, A& a) {
  std::string path = e.static_string(*a[0], "load_subwords");
  auto [model, pieces] = read_now(e, "load_subwords", [&]() -> std::pair<Array, Array> {
    FileBytes file = load_bytes(path);
    Array bytes = Array::make(DType::U8, {static_cast<int64_t>(file.bytes.size())});
    if (!file.bytes.empty()) std::memcpy(bytes.raw(), file.bytes.data(), file.bytes.size());
    try {
      return {bytes, subword_pieces(*subword_model(bytes))};
    } catch (Failure& failure) {
      if (failure.first().kind != Kind::Value) throw;
      fail(Kind::Io, {}, fmt::format("\"{}\" is no SentencePiece model", path), "a model that spm_train made, whose name ends in .model");
    }
  });
  return Sym::Record{{"model", "pieces"}, {constant_of(e, model), constant_of(e, pieces)}};
}

// ---- writing ----
void collect_named(Elaborator& e, const Sym& value, const std::string& prefix, std::vector<std::pair<std::string, Leaf>>& out) {
  if (auto* r = value.as<Sym::Record>()) {
    for (size_t i = 0; i < r->names.size(); ++i) collect_named(e, r->values[i], prefix.empty() ? r->names[i] : prefix + "." + r->names[i], out);
  } else if (auto* t = value.as<Sym::Tuple>()) {
    for (size_t i = 0; i < t->elements.size(); ++i) collect_named(e, t->elements[i], fmt::format("{}{}{}", prefix, prefix.empty() ? "" : ".", i), out);
  } else {
    out.emplace_back(prefix, e.array(value, "a file of arrays"));
  }
}

Sym write(Elaborator& e, const char* what, const char* format, const Leaf& path, const std::vector<std::pair<std::string, Leaf>>& arrays, Attrs attrs = {}) {
  e.refuse_in_compiled(what);
  std::vector<ValueId> inputs{e.use(path)};
  std::string names;
  for (auto& [name, leaf] : arrays) inputs.push_back(e.use(leaf)), names += name + "\n";
  attrs.set("format", std::string(format));
  attrs.set("names", names);
  e.emit_effect(*find_op("write_file"), std::move(inputs), std::move(attrs));
  return Sym::unit();
}

Sym write_text_file(Elaborator& e, A& a) {
  Leaf text = e.array(*a[1], "write_text");
  if (text.type.dtype != DType::Str || text.type.rank() != 0) e.error(Kind::Type, fmt::format("write_text takes one text, and this is {}", describe(text)), "several are write_lines(path, texts)");
  return write(e, "write_text", "text", path_of(e, *a[0], "write_text"), {{"", text}});
}
Sym write_lines_file(Elaborator& e, A& a) {
  Leaf texts = e.array(*a[1], "write_lines");
  if (texts.type.dtype != DType::Str || texts.type.rank() != 1) e.error(Kind::Type, fmt::format("write_lines takes an array of texts, and this is {}", describe(texts)));
  return write(e, "write_lines", "lines", path_of(e, *a[0], "write_lines"), {{"", texts}});
}
using NamedLeaves = std::vector<std::pair<std::string, Leaf>>;
NamedLeaves columns_of(Elaborator& e, const char* what, const Sym& table) {
  auto* r = table.as<Sym::Record>();
  if (!r || r->names.empty()) e.error(Kind::Type, fmt::format("`{}` takes a record of columns, and this is {}", what, describe(table)), "as in (name=names, count=counts)");
  std::vector<std::pair<std::string, Leaf>> columns;
  for (size_t i = 0; i < r->names.size(); ++i) {
    columns.emplace_back(r->names[i], e.array(r->values[i], what));
    const Leaf& column = columns.back().second;
    if (column.type.rank() == 0) e.error(Kind::Type, fmt::format("column `{}` has no rows: it is {}", r->names[i], describe(column)),
                                           "a column is an array; vmap(f)(xs) gives one value for each element, as in vmap(len)(texts)");
    e.require_equal(columns[0].second.type.dims[0], column.type.dims[0], fmt::format("column `{}` has {{left}} rows, `{}` has {{right}}", r->names[0], r->names[i]));
  }
  return columns;
}
Sym write_columns(Elaborator& e, const char* what, const Sym& path, const Sym& table) {
  return write(e, what, "jsonl", path_of(e, path, what), columns_of(e, what, table));
}
Sym write_csv_file(Elaborator& e, A& a) {
  const Leaf path = path_of(e, *a[0], "write_csv");
  NamedLeaves columns = columns_of(e, "write_csv", *a[1]);
  for (const auto& [name, column] : columns)
    if (column.type.rank() != 1)
      e.error(Kind::Type, fmt::format("a field of a table holds one value, and column `{}` is {}", name, describe(column)), "write_jsonl writes rows of arrays; join(rows, \" \") makes a text of each row of texts");
  return write(e, "write_csv", "csv", path, columns, {{"separator", separator_of(e, a[2])}, {"header", absent(a[3]) || e.static_bool(*a[3], "`header`")}});
}
Sym write_jsonl_file(Elaborator& e, A& a) { return write_columns(e, "write_jsonl", *a[0], *a[1]); }
Sym save_npy_file(Elaborator& e, A& a) { return write(e, "save_npy", "npy", path_of(e, *a[0], "save_npy"), {{"", e.array(*a[1], "save_npy")}}); }
constexpr char npz_format[] = "npz", safetensors_format[] = "safetensors";
template <const char* Format> Sym save_named(Elaborator& e, A& a) {
  std::string what = fmt::format("save_{}", Format);
  std::vector<std::pair<std::string, Leaf>> arrays;
  if (!a[1]->as<Sym::Record>()) e.error(Kind::Type, fmt::format("`{}` takes a record of arrays, and this is {}", what, describe(*a[1])), "as in (w=weights, b=bias)");
  collect_named(e, *a[1], "", arrays);
  return write(e, what.c_str(), Format, path_of(e, *a[0], what.c_str()), arrays);
}
Sym save_vocab(Elaborator& e, A& a) {
  auto* r = a[0]->as<Sym::Record>();
  const Sym *tokens = r ? field<Leaf>(*r, "tokens") : nullptr, *counts = r ? field<Leaf>(*r, "counts") : nullptr, *unknown = r ? field<Leaf>(*r, "unknown") : nullptr;
  if (!tokens || !counts || !unknown) e.error(Kind::Type, fmt::format("save_vocab takes a vocabulary, and this is {}", describe(*a[0])), "make one with vocab(tokens)");
  Leaf known = bool_leaf(!unknown->is_none());
  Sym::Record columns{{"token", "count", "unknown"}, {*tokens, *counts, e.full(tokens->leaf()->type.dims, known, DType::Bool)}};
  return write_columns(e, "save_vocab", *a[1], columns);
}

/// A file to be read in chunks by `for`: a record that the loop knows.
Sym stream_lines(Elaborator& e, A& a) {
  e.refuse_in_compiled("stream_lines");
  Leaf path = path_of(e, *a[0], "stream_lines"), count = absent(a[1]) ? int_leaf(64000) : e.array(*a[1], "stream_lines");
  if (count.type.rank() != 0 || !is_int(count.type.dtype)) e.error(Kind::Type, fmt::format("a chunk's number of lines is an integer, and this is {}", describe(count)));
  return Sym::Record{{"%lines_of", "%at_a_time", "%replace"}, {path, e.cast(count, DType::I64), bool_leaf(replaces_invalid(e, a[2]))}};
}

/// Text of a plot, or with format="svg" a picture for a file.
bool is_svg(Elaborator& e, const std::optional<Sym>& format) {
  std::string name = absent(format) ? "text" : e.static_string(*format, "`format`");
  if (name != "text" && name != "svg") e.error(Kind::Value, fmt::format("\"{}\" is no format of plots", name), "the formats are \"text\" and \"svg\"");
  return name == "svg";
}
int64_t extent(Elaborator& e, const std::optional<Sym>& value, const char* what, int64_t fallback) {
  int64_t n = absent(value) ? fallback : e.static_int(*value, what);
  if (n < 1 || n > 1000) e.error(Kind::Value, fmt::format("{} is 1 to 1000, and this is {}", what, n));
  return n;
}
Leaf row_of_numbers(Elaborator& e, const Sym& value, const char* what) {
  Leaf x = e.array(value, what);
  if (x.type.rank() != 1 || x.type.dtype > DType::F64 || x.type.is_ragged()) e.error(Kind::Type, fmt::format("`{}` takes a row of numbers, and this is {}", what, describe(x)));
  return e.cast(x, DType::F64);
}
Sym bars(Elaborator& e, A& a) {
  Leaf labels = e.array(*a[0], "bars"), values = row_of_numbers(e, *a[1], "bars");
  if (labels.type.dtype != DType::Str || labels.type.rank() != 1) e.error(Kind::Type, fmt::format("`bars` takes a row of labels, and this is {}", describe(labels)));
  e.require_equal(labels.type.dims[0], values.type.dims[0], "bars has {left} labels and {right} values");
  return e.emit(*find_op("bar_chart"), {e.use(labels), e.use(values)}, {{"width", extent(e, a[2], "`width`", 40)}, {"svg", is_svg(e, a[3])}});
}
Sym plot(Elaborator& e, A& a) {
  Leaf x = row_of_numbers(e, *a[0], "plot"), y = x;
  if (absent(a[1])) x = e.cast(e.iota(y.type.dims[0], DType::I64), DType::F64);
  else y = row_of_numbers(e, *a[1], "plot");
  e.require_equal(x.type.dims[0], y.type.dims[0], "plot has {left} places and {right} values");
  return e.emit(*find_op("line_plot"), {e.use(x), e.use(y)}, {{"width", extent(e, a[2], "`width`", 60)}, {"height", extent(e, a[3], "`height`", 12)}, {"svg", is_svg(e, a[4])}});
}

constexpr BuiltinDef list[] = {
    {"bars", "labels, values, width=, format=", "A text of bars, or with format=\"svg\" a picture.", bars},
    {"plot", "x, y=, width=, height=, format=", "A text of the points (x, y) joined, or with format=\"svg\" a picture.", plot},
    {"read_csv", "path, separator=, header=, errors=", "A file of comma-separated values as columns.", read_csv_file},
    {"stream_lines", "path, n=, errors=", "The lines of a file, n at a time, for a `for` loop.", stream_lines},
    {"write_text", "path, text", "A file with this text.", write_text_file},
    {"write_lines", "path, texts", "A file with these lines.", write_lines_file},
    {"write_jsonl", "path, table", "A file of JSON objects, one for each row of a record of columns.", write_jsonl_file},
    {"write_csv", "path, table, separator=, header=", "A file of comma-separated values of a record of columns.", write_csv_file},
    {"load_npy", "path", "The array of a NumPy file.", load_npy_file},
    {"save_npy", "path, x", "A NumPy file of an array.", save_npy_file},
    {"load_npz", "path", "The arrays of a NumPy archive as a record.", load_named<npz_name, load_npz>},
    {"save_npz", "path, arrays", "A NumPy archive of a record of arrays.", save_named<npz_format>},
    {"load_safetensors", "path", "The arrays of a safetensors file as a record; points in names make records inside.", load_named<safetensors_name, load_safetensors>},
    {"save_safetensors", "path, arrays", "A safetensors file of a record of arrays.", save_named<safetensors_format>},
    {"save_vocab", "vocab, path", "A file of a vocabulary.", save_vocab},
    {"load_subwords", "path", "A SentencePiece model, for encode and decode.", load_subwords},
    {"load_vocab", "path", "The vocabulary of a file.", load_vocab},
};

}  // namespace
const BuiltinList file_builtins = list;

}  // namespace tercet
