# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# Products of whole numbers, which are exact, and triangular systems.
options(matprod = "blas")
a <- matrix((0:3499 * 7) %% 11 - 5, 70)
b <- matrix((0:2999 * 5) %% 13 - 6, 50)
d <- Reduce(`+`, lapply(1:50, function(l) outer(a[, l], b[l, ])))
s <- Reduce(`+`, lapply(1:70, function(l) outer(a[l, ], a[l, ])))
u <- chol(s + 100 * diag(50))
stopifnot(all(a %*% b == d), all(crossprod(a) == s), all(tcrossprod(t(a)) == s))
stopifnot(max(abs(backsolve(u, u %*% b) - b)) < 1e-9)
