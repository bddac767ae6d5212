#include "interpreter/runtime/print.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "interpreter/runtime/number_text.h"

namespace tercet {
namespace {

constexpr int64_t most_elements = 1000;   // beyond it, long axes are cut
constexpr int64_t most_edges = 3;         // entries kept at each end of a cut axis

/// Writes element i of an array.
using ElementWriter = std::function<void(std::string&, int64_t)>;

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      case '\r': out += "\\r"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) out += fmt::format("\\u{{{:x}}}", c);
        else out += c;
    }
  }
  out += '"';
}

template <class T> void append_element(std::string& out, const T& value) {
  if constexpr (std::is_same_v<T, bool>) out += value ? "true" : "false";
  else if constexpr (std::is_same_v<T, StringRef>) append_quoted(out, value.view());
  else if constexpr (std::is_same_v<T, KeyBits>) out += fmt::format("key({}, {})", value.high, value.low);
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) append_number(out, int64_t{value});
  else if constexpr (std::is_integral_v<T>) append_number(out, uint64_t{value});
  else append_number(out, value);
}

ElementWriter element_writer(const Array& array) {
  return visit_dtype(array.dtype, [&]<class T>() -> ElementWriter {
    return [data = array.data<T>()](std::string& out, int64_t i) { append_element(out, data[i]); };
  });
}

/// Walks the entries of an array that are shown. A sub-array is known by its position among all of its depth, so that
/// dense and ragged axes differ only in where their children lie.
class ArrayPrinter {
 public:
  ArrayPrinter(const Array& array, ElementWriter element, bool rows_on_lines)
      : array_(array), element_(std::move(element)), rows_on_lines_(rows_on_lines && array.rank() > 1) {
    choose_edges();
    // Texts, and rows of different length, have no columns worth aligning.
    aligned_ = rows_on_lines_ && array.dtype != DType::Str && !array.ragged;
    if (aligned_) measure(0, 0);
  }

  std::string text() {
    write(0, 0);
    return std::move(out_);
  }

 private:
  int rank() const { return array_.rank(); }

  /// Positions [begin, end) of the children of a sub-array at depth `axis`.
  std::pair<int64_t, int64_t> children(int axis, int64_t position) const {
    int64_t size = array_.shape[static_cast<size_t>(axis)];
    if (size != ragged_axis) return {position * size, (position + 1) * size};
    size_t level = 0;
    for (int i = 0; i < axis; ++i) level += array_.shape[static_cast<size_t>(i)] == ragged_axis;
    const auto& offsets = array_.ragged->offsets[level];
    return {offsets[static_cast<size_t>(position)], offsets[static_cast<size_t>(position) + 1]};
  }

  /// Cuts only large arrays, and so deep that even many short axes stay readable.
  void choose_edges() {
    double total = 1, shown = 1;
    size_t level = 0;
    for (int64_t size : array_.shape)
      total = size == ragged_axis ? static_cast<double>(array_.ragged->offsets[level++].back()) : total * static_cast<double>(size);
    edges_ = INT64_MAX / 2;
    if (total <= most_elements) return;
    for (edges_ = most_edges; edges_ > 1; --edges_, shown = 1) {
      for (int64_t size : array_.shape) shown *= static_cast<double>(size == ragged_axis ? 2 * edges_ : std::min(size, 2 * edges_));
      if (shown <= 4 * most_elements) break;
    }
  }

  /// Calls entry(position, column) for the shown children, and gap() where some are left out.
  template <class Entry, class Gap> void each_shown(int axis, int64_t position, Entry entry, Gap gap) const {
    auto [begin, end] = children(axis, position);
    bool cut = end - begin > 2 * edges_;
    for (int64_t i = begin; i < end; ++i) {
      if (cut && i == begin + edges_) {
        gap();
        i = end - edges_;
      }
      // Entries after a gap count from the end, so that the columns of equally long rows stay the same.
      entry(i, static_cast<size_t>(cut && i >= end - edges_ ? 2 * edges_ - (end - i) : i - begin));
    }
  }

  void measure(int axis, int64_t position) {
    each_shown(axis, position, [&](int64_t i, size_t column) {
      if (axis + 1 < rank()) return measure(axis + 1, i);
      scratch_.clear();
      element_(scratch_, i);
      if (column >= widths_.size()) widths_.resize(column + 1);
      widths_[column] = std::max(widths_[column], scratch_.size());
    }, [] {});
  }

  void write_element(int64_t i, size_t column) {
    if (!aligned_) return element_(out_, i);
    scratch_.clear();
    element_(scratch_, i);
    out_.append(widths_[column] - scratch_.size(), ' ').append(scratch_);
  }

  void separate(int axis, bool first) {
    if (first) return;
    out_ += ',';
    if (rows_on_lines_ && axis + 1 < rank()) out_.append(1, '\n').append(static_cast<size_t>(axis) + 1, ' ');
    else out_ += ' ';
  }

  void write(int axis, int64_t position) {
    if (axis == rank()) return element_(out_, position);
    bool first = true;
    out_ += '[';
    each_shown(axis, position, [&](int64_t i, size_t column) {
      separate(axis, std::exchange(first, false));
      if (axis + 1 < rank()) write(axis + 1, i);
      else write_element(i, column);
    }, [&] {
      separate(axis, std::exchange(first, false));
      out_ += "...";
    });
    out_ += ']';
  }

  const Array& array_;
  ElementWriter element_;
  bool rows_on_lines_, aligned_ = false;
  int64_t edges_ = 0;
  std::vector<size_t> widths_;      // of each column, when aligned
  std::string out_, scratch_;
};

}  // namespace

std::string format(const Array& array) {
  if (array.rank() == 0 && array.dtype == DType::Str) return std::string(array.data<StringRef>()->view());
  return ArrayPrinter(array, element_writer(array), true).text();
}

std::string format_inside(const Array& array) { return ArrayPrinter(array, element_writer(array), false).text(); }

std::string quoted(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

/// In format_spec.cpp.
std::string format_element(const Array& array, int64_t i, std::string_view spec, Span span);

std::string format(const Array& array, std::string_view spec, Span span) {
  if (spec.empty()) return format(array);
  auto element = [&](std::string& out, int64_t i) { out += format_element(array, i, spec, span); };
  return ArrayPrinter(array, element, true).text();
}

}  // namespace tercet
