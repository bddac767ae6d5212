// Reductions of rows of different length, in the order of reduce.h for each of them; long rows by several threads.
#pragma once
#include "interpreter/runtime/reduce.h"
#include "interpreter/runtime/row_runs.h"

namespace tercet {
namespace detail {

inline constexpr int64_t long_row = 16 * reduce_block;   // elements from which a row's blocks go to several threads

/// Fewer elements than partials: each is one, and the tree goes over those that are there.
template <class R> typename R::Acc reduce_short_row(const typename R::Element* x, int64_t n) {
  typename R::Acc p[reduce_partials], buffer[reduce_partials];
  const typename R::Acc* from = as_accumulators<R>(x, n, buffer);
  for (int64_t j = 0; j < n; ++j) p[j] = from[j];
  for (int64_t half = reduce_partials / 2; half > 0; half /= 2)
    for (int64_t j = 0; j < half && j + half < n; ++j) p[j] = R::combine(p[j], p[j + half]);
  return p[0];
}

template <class R> typename R::Acc reduce_long_row(const typename R::Element* x, int64_t n) {
  const int64_t count = (n + reduce_block - 1) / reduce_block;
  std::vector<typename R::Acc> blocks(static_cast<size_t>(count));
  parallel_chunks(count, 8, [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b)
      blocks[static_cast<size_t>(b)] = reduce_block_of_row<R>(x + b * reduce_block, std::min(reduce_block, n - b * reduce_block));
  });
  PairwiseFold<R> fold;
  for (auto& block : blocks) fold.add(block);
  return fold.result();
}

/// A long row of `inner` columns: each block's results, then folded column by column.
template <class R> void reduce_long_columns(const typename R::Element* x, int64_t n, int64_t inner, typename R::Element* out) {
  using Acc = typename R::Acc;
  const int64_t count = (n + reduce_block - 1) / reduce_block;
  std::vector<Acc> blocks(static_cast<size_t>(count * inner));
  parallel_chunks(count, 1, [&](int64_t, int64_t begin, int64_t end) {
    Acc p[reduce_partials * reduce_strip];
    for (int64_t b = begin; b < end; ++b)
      for (int64_t c = 0; c < inner; c += reduce_strip) {
        const int64_t width = std::min(reduce_strip, inner - c);
        reduce_block_of_columns<R>(x + b * reduce_block * inner + c, std::min(reduce_block, n - b * reduce_block), inner, width, p);
        std::copy(p, p + width, blocks.begin() + b * inner + c);
      }
  });
  for (int64_t c = 0; c < inner; ++c) {
    PairwiseFold<R> fold;
    for (int64_t b = 0; b < count; ++b) fold.add(blocks[static_cast<size_t>(b * inner + c)]);
    out[c] = R::store(fold.result());
  }
}

template <class R> void reduce_one_row(const typename R::Element* x, int64_t n, int64_t inner, typename R::Element* out) {
  if (n == 0) std::fill(out, out + inner, R::store(R::empty()));
  else if (inner == 1)
    *out = R::store(n < reduce_partials ? reduce_short_row<R>(x, n) : n < long_row ? reduce_row<R>(x, n) : reduce_long_row<R>(x, n));
  else if (n >= long_row) reduce_long_columns<R>(x, n, inner, out);
  else reduce<R>(x, 1, n, inner, out);
}

}  // namespace detail

/// Row r of x is [offsets[r] * times .. offsets[r + 1] * times, inner]; out is [rows, inner].
template <class R>
void reduce_rows(const typename R::Element* x, const int64_t* offsets, int64_t rows, int64_t times, int64_t inner, typename R::Element* out) {
  each_run_of_rows(offsets, rows, times * inner, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      detail::reduce_one_row<R>(x + offsets[r] * times * inner, (offsets[r + 1] - offsets[r]) * times, inner, out + r * inner);
  });
}

/// out[r] is the sum of the table's rows (of `width` elements) that ids[offsets[r]] .. name, as reduce_rows of the
/// gathered rows. Ids out of range are clamped.
template <class T, class I>
void gather_sum_rows(const T* table, int64_t size, int64_t width, const I* ids, const int64_t* offsets, int64_t rows, T* out) {
  using R = ReducerFor<ReduceKind::Sum, T>;
  static_assert(std::is_same_v<typename R::Acc, T>);
  auto one_block = [&](const I* id, int64_t n, int64_t c, int64_t some, T* p) {
    auto row = [&](int64_t i) { return table + std::clamp<int64_t>(static_cast<int64_t>(id[i]), 0, size - 1) * width + c; };
    const int64_t first = std::min(n, reduce_partials);
    for (int64_t i = 0; i < first; ++i) std::copy_n(row(i), some, p + i * some);
    for (int64_t i = first; i < n; ++i) detail::combine_into<R>(p + i % reduce_partials * some, row(i), some);
    for (int64_t half = reduce_partials / 2; half > 0; half /= 2)
      for (int64_t j = 0; j < half && j + half < first; ++j) detail::combine_into<R>(p + j * some, p + (j + half) * some, some);
  };
  each_run_of_rows(offsets, rows, width, [&](int64_t begin, int64_t end) {
    alignas(64) T p[reduce_partials * detail::reduce_strip];
    for (int64_t r = begin; r < end; ++r) {
      poll_at(r);
      const int64_t n = offsets[r + 1] - offsets[r];
      const I* id = ids + offsets[r];
      T* to = out + r * width;
      if (n == 0) std::fill_n(to, width, R::store(R::empty()));
      else if (n <= reduce_block)
        for (int64_t c = 0; c < width; c += detail::reduce_strip) {
          const int64_t some = std::min(detail::reduce_strip, width - c);
          one_block(id, n, c, some, p);
          std::copy_n(p, some, to + c);
        }
      else {
        const int64_t count = (n + reduce_block - 1) / reduce_block;
        std::vector<T> blocks(static_cast<size_t>(count * width));
        parallel_chunks(count, 1, [&](int64_t, int64_t b0, int64_t b1) {
          alignas(64) T q[reduce_partials * detail::reduce_strip];
          for (int64_t b = b0; b < b1; ++b)
            for (int64_t c = 0; c < width; c += detail::reduce_strip) {
              const int64_t some = std::min(detail::reduce_strip, width - c);
              one_block(id + b * reduce_block, std::min(reduce_block, n - b * reduce_block), c, some, q);
              std::copy_n(q, some, blocks.begin() + b * width + c);
            }
        });
        for (int64_t c = 0; c < width; ++c) {
          detail::PairwiseFold<R> fold;
          for (int64_t b = 0; b < count; ++b) fold.add(blocks[static_cast<size_t>(b * width + c)]);
          to[c] = fold.result();
        }
      }
    }
  });
}

}  // namespace tercet
