#include "base/diagnostic.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <array>

namespace tercet {
namespace {

constexpr std::array<const char*, 16> kind_names{
    "syntax", "name", "type", "shape", "index", "value", "arithmetic", "key", "io", "compile", "device",
    "interrupt", "limit", "assert", "unsupported", "internal"};

/// Source lines longer than this are shown as a window around the caret (a 1 MB line must not fill the screen).
constexpr size_t widest_excerpt = 160;

size_t code_points(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Bytes of the code point that begins there; 0 where none does: a byte that is no UTF-8.
size_t code_point_bytes(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t bytes = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (bytes > text.size()) return 0;
  for (size_t i = 1; i < bytes; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  // Longer than need be, halves of UTF-16, beyond the last one.
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) >= 0xA0) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) >= 0x90) return 0;
  return bytes;
}

/// The same number of columns, as text that any terminal takes.
std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t bytes = code_point_bytes(text);
    if (bytes == 0) out += "\uFFFD";
    else if (static_cast<unsigned char>(text[0]) < 0x20 || text[0] == 0x7f) out += ' ';
    else out += text.substr(0, bytes);
    text.remove_prefix(std::max<size_t>(1, bytes));
  }
  return out;
}

/// Moves `at` down to the start of a code point.
size_t code_point_start(std::string_view text, size_t at) {
  // At most three steps: more continuation bytes than that are no code point (malformed text is shown too).
  for (int i = 0; i < 3 && at > 0 && at < text.size() && (text[at] & 0xC0) == 0x80; ++i) --at;
  return std::min(at, text.size());
}

/// The excerpt: file:line:column, the source line, and carets under [span).
void render_place(std::string& out, const SourceFile& file, Span span, const std::string& label) {
  Place place = file.place(span.begin);
  std::string_view line = file.line(place.line);
  size_t begin = std::min<size_t>(span.begin - file.line_begin(place.line), line.size());
  size_t end = std::min<size_t>(std::max(span.end, span.begin) - file.line_begin(place.line), line.size());
  std::string_view shown = line;
  if (line.size() > widest_excerpt) {
    size_t from = code_point_start(line, begin > widest_excerpt / 2 ? begin - widest_excerpt / 2 : 0);
    shown = line.substr(from, code_point_start(line.substr(from), std::min(widest_excerpt, line.size() - from)));
    begin -= from;
    end = std::min(end - from, shown.size());
  }
  size_t carets = std::max<size_t>(1, code_points(printable(shown.substr(begin, end - begin))));
  std::string gutter(fmt::format("{}", place.line).size(), ' ');
  fmt::format_to(std::back_inserter(out), "{}--> {}:{}:{}\n{} |\n{} | {}\n{} | {}{}{}{}\n", gutter, place.name,
                 place.line, place.column, gutter, place.line, printable(shown), gutter,
                 std::string(code_points(printable(shown.substr(0, begin))), ' '), std::string(carets, '^'),
                 label.empty() ? "" : " ", label);
}

/// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

const char* name_of(Kind kind) { return kind_names[static_cast<size_t>(kind)]; }

std::string render(const Diagnostic& d, const SourceMap& sources) {
  std::string row = d.device < 0 ? "" : fmt::format("device {}: ", d.device);
  for (size_t i = d.row.size(); i-- > 0;) row += fmt::format("row {}: ", d.row[i]);
  std::string out = fmt::format("error[{}]: {}{}\n", name_of(d.kind), row, d.message);
  if (const SourceFile* file = sources.find(d.span)) render_place(out, *file, d.span, d.label);
  if (!d.help.empty()) out += fmt::format("  = help: {}\n", d.help);
  for (const Note& note : d.notes) {
    out += fmt::format("note: {}\n", note.text);
    if (const SourceFile* file = sources.find(note.span)) render_place(out, *file, note.span, "");
  }
  for (const Note& frame : d.frames) {
    const SourceFile* file = sources.find(frame.span);
    if (!file) continue;
    Place place = file->place(frame.span.begin);
    out += fmt::format("  in {}, called at {}:{}:{}\n", frame.text, place.name, place.line, place.column);
  }
  return out;
}

void set_call_span(Diagnostic& d, Span call) {
  auto set = [&](Span& span) { if (span == Span::of_call()) span = call; };
  set(d.span);
  for (Note& n : d.notes) set(n.span);
  for (Note& n : d.frames) set(n.span);
}

void set_call_span(Failure& failure, Span call) {
  for (Diagnostic& d : failure.diagnostics()) set_call_span(d, call);
}

void fail(Kind kind, Span span, std::string message, std::string help, std::string label) {
  Diagnostic d;
  d.kind = kind;
  d.span = span;
  d.message = std::move(message);
  d.help = std::move(help);
  d.label = std::move(label);
  throw Failure(std::move(d));
}

void fail_bound(Kind kind, Bound bound, Span span, std::string message, std::string help) {
  Diagnostic d;
  d.kind = kind;
  d.bound = bound;
  d.span = span;
  d.message = std::move(message);
  d.help = std::move(help);
  throw Failure(std::move(d));
}

void check_stack(Span span) {
  constexpr size_t reserve = 256 << 10;
  static thread_local const char* lowest = [] {
    pthread_attr_t attributes;
    void* base = nullptr;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
      pthread_attr_getstack(&attributes, &base, &size);
      pthread_attr_destroy(&attributes);
    }
    return static_cast<const char*>(base) + reserve;
  }();
  const char here = 0;
  if (&here < lowest)
    fail(Kind::Limit, span, "nested too deeply: the stack is used up", "endless recursion? add a case that ends it");
}

void internal_error(const char* condition, const char* file, int line) {
  fail(Kind::Internal, {}, fmt::format("a check inside Tercet failed: {} ({}:{})", condition, file, line),
       "please report this with the program that caused it");
}

std::string closest_name(std::string_view name, const std::vector<std::string>& candidates) {
  std::string best;
  if (name.size() <= 2) return best;   // everything is near a short name
  size_t best_distance = std::min(std::max<size_t>(1, name.size() / 3) + 1, name.size());   // not all of a short name
  for (const std::string& candidate : candidates) {
    if (candidate.size() > name.size() + best_distance || name.size() > candidate.size() + best_distance) continue;
    size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) best_distance = distance, best = candidate;
  }
  return best;
}

}  // namespace tercet
