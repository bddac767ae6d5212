// read_jsonl: JSON lines -> columns, on several threads. Parsing is simdjson's (on demand, so that columns nobody asked
// for cost little).
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "interpreter/runtime/files.h"
#include "interpreter/runtime/parallel.h"
#include "interpreter/runtime/text_arena.h"

namespace tercet {
namespace {

namespace json = simdjson::ondemand;

constexpr int64_t line_grain = 512;
constexpr int64_t exact_integers = int64_t{1} << 53;   // f64 holds every whole number up to here

enum class CellType : uint8_t { None, Bool, Int, Float, Text };

const char* name_of(CellType type) {
  constexpr const char* names[] = {"nothing", "bool", "whole number", "number", "text"};
  return names[static_cast<size_t>(type)];
}

/// Part of a column, as found in a stretch of lines.
struct ColumnPart {
  CellType type = CellType::None;
  size_t type_line = 0;                 // where the type was first seen
  std::vector<StringRef> texts;
  std::vector<int64_t> integers;        // also bools
  std::vector<double> floats;           // in place of integers once the type is Float
};

struct Line {
  std::string_view text;
  size_t number = 0;                    // from 1
};

class LineReader {
 public:
  LineReader(const FileText& file, const std::vector<std::string>& names, bool selected)
      : file_(file), names_(names), selected_(selected), columns(names.size()) {}

  void read(const Line& line) {
    line_ = line.number;
    size_t capacity = static_cast<size_t>(reinterpret_cast<const char*>(file_.buffer->data()) + file_.buffer->size() + 64 - line.text.data());
    json::document document;
    json::object object;
    check(parser_.iterate(line.text.data(), line.text.size(), capacity).get(document), "");
    json::json_type type{};
    check(document.type().get(type), "");
    if (type != json::json_type::object) wrong("holds no JSON object");
    check(document.get_object().get(object), "");
    seen_.assign(names_.size(), false);
    size_t expected = 0;
    for (auto field : object) {
      std::string_view key;
      check(field.unescaped_key().get(key), "");
      size_t column = find(key, expected);
      if (column == names_.size()) {
        if (selected_) continue;
        wrong(fmt::format("has a key \"{}\", which the first object does not have", key), "name the columns to read: read_jsonl(path, columns=(\"id\", \"text\"))");
      }
      if (seen_[column]) wrong(fmt::format("has the key \"{}\" twice", key));
      seen_[column] = true;
      expected = column + 1;
      json::value value;
      check(field.value().get(value), names_[column]);
      add(columns[column], value, names_[column]);
    }
    if (!document.current_location().error()) wrong("has something after its object");
    for (size_t c = 0; c < names_.size(); ++c)
      if (!seen_[c]) wrong(fmt::format("has no key \"{}\"", names_[c]), selected_ ? "" : "the first object has it; name the columns to read: read_jsonl(path, columns=(\"id\", \"text\"))");
  }

 private:
  const FileText& file_;
  const std::vector<std::string>& names_;
  bool selected_;
  json::parser parser_;
  std::vector<bool> seen_;
  size_t line_ = 0;

 public:
  std::vector<ColumnPart> columns;
  TextArena arena;

 private:
  [[noreturn]] void wrong(const std::string& what, std::string help = "") const {
    fail(Kind::Io, {}, fmt::format("\"{}\": line {} {}", file_.path, line_, what), std::move(help));
  }

  void check(simdjson::error_code error, std::string_view key) const {
    if (!error) return;
    std::string place = key.empty() ? "" : fmt::format(" (at key \"{}\")", key);
    wrong(fmt::format("is not valid JSON{}: {}", place, simdjson::error_message(error)));
  }

  /// Keys mostly come in the same order: the expected column is tried first.
  size_t find(std::string_view key, size_t expected) const {
    if (expected < names_.size() && names_[expected] == key) return expected;
    return static_cast<size_t>(std::find(names_.begin(), names_.end(), key) - names_.begin());
  }

  void expect(ColumnPart& column, CellType type, const std::string& key) const {
    if (column.type == CellType::None) column.type = type, column.type_line = line_;
    else if (column.type != type)
      wrong(fmt::format("has {} under \"{}\", where line {} has {}", name_of(type), key, column.type_line, name_of(column.type)));
  }

  void add(ColumnPart& column, json::value& value, const std::string& key) {
    json::json_type type{};
    check(value.type().get(type), key);
    switch (type) {
      case json::json_type::string: {
        std::string_view text;
        check(value.get_string().get(text), key);
        expect(column, CellType::Text, key);
        column.texts.push_back(arena.add(text));
        return;
      }
      case json::json_type::boolean: {
        bool truth = false;
        check(value.get_bool().get(truth), key);
        expect(column, CellType::Bool, key);
        column.integers.push_back(truth);
        return;
      }
      case json::json_type::number: return add_number(column, value, key);
      case json::json_type::null:
        wrong(fmt::format("has null under \"{}\"", key), "an array has no missing values: leave the line out, or write a value of the column's type");
      default: wrong(fmt::format("has an array or object under \"{}\"; columns hold text, numbers and bools", key));
    }
  }

  void add_number(ColumnPart& column, json::value& value, const std::string& key) {
    std::string_view token = value.raw_json_token();
    bool whole = token.find_first_of(".eE") == std::string_view::npos;
    if (whole && column.type != CellType::Float) {
      int64_t number = 0;
      if (value.get_int64().get(number)) wrong(fmt::format("has a number under \"{}\" that i64 cannot hold: {}", key, trimmed(token)));
      expect(column, CellType::Int, key);
      return column.integers.push_back(number);
    }
    double number = 0;
    check(value.get_double().get(number), key);
    if (column.type == CellType::Int) to_floats(column, file_, key);
    if (whole && std::abs(number) > static_cast<double>(exact_integers)) inexact(file_, key, trimmed(token));
    expect(column, CellType::Float, key);
    column.floats.push_back(number);
  }

  static std::string_view trimmed(std::string_view token) { return token.substr(0, token.find_last_not_of(" \t\r\n,}") + 1); }

  [[noreturn]] static void inexact(const FileText& file, const std::string& key, std::string_view number) {
    fail(Kind::Io, {}, fmt::format("\"{}\": column \"{}\" has decimals, and {}, which f64 cannot hold exactly", file.path, key, number));
  }

 public:
  static void to_floats(ColumnPart& column, const FileText& file, const std::string& key) {
    for (int64_t i : column.integers) {
      if (i > exact_integers || i < -exact_integers) inexact(file, key, std::to_string(i));
      column.floats.push_back(static_cast<double>(i));
    }
    column.integers.clear();
    column.type = CellType::Float;
  }
};

/// The keys of the first object, in its order.
std::vector<std::string> keys_of(const FileText& file, const Line& line) {
  std::vector<std::string> keys;
  json::parser parser;
  simdjson::padded_string text(line.text);
  json::document document;
  json::object object;
  auto wrong = [&](simdjson::error_code error) {
    fail(Kind::Io, {}, fmt::format("\"{}\": line {} holds no JSON object: {}", file.path, line.number, simdjson::error_message(error)));
  };
  if (auto error = parser.iterate(text).get(document)) wrong(error);
  if (auto error = document.get_object().get(object)) wrong(error);
  for (auto field : object) {
    std::string_view key;
    if (auto error = field.unescaped_key().get(key)) wrong(error);
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.emplace_back(key);   // doubled ones fail when read
  }
  return keys;
}

std::vector<Line> json_lines(const FileText& file) {
  std::vector<Line> lines;
  size_t number = 0;
  for (std::string_view line : lines_of(file.text)) {
    ++number;
    if (line.find_first_not_of(" \t") != std::string_view::npos) lines.push_back({line, number});
  }
  return lines;
}

/// Brings the parts of column c to one type: those of whole numbers become floats when another part has some.
CellType unify(std::vector<LineReader>& readers, size_t c, const FileText& file, const std::string& name) {
  CellType type = readers.front().columns[c].type;
  for (const LineReader& reader : readers)
    if (reader.columns[c].type == CellType::Float) type = CellType::Float;
  for (LineReader& reader : readers)
    if (reader.columns[c].type != type) LineReader::to_floats(reader.columns[c], file, name);
  return type;
}

template <class T, class Part> void copy_parts(Array& out, std::vector<LineReader>& readers, Part part) {
  T* to = out.data<T>();
  for (LineReader& reader : readers) to = std::copy(part(reader).begin(), part(reader).end(), to);
}

Array column_of(std::vector<LineReader>& readers, size_t c, int64_t rows, const FileText& file, const std::string& name) {
  CellType type = unify(readers, c, file, name);
  constexpr DType dtypes[] = {DType::Str, DType::Bool, DType::I64, DType::F64, DType::Str};
  Array out = Array::make(dtypes[static_cast<size_t>(type)], {rows});
  auto integers = [c](LineReader& r) -> auto& { return r.columns[c].integers; };
  if (type == CellType::Bool) copy_parts<bool>(out, readers, integers);
  if (type == CellType::Int) copy_parts<int64_t>(out, readers, integers);
  if (type == CellType::Float) copy_parts<double>(out, readers, [c](LineReader& r) -> auto& { return r.columns[c].floats; });
  if (type == CellType::Text) copy_parts<StringRef>(out, readers, [c](LineReader& r) -> auto& { return r.columns[c].texts; });
  return out;
}

}  // namespace

Columns read_jsonl(const std::string& path, const std::vector<std::string>& selected, InvalidBytes invalid) {
  FileText file = load_text(path, invalid);
  std::vector<Line> lines = json_lines(file);
  if (lines.empty()) fail(Kind::Io, {}, fmt::format("\"{}\" holds no JSON object to learn the columns from", path));
  std::vector<std::string> names = selected.empty() ? keys_of(file, lines.front()) : selected;
  auto count = static_cast<int64_t>(lines.size());
  std::vector<LineReader> readers;
  // The first line decides the types, so that what is reported does not depend on how the lines were shared out.
  LineReader first(file, names, !selected.empty());
  first.read(lines.front());
  for (int64_t i = chunk_count(count, line_grain); i > 0; --i) {
    LineReader& reader = readers.emplace_back(file, names, !selected.empty());
    for (size_t c = 0; c < names.size(); ++c) {
      reader.columns[c].type = first.columns[c].type;
      reader.columns[c].type_line = lines.front().number;
    }
  }
  parallel_chunks(count, line_grain, [&](int64_t chunk, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) poll_at(i), readers[static_cast<size_t>(chunk)].read(lines[static_cast<size_t>(i)]);
  });
  Columns columns;
  for (size_t c = 0; c < names.size(); ++c) columns.emplace_back(names[c], column_of(readers, c, count, file, names[c]));
  // The strings of all columns lie in the same blocks.
  Array owner;
  for (LineReader& reader : readers) reader.arena.give_to(owner);
  for (auto& [name, column] : columns)
    if (column.dtype == DType::Str) share_owners(column, owner);
  return columns;
}

}  // namespace tercet
