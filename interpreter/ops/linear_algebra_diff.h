// Reverse rules of factorisations and linear systems (linear_algebra.cpp).
//
// Sources: M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008);
// J. Townsend, "Differentiating the singular value decomposition" (2016); D. Roberts and L. Roberts, "QR and LQ decomposition
// matrix backpropagation algorithms for square, wide, and deep matrices" (2020).
#pragma once
#include "interpreter/ir/differentiation.h"

namespace tercet {

void reverse_cholesky(ReverseContext& c);
void reverse_triangular_solve(ReverseContext& c);
void reverse_solve(ReverseContext& c);
void reverse_det(ReverseContext& c);
void reverse_slogdet(ReverseContext& c);
void reverse_qr(ReverseContext& c);
void reverse_svd(ReverseContext& c);
void reverse_eigh(ReverseContext& c);

}  // namespace tercet
