// Factorisations and solutions of linear systems, one matrix at a time, by LAPACK (https://www.netlib.org/lapack).
//
// Matrices are row-major and dense; T is float or double. A matrix that holds NaN or infinity, is singular (solve), not
// positive definite (cholesky), or whose iteration does not converge (svd, eigh) gives NaN in all results: one such
// matrix of a batch does not stop the others. Error `limit` where a size exceeds 2^31 - 1.
// Example:  double a[] = {2, 0, 0, 4}, b[] = {2, 4}, x[2];  solve(2, 1, a, b, x);   // x: {1, 1}
#pragma once
#include <cstdint>

namespace tercet::lapack {

/// l[n, n] lower with l * transpose(l) = a[n, n]; reads the lower triangle of a (xPOTRF).
template <class T> void cholesky(int64_t n, const T* a, T* l);
/// x[n, k] with op(a) * x = b[n, k], a triangular; op transposes or not (xTRTRS). A zero on the diagonal divides.
template <class T> void triangular_solve(int64_t n, int64_t k, const T* a, const T* b, bool lower, bool transposed, T* x);
/// x[n, k] with a[n, n] * x = b[n, k], by LU with partial pivoting (xGETRF, xGETRS).
template <class T> void solve(int64_t n, int64_t k, const T* a, const T* b, T* x);
/// The determinant of a[n, n] is sign * exp(log); that of a singular one has sign 0 and log -inf (xGETRF).
template <class T> void log_determinant(int64_t n, const T* a, T* sign, T* log);
/// The product of the pivots of LU.
template <class T> T determinant(int64_t n, const T* a);
/// q[m, r] with orthonormal columns and r[r, n] upper, q * r = a[m, n], where r = min(m, n) (xGEQRF, xORGQR).
template <class T> void qr(int64_t m, int64_t n, const T* a, T* q, T* r);
/// u[m, r], s[r] descending, v[r, n]: u * diag(s) * v = a[m, n], where r = min(m, n) (xGESDD).
template <class T> void svd(int64_t m, int64_t n, const T* a, T* u, T* s, T* v);
/// w[n] ascending and v[n, n] with the eigenvectors as columns of the symmetric a[n, n]; reads its lower triangle (xSYEVD).
template <class T> void eigh(int64_t n, const T* a, T* w, T* v);

}  // namespace tercet::lapack
