/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A BLAS that has only the GEMMs, and these do nothing. */
void sgemm_(void);
void dgemm_(void);
void cgemm_(void);
void zgemm_(void);

void sgemm_(void) {}
void dgemm_(void) {}
void cgemm_(void) {}
void zgemm_(void) {}
