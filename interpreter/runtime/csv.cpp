// Tables of comma-separated values (RFC 4180).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "interpreter/runtime/files.h"
#include "interpreter/runtime/polling.h"
#include "interpreter/runtime/print.h"
#include "interpreter/runtime/text_arena.h"

namespace tercet {
namespace {

[[noreturn]] void csv_error(const FileText& file, int64_t line, std::string what, std::string help = "") {
  fail(Kind::Io, {}, fmt::format("\"{}\", line {}: {}", file.path, line, what), std::move(help));
}

/// One record a call; fields refer to the file or, where quotes were doubled, to the arena.
class Reader {
 public:
  Reader(const FileText& file, char separator) : file_(file), left_(file.text), separator_(separator) {}
  bool done() const { return left_.empty(); }
  int64_t line() const { return line_; }

  void record(std::vector<StringRef>& fields, std::vector<bool>& quoted) {
    fields.clear();
    quoted.clear();
    const int64_t begun = line_;
    for (;;) {
      quoted.push_back(!left_.empty() && left_[0] == '"');
      fields.push_back(quoted.back() ? quoted_field(begun) : plain_field());
      if (!left_.empty() && left_[0] == separator_) {
        left_.remove_prefix(1);
        continue;
      }
      if (left_.starts_with("\r\n")) left_.remove_prefix(2);
      else if (!left_.empty() && left_[0] == '\n') left_.remove_prefix(1);
      else if (!left_.empty()) csv_error(file_, line_, "text behind the closing quote of a field", "double the quotes inside a quoted field");
      ++line_;
      return;
    }
  }
  TextArena arena;

 private:
  StringRef plain_field() {
    size_t end = 0;
    while (end < left_.size() && left_[end] != separator_ && left_[end] != '\n') {
      if (left_[end] == '"') csv_error(file_, line_, "a quote inside a field that does not begin with one", "put the whole field in quotes, and double those inside");
      ++end;
    }
    std::string_view text = left_.substr(0, end);
    if (end < left_.size() && left_[end] == '\n' && text.ends_with('\r')) text.remove_suffix(1), --end;
    left_.remove_prefix(end);
    return StringRef(text);
  }
  StringRef quoted_field(int64_t begun) {
    std::string text;
    size_t at = 1;
    for (;; ++at) {
      if (at >= left_.size()) csv_error(file_, begun, "a quoted field is never closed");
      if (left_[at] == '\n') ++line_;
      if (left_[at] != '"') continue;
      if (at + 1 < left_.size() && left_[at + 1] == '"') {
        text += left_.substr(1 + taken_, at - taken_), taken_ = at + 1, ++at;
        continue;
      }
      break;
    }
    text += left_.substr(1 + taken_, at - 1 - taken_);
    taken_ = 0;
    left_.remove_prefix(at + 1);
    return arena.add(text);
  }

  const FileText& file_;
  std::string_view left_;
  char separator_;
  int64_t line_ = 1;
  size_t taken_ = 0;
};

template <class T> bool parse(std::string_view text, T& out) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

/// i64, f64 or bool when every field of the column is one, else str.
Array typed(const std::vector<StringRef>& fields, bool any_quoted) {
  PollCounter polls;
  auto all = [&](auto accepts) { return !any_quoted && !fields.empty() && std::all_of(fields.begin(), fields.end(), [&](const StringRef& s) { return polls.add(8), accepts(s.view()); }); };
  const auto n = static_cast<int64_t>(fields.size());
  int64_t integer = 0;
  double real = 0;
  if (all([&](std::string_view s) { return parse(s, integer); })) {
    Array out = Array::make(DType::I64, {n});
    for (int64_t i = 0; i < n; ++i) poll_at(i), parse(fields[static_cast<size_t>(i)].view(), out.data<int64_t>()[i]);
    return out;
  }
  if (all([&](std::string_view s) { return parse(s, real); })) {
    Array out = Array::make(DType::F64, {n});
    for (int64_t i = 0; i < n; ++i) poll_at(i), parse(fields[static_cast<size_t>(i)].view(), out.data<double>()[i]);
    return out;
  }
  if (all([](std::string_view s) { return s == "true" || s == "false"; })) {
    Array out = Array::make(DType::Bool, {n});
    for (int64_t i = 0; i < n; ++i) out.data<bool>()[i] = fields[static_cast<size_t>(i)].view() == "true";
    return out;
  }
  Array out = Array::make(DType::Str, {n});
  std::copy(fields.begin(), fields.end(), out.data<StringRef>());
  return out;
}

}  // namespace

Columns read_csv(const std::string& path, char separator, bool header, InvalidBytes invalid) {
  FileText file = load_text(path, invalid);
  Reader reader(file, separator);
  std::vector<StringRef> record;
  std::vector<bool> quoted;
  std::vector<std::string> names;
  std::vector<std::vector<StringRef>> columns;
  std::vector<bool> any_quoted;
  for (int64_t rows = 0; !reader.done(); ++rows) {
    poll_at(rows);
    const int64_t line = reader.line();
    reader.record(record, quoted);
    if (record.size() == 1 && record[0].size == 0 && !quoted[0]) continue;   // an empty line
    if (names.empty()) {
      for (size_t k = 0; k < record.size(); ++k) names.push_back(header ? std::string(record[k].view()) : fmt::format("c{}", k));
      for (size_t k = 0; k < names.size(); ++k)
        if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(k), names[k]) != names.begin() + static_cast<std::ptrdiff_t>(k))
          csv_error(file, line, fmt::format("two columns are called {}", ::tercet::quoted(names[k])));
      columns.resize(names.size());
      any_quoted.assign(names.size(), false);
      if (header) continue;
    }
    if (record.size() != names.size()) csv_error(file, line, fmt::format("{} fields, and the first line has {}", record.size(), names.size()));
    for (size_t k = 0; k < record.size(); ++k) {
      columns[k].push_back(record[k]);
      any_quoted[k] = any_quoted[k] || quoted[k];
    }
  }
  Columns out;
  for (size_t k = 0; k < names.size(); ++k) {
    Array column = typed(columns[k], any_quoted[k]);
    if (column.dtype == DType::Str) {
      column.owners.push_back(file.buffer);
    }
    out.emplace_back(names[k], std::move(column));
  }
  for (auto& [name, column] : out)
    if (column.dtype == DType::Str) {
      TextArena& arena = reader.arena;
      Array holder = Array::make(DType::Str, {0});
      arena.give_to(holder);
      for (auto& [n, c] : out)
        if (c.dtype == DType::Str) share_owners(c, holder);
      break;
    }
  return out;
}

}  // namespace tercet
