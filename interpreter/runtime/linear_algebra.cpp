#include "interpreter/runtime/linear_algebra.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/diagnostic.h"

// LAPACK's own interface: Fortran's, everything by address, matrices by columns; lengths of texts come last.
extern "C" {
using Int = int;
#define TERCET_LAPACK(T, p)                                                                                              \
  void p##potrf_(const char*, const Int*, T*, const Int*, Int*, size_t);                                                 \
  void p##trtrs_(const char*, const char*, const char*, const Int*, const Int*, const T*, const Int*, T*, const Int*, Int*, size_t, size_t, size_t); \
  void p##getrf_(const Int*, const Int*, T*, const Int*, Int*, Int*);                                                    \
  void p##getrs_(const char*, const Int*, const Int*, const T*, const Int*, const Int*, T*, const Int*, Int*, size_t);   \
  void p##geqrf_(const Int*, const Int*, T*, const Int*, T*, T*, const Int*, Int*);                                      \
  void p##orgqr_(const Int*, const Int*, const Int*, T*, const Int*, const T*, T*, const Int*, Int*);                    \
  void p##gesdd_(const char*, const Int*, const Int*, T*, const Int*, T*, T*, const Int*, T*, const Int*, T*, const Int*, Int*, Int*, size_t); \
  void p##syevd_(const char*, const char*, const Int*, T*, const Int*, T*, T*, const Int*, Int*, const Int*, Int*, size_t, size_t);
TERCET_LAPACK(float, s)
TERCET_LAPACK(double, d)
#undef TERCET_LAPACK
}

namespace tercet::lapack {
namespace {

/// The routine of the letter of T.
#define TERCET_CALL(name, ...)                                        \
  do {                                                                \
    if constexpr (std::is_same_v<T, float>) s##name##_(__VA_ARGS__);  \
    else d##name##_(__VA_ARGS__);                                     \
  } while (0)

template <class T> constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();

Int to_int(int64_t n) {
  if (n > std::numeric_limits<Int>::max()) fail(Kind::Limit, {}, "a matrix with more than 2147483647 rows or columns");
  return static_cast<Int>(n);
}

template <class T> bool all_finite(const T* x, int64_t count) {
  return std::all_of(x, x + count, [](T v) { return std::isfinite(v); });
}

/// Row-major [m, n] to columns, and back.
template <class T> void transpose_to(int64_t m, int64_t n, const T* from, T* to) {
  constexpr int64_t tile = 16;
  for (int64_t i = 0; i < m; i += tile)
    for (int64_t j = 0; j < n; j += tile)
      for (int64_t y = i; y < std::min(i + tile, m); ++y)
        for (int64_t x = j; x < std::min(j + tile, n); ++x) to[x * m + y] = from[y * n + x];
}
template <class T> std::vector<T> columns(int64_t m, int64_t n, const T* from) {
  std::vector<T> out(static_cast<size_t>(m * n));
  transpose_to(m, n, from, out.data());
  return out;
}

/// The workspace that a routine asks for: call(work, size) with size -1 asks.
template <class T, class F> void with_work(F&& call) {
  T best = 0;
  call(&best, Int{-1});
  std::vector<T> work(static_cast<size_t>(std::max(T{1}, best)));
  call(work.data(), to_int(static_cast<int64_t>(work.size())));
}

/// LU of a row-major matrix read as its transpose; `info` > 0: singular.
template <class T> struct Lu {
  std::vector<T> factors;
  std::vector<Int> pivots;
  Int info = 0;

  Lu(int64_t size, const T* a) : factors(a, a + size * size), pivots(static_cast<size_t>(size)) {
    const Int n = to_int(size);
    if (!all_finite(a, size * size)) info = -1;
    else if (n > 0) TERCET_CALL(getrf, &n, &n, factors.data(), &n, pivots.data(), &info);
  }
  T pivot(size_t i) const { return factors[i * pivots.size() + i]; }
  bool swapped(size_t i) const { return pivots[i] != static_cast<Int>(i) + 1; }
};

}  // namespace

template <class T> void cholesky(int64_t size, const T* a, T* l) {
  const Int n = to_int(size);
  Int info = 0;
  std::copy(a, a + size * size, l);
  // Rows read as columns: the lower triangle is LAPACK's upper one.
  if (!all_finite(a, size * size)) info = 1;
  else if (n > 0) TERCET_CALL(potrf, "U", &n, l, &n, &info, 1);
  if (info != 0) std::fill(l, l + size * size, not_a_number<T>);
  else
    for (int64_t i = 0; i < size; ++i) std::fill(l + i * size + i + 1, l + (i + 1) * size, T{0});
}

template <class T> void triangular_solve(int64_t size, int64_t count, const T* a, const T* b, bool lower, bool transposed, T* x) {
  const Int n = to_int(size), k = to_int(count);
  if (n == 0 || k == 0) return;
  for (int64_t i = 0; i < size; ++i)
    if (a[i * size + i] == 0) return std::fill(x, x + size * count, not_a_number<T>);
  std::vector<T> right = columns(size, count, b);
  Int info = 0;
  // Rows read as columns are the transpose, whose triangle is the other one.
  TERCET_CALL(trtrs, lower ? "U" : "L", transposed ? "N" : "T", "N", &n, &k, a, &n, right.data(), &n, &info, 1, 1, 1);
  transpose_to(count, size, right.data(), x);
}

template <class T> void solve(int64_t size, int64_t count, const T* a, const T* b, T* x) {
  const Int n = to_int(size), k = to_int(count);
  if (n == 0 || k == 0) return;
  Lu<T> lu(size, a);
  if (lu.info != 0) return std::fill(x, x + size * count, not_a_number<T>);
  std::vector<T> right = columns(size, count, b);
  Int info = 0;
  TERCET_CALL(getrs, "T", &n, &k, lu.factors.data(), &n, lu.pivots.data(), right.data(), &n, &info, 1);
  transpose_to(count, size, right.data(), x);
}

template <class T> void log_determinant(int64_t size, const T* a, T* sign, T* log) {
  Lu<T> lu(size, a);
  *sign = 1, *log = 0;
  if (lu.info < 0) *sign = *log = not_a_number<T>;
  else if (lu.info > 0) *sign = 0, *log = -std::numeric_limits<T>::infinity();
  else
    for (size_t i = 0; i < lu.pivots.size(); ++i) {
      if (lu.swapped(i) != (lu.pivot(i) < 0)) *sign = -*sign;
      *log += std::log(std::abs(lu.pivot(i)));
    }
}

template <class T> T determinant(int64_t size, const T* a) {
  Lu<T> lu(size, a);
  if (lu.info != 0) return lu.info < 0 ? not_a_number<T> : T{0};
  T out = 1;
  for (size_t i = 0; i < lu.pivots.size(); ++i) out *= lu.swapped(i) ? -lu.pivot(i) : lu.pivot(i);
  return out;
}

template <class T> void qr(int64_t rows, int64_t cols, const T* a, T* q, T* r) {
  const Int m = to_int(rows), n = to_int(cols), k = std::min(m, n);
  if (k == 0) return;
  if (!all_finite(a, rows * cols)) {
    std::fill(q, q + rows * k, not_a_number<T>);
    return std::fill(r, r + k * cols, not_a_number<T>);
  }
  std::vector<T> x = columns(rows, cols, a), scales(static_cast<size_t>(k));
  Int info = 0;
  with_work<T>([&](T* work, Int size) { TERCET_CALL(geqrf, &m, &n, x.data(), &m, scales.data(), work, &size, &info); });
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < cols; ++j) r[i * cols + j] = j < i ? T{0} : x[static_cast<size_t>(j * rows + i)];
  with_work<T>([&](T* work, Int size) { TERCET_CALL(orgqr, &m, &k, &k, x.data(), &m, scales.data(), work, &size, &info); });
  transpose_to(k, rows, x.data(), q);
}

template <class T> void svd(int64_t rows, int64_t cols, const T* a, T* u, T* s, T* v) {
  // Rows read as columns are the transpose: v * diag(s) * u of it.
  const Int m = to_int(cols), n = to_int(rows), k = std::min(m, n);
  if (k == 0) return;
  Int info = 0;
  if (all_finite(a, rows * cols)) {
    std::vector<T> x(a, a + rows * cols);
    std::vector<Int> whole(static_cast<size_t>(8) * static_cast<size_t>(k));
    with_work<T>([&](T* work, Int size) {
      TERCET_CALL(gesdd, "S", &m, &n, x.data(), &m, s, v, &m, u, &k, work, &size, whole.data(), &info, 1);
    });
  } else {
    info = 1;
  }
  if (info == 0) return;
  std::fill(u, u + rows * k, not_a_number<T>);
  std::fill(s, s + k, not_a_number<T>);
  std::fill(v, v + k * cols, not_a_number<T>);
}

template <class T> void eigh(int64_t size, const T* a, T* w, T* v) {
  const Int n = to_int(size);
  if (n == 0) return;
  Int info = 0;
  std::vector<T> x(a, a + size * size);
  if (all_finite(a, size * size)) {
    std::vector<Int> whole(static_cast<size_t>(3 + 5 * size));
    const Int whole_size = to_int(3 + 5 * size);
    with_work<T>([&](T* work, Int length) {
      TERCET_CALL(syevd, "V", "U", &n, x.data(), &n, w, work, &length, whole.data(), &whole_size, &info, 1, 1);
    });
  } else {
    info = 1;
  }
  if (info == 0) return transpose_to(size, size, x.data(), v);
  std::fill(w, w + size, not_a_number<T>);
  std::fill(v, v + size * size, not_a_number<T>);
}

#define TERCET_INSTANTIATE(T)                                                                                   \
  template void cholesky<T>(int64_t, const T*, T*);                                                             \
  template void triangular_solve<T>(int64_t, int64_t, const T*, const T*, bool, bool, T*);                      \
  template void solve<T>(int64_t, int64_t, const T*, const T*, T*);                                             \
  template void log_determinant<T>(int64_t, const T*, T*, T*);                                                  \
  template T determinant<T>(int64_t, const T*);                                                                 \
  template void qr<T>(int64_t, int64_t, const T*, T*, T*);                                                      \
  template void svd<T>(int64_t, int64_t, const T*, T*, T*, T*);                                                 \
  template void eigh<T>(int64_t, const T*, T*, T*);
TERCET_INSTANTIATE(float)
TERCET_INSTANTIATE(double)

}  // namespace tercet::lapack
