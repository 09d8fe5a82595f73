/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Peers: other libraries of level-3 routines, measured in the same run (cuBLASXt, the CPU's BLAS),
 * and our own BLAS door. They are loaded at run time; a missing one is no error.
 */
#ifndef TESSERA_MEASURE_PEER_H
#define TESSERA_MEASURE_PEER_H

#include "tool.h"

typedef struct bench_peer bench_peer;

/* A column-major call that any peer can carry out. For trmm, b is another matrix with c's extents,
 * for a peer that does not work in place. */
typedef struct bench_product {
  tsr_level3 what; /* complete */
  const void *alpha, *a, *b, *beta;
  void *c;
} bench_product;

/* Opens "cublasxt" on so many devices, "blas" (the library that TESSERA_CPU_BLAS names, else
 * OpenBLAS) or "door". NULL, after a note on stderr: it cannot be used here. */
bench_peer *bench_peer_open(const char *name, int devices);
void bench_peer_close(bench_peer *p);

/* Whether a GPU is found that cuBLASXt could use. */
bool bench_peer_has_gpu(void);

/* The block extents to try, a list that 0 ends; NULL: the peer has no such choice. */
const int *bench_peer_blocks(const bench_peer *p);
void bench_peer_set_block(bench_peer *p, int block);

/* Carries the call out and returns when it is complete. False: it failed, or the peer does not have
 * the operation or type. */
bool bench_peer_run(bench_peer *p, const bench_product *product);

/* blas.c: calls a BLAS routine, given by its Fortran symbol. */
void bench_blas_call(void *routine, const bench_product *product);

#endif
