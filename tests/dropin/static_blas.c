/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A program with a BLAS of its own inside: what a statically linked one looks like from outside. */
void dgemm_(void);
void dgemm_(void) {}

int main(void) {
  dgemm_();
  return 0;
}
