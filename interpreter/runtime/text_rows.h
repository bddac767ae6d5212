// Loops over the strings of an array, shared by the text operations.
#pragma once
#include <algorithm>
#include <numeric>

#include "interpreter/runtime/parallel.h"
#include "interpreter/runtime/ragged.h"
#include "interpreter/runtime/row_buffer.h"
#include "interpreter/runtime/text_arena.h"

namespace tercet {

inline constexpr int64_t text_grain = 256;   // strings: about 50 microseconds of work on short texts

/// An array shaped like `texts` (ragged axes too).
inline Array like_texts(const Array& texts, DType dtype) {
  Array out = Array::make(dtype, {total_elements(texts)});
  out.shape = texts.shape;
  out.ragged = texts.ragged;
  return out;
}

/// result[i] = f(text), for results of a plain type.
template <class T, class F> Array map_to_number(const Array& texts, F f) {
  Array out = like_texts(texts, dtype_for<T>());
  const StringRef* in = texts.data<StringRef>();
  T* to = out.data<T>();
  parallel_chunks(total_elements(texts), text_grain, [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) poll_at(i), to[i] = f(in[i].view());
  });
  return out;
}

/// result[i] = f(element, arena) for results that are strings: parts of the element's text, or new in the arena.
template <class F> Array map_to_text(const Array& texts, F f) {
  Array out = like_texts(texts, DType::Str);
  int64_t count = total_elements(texts);
  const StringRef* in = texts.data<StringRef>();
  StringRef* to = out.data<StringRef>();
  std::vector<TextArena> arenas(static_cast<size_t>(chunk_count(count, text_grain)));
  parallel_chunks(count, text_grain, [&](int64_t chunk, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) poll_at(i), to[i] = f(in[i], arenas[static_cast<size_t>(chunk)]);
  });
  share_owners(out, texts);
  for (TextArena& arena : arenas) arena.give_to(out);
  return out;
}

/// A row of T for each string: f(element, row) appends to `row`. Strings in the rows must be parts of the element's
/// text (a part of a short text is itself short, so it never points into the element).
template <class T, class F> Array map_to_rows(const Array& texts, DType dtype, F f) {
  int64_t count = total_elements(texts);
  const StringRef* in = texts.data<StringRef>();
  std::vector<RowBuffer<T>> parts(static_cast<size_t>(chunk_count(count, text_grain)));
  std::vector<int64_t> lengths(static_cast<size_t>(count)), starts(parts.size() + 1);
  parallel_chunks(count, text_grain, [&](int64_t chunk, int64_t begin, int64_t end) {
    RowBuffer<T>& row = parts[static_cast<size_t>(chunk)];
    size_t bytes = 0;
    for (int64_t i = begin; i < end; ++i) poll_at(i), bytes += in[i].size;
    row.reserve(std::min<size_t>(bytes / 6, 1 << 22));   // about as many as there are words, which spares most of the growing
    for (int64_t i = begin; i < end; ++i) {
      poll_at(i);
      size_t before = row.size();
      f(in[i], row);
      lengths[static_cast<size_t>(i)] = static_cast<int64_t>(row.size() - before);
    }
    starts[static_cast<size_t>(chunk) + 1] = static_cast<int64_t>(row.size());
  });
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  Array values = Array::make(dtype, {starts.back()});
  T* to = values.data<T>();
  parallel_chunks(static_cast<int64_t>(parts.size()), 1, [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      auto part = static_cast<size_t>(c);
      parts[part].copy_to(to + starts[part]);
    }
  });
  if (dtype == DType::Str) share_owners(values, texts);
  if (texts.rank() == 0) return values;
  return ragged_under(texts, std::move(values), lengths);
}

}  // namespace tercet
