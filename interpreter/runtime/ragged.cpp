#include "interpreter/runtime/ragged.h"

#include <algorithm>
#include <numeric>

#include "interpreter/runtime/polling.h"
#include "interpreter/runtime/text_arena.h"

namespace tercet {
namespace {

constexpr int64_t pad_grain = 1 << 14;   // elements

/// Rows of an array for padding: n rows of `inner` elements an entry, row r being entries offsets[r] .. offsets[r+1].
struct Rows {
  std::vector<int64_t> offsets;
  int64_t inner = 1;
  Shape outer, rest;        // axes before and after the row axis

  int64_t count() const { return static_cast<int64_t>(offsets.size()) - 1; }
  int64_t length(int64_t r) const { return offsets[static_cast<size_t>(r) + 1] - offsets[static_cast<size_t>(r)]; }
};

Rows rows_of(const Array& array) {
  auto ragged = std::find(array.shape.begin(), array.shape.end(), ragged_axis);
  auto axis = array.ragged ? ragged - array.shape.begin() : std::min(1, array.rank() - 1);
  TERCET_CHECK(axis >= 0 && (!array.ragged || array.ragged->offsets.size() == 1));
  Rows rows;
  for (int i = 0; i < array.rank(); ++i)
    if (i != axis) (i < axis ? rows.outer : rows.rest).push_back(array.shape[static_cast<size_t>(i)]);
  rows.inner = element_count(rows.rest);
  if (array.ragged) return rows.offsets = array.ragged->offsets[0], rows;
  for (int64_t r = 0; r <= element_count(rows.outer); ++r) rows.offsets.push_back(r * array.shape[static_cast<size_t>(axis)]);
  return rows;
}

std::shared_ptr<const Ragged> with_level(const Array& outer, const std::vector<int64_t>& lengths) {
  auto ragged = outer.ragged ? std::make_shared<Ragged>(*outer.ragged) : std::make_shared<Ragged>();
  std::vector<int64_t>& offsets = ragged->offsets.emplace_back(lengths.size() + 1);
  in_strips(static_cast<int64_t>(lengths.size()), [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) offsets[i + 1] = offsets[i] + lengths[i];
  });
  return ragged;
}

}  // namespace

int64_t total_elements(const Array& array) {
  int64_t total = 1;
  size_t level = 0;
  for (int64_t size : array.shape) {
    if (size == ragged_axis) total = array.ragged->offsets[level++].back();
    else total *= size;
  }
  return total;
}

Array ragged_rows(Array values, const std::vector<int64_t>& lengths) {
  Array outer;
  outer.shape = {static_cast<int64_t>(lengths.size())};
  return ragged_under(outer, std::move(values), lengths);
}

Array ragged_under(const Array& outer, Array values, const std::vector<int64_t>& lengths) {
  TERCET_CHECK(values.rank() > 0 && !values.ragged);
  std::shared_ptr<const Ragged> ragged = with_level(outer, lengths);
  TERCET_CHECK(ragged->offsets.back().back() == values.shape[0]);
  Shape shape = outer.shape;
  shape.push_back(ragged_axis);
  for (size_t i = 1; i < values.shape.size(); ++i) shape.push_back(values.shape[i]);
  values.shape = shape;
  values.ragged = std::move(ragged);
  return values;
}

Array row_of(const Array& array, int64_t i) {
  if (!array.ragged) return array.row(i);
  Array out = array;
  out.shape = {};
  auto ragged = std::make_shared<Ragged>();
  // Entries [begin, end) at the current depth belong to the row.
  int64_t begin = i, end = i + 1;
  size_t level = 0;
  for (size_t axis = 1; axis < array.shape.size(); ++axis) {
    int64_t size = array.shape[axis];
    if (size != ragged_axis) {
      out.shape.push_back(size);
      begin *= size, end *= size;
      continue;
    }
    const std::vector<int64_t>& offsets = array.ragged->offsets[level++];
    int64_t first = offsets[static_cast<size_t>(begin)], last = offsets[static_cast<size_t>(end)];
    if (out.shape.empty()) {
      out.shape.push_back(last - first);
    } else {
      std::vector<int64_t>& part = ragged->offsets.emplace_back(offsets.begin() + begin, offsets.begin() + end + 1);
      for (int64_t& o : part) o -= first;
      out.shape.push_back(ragged_axis);
    }
    begin = first, end = last;
  }
  out.offset += begin * static_cast<int64_t>(size_of(array.dtype));
  out.ragged = ragged->offsets.empty() ? nullptr : std::move(ragged);
  return out;
}

namespace {

/// Sizes along `axis` of one row's entries: one number for every entry of the axes before it.
void append_lengths(const Array& row, size_t axis, std::vector<int64_t>& offsets) {
  int64_t entries = 1;
  size_t level = 0;
  for (size_t k = 0; k < axis; ++k) entries = row.shape[k] == ragged_axis ? row.ragged->offsets[level++].back() : entries * row.shape[k];
  if (row.shape[axis] != ragged_axis) {
    for (int64_t n = 0; n < entries; ++n) offsets.push_back(offsets.back() + row.shape[axis]);
    return;
  }
  const std::vector<int64_t>& own = row.ragged->offsets[level];
  for (size_t n = 0; n + 1 < own.size(); ++n) offsets.push_back(offsets.back() + own[n + 1] - own[n]);
}

}  // namespace

Array stack_rows(DType dtype, std::vector<Array> rows, const std::vector<bool>& ragged, const Shape& rest) {
  int64_t total = 0;
  for (const Array& row : rows) total += total_elements(row);
  Array out = Array::make(dtype, {total});
  auto levels = std::make_shared<Ragged>();
  Shape shape{static_cast<int64_t>(rows.size())};
  for (size_t axis = 0; axis < ragged.size(); ++axis) {
    shape.push_back(ragged[axis] ? ragged_axis : rows.empty() ? rest[axis] : rows[0].shape[axis]);
    if (!ragged[axis]) continue;
    std::vector<int64_t>& offsets = levels->offsets.emplace_back(1, 0);
    for (const Array& row : rows) append_lengths(row, axis, offsets);
  }
  std::byte* to = out.raw();
  PollCounter polls;
  OwnerUnion owners(out);
  for (Array& row : rows) {
    auto bytes = static_cast<size_t>(total_elements(row)) * size_of(dtype);
    polls.add(16);
    if (bytes) copy_bytes(to, row.raw(), bytes);
    to += bytes;
    owners.add(row);
    row = Array();   // here, where it may be stopped: millions of rows take a while to go
  }
  bundle_owners(out);
  out.shape = shape;
  if (!levels->offsets.empty()) out.ragged = std::move(levels);
  return out;
}

Array row_lengths(const Array& array) {
  TERCET_CHECK(array.ragged != nullptr);
  const std::vector<int64_t>& offsets = array.ragged->offsets.back();
  std::vector<int64_t> lengths(offsets.size() - 1);
  for (size_t i = 0; i < lengths.size(); ++i) lengths[i] = offsets[i + 1] - offsets[i];
  Array out = Array::vector<int64_t>(lengths);
  size_t axis = array.shape.size();
  while (array.shape[--axis] != ragged_axis) {}
  out.shape = Shape(array.shape.span().first(axis));
  if (array.ragged->offsets.size() > 1) {
    auto ragged = std::make_shared<Ragged>(*array.ragged);
    ragged->offsets.pop_back();
    out.ragged = std::move(ragged);
  }
  return out;
}

Array pad_rows(const Array& array, int64_t length, const Array& fill) {
  if (array.ragged && array.ragged->offsets.size() > 1) {   // the innermost rows, whatever rows they lie in
    size_t axis = array.shape.size();
    while (array.shape[--axis] != ragged_axis) {}
    Array inner = array;
    auto last = std::make_shared<Ragged>(), outer = std::make_shared<Ragged>(*array.ragged);
    last->offsets.push_back(array.ragged->offsets.back());
    outer->offsets.pop_back();
    inner.shape = {static_cast<int64_t>(last->offsets[0].size()) - 1};
    for (size_t k = axis; k < array.shape.size(); ++k) inner.shape.push_back(array.shape[k]);
    inner.ragged = std::move(last);
    Array out = pad_rows(inner, length, fill);
    Shape shape(array.shape.span().first(axis));
    for (size_t k = 1; k < out.shape.size(); ++k) shape.push_back(out.shape[k]);
    out.shape = shape;
    out.ragged = std::move(outer);
    return out;
  }
  TERCET_CHECK(fill.dtype == array.dtype && fill.rank() == 0);
  Rows rows = rows_of(array);
  if (length < 0) {
    length = 0;
    for (int64_t r = 0; r < rows.count(); ++r) length = std::max(length, rows.length(r));
  }
  Shape shape = rows.outer;
  shape.push_back(length);
  for (int64_t size : rows.rest) shape.push_back(size);
  Array out = Array::make(array.dtype, shape);
  share_owners(out, array);
  share_owners(out, fill);
  int64_t width = length * rows.inner;
  visit_dtype(array.dtype, [&]<class T>() {
    const T *from = array.data<T>(), value = *fill.data<T>();
    T* to = out.data<T>();
    parallel_chunks(rows.count(), pad_grain / std::max<int64_t>(width, 1) + 1, [&](int64_t, int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        poll_at(r);
        int64_t kept = std::min(length, rows.length(r)) * rows.inner;
        copy_bytes(to + r * width, from + rows.offsets[static_cast<size_t>(r)] * rows.inner, static_cast<size_t>(kept) * sizeof(T));
        in_strips(width - kept, [=, row = to + r * width + kept](int64_t a, int64_t b) { std::fill(row + a, row + b, value); });
      }
    });
  });
  return out;
}

}  // namespace tercet
