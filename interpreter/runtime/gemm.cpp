#include "interpreter/runtime/gemm.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "interpreter/runtime/array.h"
#include "interpreter/runtime/gemm_kernel.h"
#include "interpreter/runtime/half_rows.h"
#include "interpreter/runtime/reduce.h"
#include "interpreter/runtime/square_tile.h"

namespace tercet {
namespace {

constexpr int64_t block_k = 256, block_rows = 240, block_columns = 1024;  // of A: 240 kB of f32; of B: 1 MB
constexpr int64_t few = gemm_in_place;

/// Memory for packed panels, aligned to a cache line, kept by each thread between calls.
template <class T> T* scratch(int slot, int64_t count) {
  thread_local std::unique_ptr<std::byte[]> memory[4];
  thread_local size_t size[4] = {};
  size_t bytes = static_cast<size_t>(count) * sizeof(T) + 64;
  if (size[slot] < bytes) {
    memory[slot].reset(new std::byte[bytes]);
    size[slot] = bytes;
  }
  auto address = reinterpret_cast<uintptr_t>(memory[slot].get());
  return reinterpret_cast<T*>((address + 63) / 64 * 64);
}

/// `count` neighbours as C.
template <class T, class C> void load_row(const T* from, int64_t count, C* to) {
  if constexpr (std::is_same_v<T, C>) std::copy(from, from + count, to);
  else widen_row(from, count, to);
}

/// out[p * width + r] = x[r * along + p] for r < count, p < k: a tile at a time, so that whole vectors are read and written.
template <class C> void turn(const C* x, int64_t count, int64_t k, int64_t along, int64_t width, C* out) {
  using Tile = TileOf<C>;
  constexpr int64_t lanes = Tile::lanes;
  const int64_t whole_rows = count / lanes * lanes, whole_k = k / lanes * lanes;
  for (int64_t r = 0; r < whole_rows; r += lanes)
    for (int64_t p = 0; p < whole_k; p += lanes) {
      typename Tile::Vector tile[lanes];
#pragma GCC unroll 8
      for (int64_t i = 0; i < lanes; ++i) tile[i] = Tile::load(x + (r + i) * along + p);
      Tile::transpose(tile);
#pragma GCC unroll 8
      for (int64_t i = 0; i < lanes; ++i) Tile::store(out + (p + i) * width + r, tile[i]);
    }
  for (int64_t r = 0; r < count; ++r)
    for (int64_t p = r < whole_rows ? whole_k : 0; p < k; ++p) out[p * width + r] = x[r * along + p];
}

/// The same for six rows, the tiles' height, and width 6. Stores reach past a step's six numbers into the next step's, which is stored
/// after it: `out` has room for two more at its end.
template <class C> void turn_six(const C* x, int64_t k, int64_t along, C* out) {
  using Tile = TileOf<C>;
  constexpr int lanes = Tile::lanes, groups = (6 + lanes - 1) / lanes;
  int64_t p = 0;
  for (; p + lanes <= k; p += lanes) {
    typename Tile::Vector tile[groups][lanes];
#pragma GCC unroll 2
    for (int g = 0; g < groups; ++g) {
#pragma GCC unroll 8
      for (int i = 0; i < lanes; ++i) tile[g][i] = Tile::load(x + std::min(g * lanes + i, 5) * along + p);
      Tile::transpose(tile[g]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < lanes; ++i)
#pragma GCC unroll 2
      for (int g = 0; g < groups; ++g) Tile::store(out + (p + i) * 6 + g * lanes, tile[g][i]);
  }
  for (; p < k; ++p)
    for (int r = 0; r < 6; ++r) out[p * 6 + r] = x[r * along + p];
}

/// Panels of `width` rows (columns) of x, step by step: out[(panel * k + p) * width + r]; absent rows are 0.
/// `along` is the stride from one row of the panel to the next, `step` that from one k to the next.
template <class T, class C>
void pack(const T* x, int64_t count, int64_t k, int64_t along, int64_t step, int64_t width, C* out) {
  for (int64_t at = 0; at < count; at += width, out += k * width) {
    const int64_t filled = std::min(width, count - at);
    const T* from = x + at * along;
    if (filled < width) std::fill(out, out + k * width, C(0));
    if (along == 1) {
      for (int64_t p = 0; p < k; ++p) load_row(from + p * step, filled, out + p * width);
    } else if (step == 1 && !std::is_same_v<T, C>) {
      C lines[8][block_k];
      for (int64_t r = 0; r < filled; r += 8) {
        const int64_t some = std::min<int64_t>(8, filled - r);
        for (int64_t i = 0; i < some; ++i) load_row(from + (r + i) * along, k, lines[i]);
        if (some == 6 && width == 6) turn_six(lines[0], k, block_k, out);
        else turn(lines[0], some, k, block_k, width, out + r);
      }
    } else if (std::is_same_v<T, C> && step == 1 && filled >= 8) {
      if constexpr (std::is_same_v<T, C>) turn(from, filled, k, along, width, out);
    } else if (std::is_same_v<T, C> && step == 1 && filled == 6 && width == 6) {
      if constexpr (std::is_same_v<T, C>) turn_six(from, k, along, out);
    } else if (filled == 6) {   // the tiles' rows: six streams into one
      for (int64_t p = 0; p < k; ++p)
#pragma GCC unroll 6
        for (int64_t r = 0; r < 6; ++r) out[p * width + r] = Compute<T>::load(from[r * along + p * step]);
    } else {
      for (int64_t r = 0; r < filled; ++r)
        for (int64_t p = 0; p < k; ++p) out[p * width + r] = Compute<T>::load(from[r * along + p * step]);
    }
  }
}

/// One block of rows and k against one block of columns. A is packed or in place; so is B, `ldb` is then its row stride.
template <class C> struct Block {
  const GemmKernel<C>& kernel;
  int64_t rows, columns, k;
  GemmLeft<C> a;
  int64_t a_step;           // from one row of A to the next, at a tile's beginning
  const C* b;
  int64_t ldb, panel_step;  // from one panel of B to the next
  C* c;
  int64_t ldc;
  bool first;

  void run() const {
    const C* b_at = b;
    const int64_t tile_rows = kernel.tile_rows, tile_columns = kernel.tile_columns;
    for (int64_t j = 0; j < columns; j += tile_columns, b_at += panel_step) {
      const int wide = static_cast<int>(std::min(tile_columns, columns - j));
      auto* const tiles = kernel.tiles[(wide - 1) / kernel.lanes];
      for (int64_t i = 0; i < rows; i += tile_rows)
        tiles[std::min(tile_rows, rows - i) - 1](wide, k, {a.data + i * a_step, a.row, a.step}, b_at, ldb, c + i * ldc + j, ldc, first);
    }
  }
};

/// Sums in C (f32 for f16 and bf16). `ready`: b, packed already.
template <class T, class C>
void gemm_blocked(const GemmKernel<C>& kernel, int64_t rows, int64_t n, int64_t k, Strided<T> a, Strided<T> b, C* c, int64_t ldc,
                  const PackedRight<T>* ready = nullptr) {
  // Packing pays by what a packed element is used for: with few rows B is read in place, by whole tiles, with few
  // columns A.
  constexpr bool direct = std::is_same_v<T, C>;
  const bool small = rows <= few && n <= few && k <= few;
  const bool in_place = direct && !ready && b.column_stride == 1 && (rows <= 2 * kernel.tile_rows || small);
  const bool a_in_place = direct && n <= few;
  if (k == 0)
    for (int64_t i = 0; i < rows; ++i) std::fill(c + i * ldc, c + i * ldc + n, C(0));
  for (int64_t jc = 0; jc < n; jc += block_columns) {
    const int64_t columns = std::min(block_columns, n - jc);
    const int64_t whole = in_place ? columns / kernel.tile_columns * kernel.tile_columns : 0;
    for (int64_t pc = 0; pc < k; pc += block_k) {
      const int64_t depth = std::min(block_k, k - pc);
      const T* b_at = ready ? nullptr : b.data + pc * b.row_stride + jc * b.column_stride;
      const C* packed_b = nullptr;
      if constexpr (std::is_same_v<C, typename Compute<T>::type>) packed_b = ready ? ready->block(jc, pc) : nullptr;
      if (!ready) {
        C* panels = scratch<C>(0, (columns - whole + kernel.tile_columns) * depth);
        pack(b_at + whole * b.column_stride, columns - whole, depth, b.column_stride, b.row_stride, kernel.tile_columns, panels);
        packed_b = panels;
      }
      for (int64_t ic = 0; ic < rows; ic += block_rows) {
        poll();
        const int64_t some = std::min(block_rows, rows - ic);
        const T* a_at = a.data + ic * a.row_stride + pc * a.column_stride;
        GemmLeft<C> left{};
        int64_t left_step = depth;
        if constexpr (direct) left = {a_at, a.row_stride, a.column_stride}, left_step = a.row_stride;
        if (!a_in_place) {
          C* packed_a = scratch<C>(1, (some + kernel.tile_rows) * depth);
          pack(a_at, some, depth, a.row_stride, a.column_stride, kernel.tile_rows, packed_a);
          left = {packed_a, 1, kernel.tile_rows};
          left_step = depth;
        }
        C* c_at = c + ic * ldc + jc;
        if constexpr (std::is_same_v<T, C>)
          if (whole > 0)
            Block<C>{kernel, some, whole, depth, left, left_step, b_at, b.row_stride, kernel.tile_columns, c_at, ldc, pc == 0}.run();
        Block<C>{kernel, some, columns - whole, depth, left, left_step, packed_b, kernel.tile_columns,
                 kernel.tile_columns * depth, c_at + whole, ldc, pc == 0}.run();
      }
    }
  }
}

template <class C> const GemmKernels<C>& kernels_for(GemmIsa isa) {
  const bool wide = isa == GemmIsa::Avx512 || (isa == GemmIsa::Best && gemm_isa_available(GemmIsa::Avx512));
  if constexpr (std::is_same_v<C, float>) return wide ? gemm_avx512_f32 : gemm_avx2_f32;
  else return wide ? gemm_avx512_f64 : gemm_avx2_f64;
}

/// The kernel for `n` columns.
template <class C> const GemmKernel<C>& kernel_for(GemmIsa isa, int64_t n) {
  const GemmKernels<C>& kernels = kernels_for<C>(isa);
  return n <= kernels.narrow.tile_columns ? kernels.narrow : kernels.wide;
}

/// c = a b for an `a` that lies by columns and few columns of b, such as the gradient by a layer's weights: as the transpose of
/// b' a', where a' is read along its rows and in place. The sums are the same.
template <class T> void gemm_turned(int64_t m, int64_t n, int64_t k, Strided<T> a, Strided<T> b, T* c, int64_t c_stride, GemmIsa isa) {
  T* turned = scratch<T>(3, block_columns * n);
  for (int64_t at = 0; at < m; at += block_columns) {
    const int64_t some = std::min(block_columns, m - at);
    gemm_blocked<T, T>(kernels_for<T>(isa).narrow, n, some, k, {b.data, b.column_stride, b.row_stride},
                       {a.data + at * a.row_stride, a.column_stride, a.row_stride}, turned, some);
    for (int64_t i = 0; i < some; ++i)
      for (int64_t j = 0; j < n; ++j) c[(at + i) * c_stride + j] = turned[j * some + i];
  }
}

/// Integers: a row of B at a time, which the compiler vectorises.
template <class T>
void gemm_simple(int64_t m, int64_t n, int64_t k, Strided<T> a, Strided<T> b, T* c, int64_t ldc) {
  const T* right = b.data;
  int64_t step = b.row_stride;
  if (b.column_stride != 1) {
    T* packed = scratch<T>(0, n * k);
    PollCounter packing;
    for (int64_t p = 0; p < k; ++p, packing.add(n))
      for (int64_t j = 0; j < n; ++j) packed[p * n + j] = b.data[p * b.row_stride + j * b.column_stride];
    right = packed;
    step = n;
  }
  PollCounter polls;
  for (int64_t i = 0; i < m; ++i) {
    T* row = c + i * ldc;
    std::fill(row, row + n, T(0));
    for (int64_t p = 0; p < k; ++p, polls.add(n)) {
      const T left = a.data[i * a.row_stride + p * a.column_stride];
      const T* x = right + p * step;
      for (int64_t j = 0; j < n; ++j) row[j] = wrap_add(row[j], wrap_mul(left, x[j]));
    }
  }
}

// ---- vector forms ----
template <class C> C multiply_add(C a, C b, C acc) {
  if constexpr (std::is_floating_point_v<C>) return fma(a, b, acc);
  else return wrap_add(acc, wrap_mul(a, b));
}

/// Sums of one block of `rows` vectors against one: rows share what is loaded of b.
template <int rows, class C> void dot_block(const C* const* a, const C* b, int64_t n, C* out) {
  C p[rows][reduce_partials] = {};
  int64_t i = 0;
  for (; i + reduce_partials <= n; i += reduce_partials)
    for (int r = 0; r < rows; ++r)
      for (int64_t j = 0; j < reduce_partials; ++j) p[r][j] = multiply_add(a[r][i + j], b[i + j], p[r][j]);
  for (int r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < n - i; ++j) p[r][j] = multiply_add(a[r][i + j], b[i + j], p[r][j]);
    for (int64_t half = reduce_partials / 2; half > 0; half /= 2)
      for (int64_t j = 0; j < half; ++j) p[r][j] = wrap_add(p[r][j], p[r][j + half]);
    out[r] = p[r][0];
  }
}

template <class C> struct SumOf {
  using Acc = C;
  static C combine(C a, C b) { return wrap_add(a, b); }
};

/// dot(a + r * k, b) for r < rows, written `out_step` apart.
template <int rows, class T> void dot_some(const T* a, const T* b, int64_t k, T* out, int64_t out_step) {
  using C = typename Compute<T>::type;
  constexpr bool direct = std::is_same_v<T, C>;
  detail::PairwiseFold<SumOf<C>> total[rows];
  C* wide = direct ? nullptr : scratch<C>(2, (rows + 1) * reduce_block);
  PollCounter polls;
  for (int64_t at = 0; at < k; at += reduce_block) {
    const int64_t n = std::min(reduce_block, k - at);
    polls.add(n * rows);
    const C *left[rows], *right;
    if constexpr (direct) {
      for (int r = 0; r < rows; ++r) left[r] = a + r * k + at;
      right = b + at;
    } else {
      for (int r = 0; r < rows; ++r) {
        load_row(a + r * k + at, n, wide + r * reduce_block);
        left[r] = wide + r * reduce_block;
      }
      load_row(b + at, n, wide + rows * reduce_block);
      right = wide + rows * reduce_block;
    }
    C sums[rows];
    dot_block<rows>(left, right, n, sums);
    for (int r = 0; r < rows; ++r) total[r].add(sums[r]);
  }
  for (int r = 0; r < rows; ++r) out[r * out_step] = Compute<T>::store(k == 0 ? C(0) : total[r].result());
}

/// The longer side in fours (in twos where the partials of four would not fit the registers). What comes from memory is
/// read row by row: one stream is what prefetchers follow best.
template <class T> void dot_many(const T* a, int64_t rows, const T* b, int64_t k, T* out, int64_t out_step) {
  constexpr int together = sizeof(T) == 8 ? 2 : 4;
  constexpr int64_t second_level_cache = 512 << 10;
  int64_t r = 0;
  const bool cached = rows * k * static_cast<int64_t>(sizeof(T)) <= second_level_cache;
  PollCounter polls;
  for (; cached && r + together <= rows; r += together, polls.add(together * k)) dot_some<together>(a + r * k, b, k, out + r * out_step, out_step);
  for (; r < rows; ++r, polls.add(k)) dot_some<1>(a + r * k, b, k, out + r * out_step, out_step);
}

}  // namespace

bool gemm_isa_available(GemmIsa isa) {
  if (isa != GemmIsa::Avx512) return true;
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl");
}

template <class T>
PackedRight<T>::PackedRight(int64_t n, int64_t k, GemmIsa isa) : n_(n), k_(k), isa_(isa) {
  const int64_t width = kernel_for<C>(isa, n).tile_columns;
  padded_ = (n + width - 1) / width * width;
  panels_.resize(static_cast<size_t>(padded_ * k));
}
/// A part is one panel of one block.
template <class T> int64_t PackedRight<T>::parts() const {
  const int64_t width = kernel_for<C>(isa_, n_).tile_columns;
  return padded_ / width * ((k_ + block_k - 1) / block_k);
}
template <class T> void PackedRight<T>::pack(int64_t part, Strided<T> b) {
  const int64_t width = kernel_for<C>(isa_, n_).tile_columns, panels = padded_ / width;
  const int64_t column = part % panels * width, from = part / panels * block_k;
  const int64_t first = column / block_columns * block_columns, depth = std::min(block_k, k_ - from);
  C* out = const_cast<C*>(block(first, from)) + (column - first) * depth;
  tercet::pack(b.data + from * b.row_stride + column * b.column_stride, std::min(width, n_ - column), depth, b.column_stride, b.row_stride, width, out);
}
template <class T> const typename PackedRight<T>::C* PackedRight<T>::block(int64_t column, int64_t k) const {
  return panels_.data() + column * k_ + std::min(block_columns, padded_ - column) * k;
}

/// Sums of halves are rounded when some rows are done; many at a time, since the right operand is read for each of these parts.
template <class T> void gemm_rounded(int64_t m, int64_t n, int64_t k, Strided<T> a, Strided<T> b, T* c, int64_t c_stride, GemmIsa isa, const PackedRight<T>* ready) {
  constexpr int64_t most_sums = int64_t{1} << 21;
  const int64_t part = std::max<int64_t>(1, most_sums / n / block_rows) * block_rows;
  for (int64_t at = 0; at < m; at += part, a.data += part * a.row_stride) {
    const int64_t some = std::min(part, m - at);
    float* sums = scratch<float>(2, some * n);
    gemm_blocked<T, float>(kernel_for<float>(isa, n), some, n, k, a, b, sums, n, ready);
    for (int64_t i = 0; i < some; ++i) narrow_row(sums + i * n, n, c + (at + i) * c_stride);
  }
}

template <class T> void gemm(int64_t m, int64_t n, int64_t k, Strided<T> a, const PackedRight<T>& b, T* c, int64_t c_stride) {
  using C = typename Compute<T>::type;
  if (m <= 0 || n <= 0) return;
  if constexpr (std::is_same_v<T, C>) gemm_blocked<T, T>(kernel_for<T>(b.isa(), n), m, n, k, a, {}, c, c_stride, &b);
  else gemm_rounded<T>(m, n, k, a, {}, c, c_stride, b.isa(), &b);
}

template <class T>
void gemm(int64_t m, int64_t n, int64_t k, Strided<T> a, Strided<T> b, T* c, int64_t c_stride, GemmIsa isa) {
  if (m <= 0 || n <= 0) return;
  if constexpr (std::is_floating_point_v<T>) {
    const GemmKernel<T>& narrow = kernels_for<T>(isa).narrow;
    if (a.row_stride == 1 && a.column_stride != 1 && n <= 2 * narrow.tile_rows && m >= narrow.tile_columns)
      gemm_turned(m, n, k, a, b, c, c_stride, isa);
    else gemm_blocked<T, T>(kernel_for<T>(isa, n), m, n, k, a, b, c, c_stride);
  } else if constexpr (std::is_same_v<typename Compute<T>::type, float>) {
    gemm_rounded<T>(m, n, k, a, b, c, c_stride, isa, nullptr);
  } else {
    gemm_simple<T>(m, n, k, a, b, c, c_stride);
  }
}

template <class T> void dot_rows(int64_t begin, int64_t end, int64_t n, int64_t k, const T* a, const T* b, T* c) {
  if (n > end - begin) {
    for (int64_t i = begin; i < end; ++i) dot_many(b, n, a + i * k, k, c + i * n, 1);
  } else {
    for (int64_t j = 0; j < n; ++j) dot_many(a + begin * k, end - begin, b + j * k, k, c + begin * n + j, n);
  }
}

#define TERCET_GEMM(T)                                                                                     \
  template void gemm<T>(int64_t, int64_t, int64_t, Strided<T>, Strided<T>, T*, int64_t, GemmIsa);          \
  template void dot_rows<T>(int64_t, int64_t, int64_t, int64_t, const T*, const T*, T*);
TERCET_GEMM(int8_t)
TERCET_GEMM(int16_t)
TERCET_GEMM(int32_t)
TERCET_GEMM(int64_t)
TERCET_GEMM(uint8_t)
TERCET_GEMM(uint16_t)
TERCET_GEMM(uint32_t)
TERCET_GEMM(uint64_t)
TERCET_GEMM(Half)
TERCET_GEMM(BFloat)
TERCET_GEMM(float)
TERCET_GEMM(double)
#undef TERCET_GEMM
#define TERCET_PACKED(T)          \
  template class PackedRight<T>;  \
  template void gemm<T>(int64_t, int64_t, int64_t, Strided<T>, const PackedRight<T>&, T*, int64_t);
TERCET_PACKED(Half)
TERCET_PACKED(BFloat)
TERCET_PACKED(float)
TERCET_PACKED(double)
#undef TERCET_PACKED

}  // namespace tercet
