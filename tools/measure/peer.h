/*
 * Other libraries of level-3 routines, for comparison in the same run: cuBLASXt, the CPU's BLAS,
 * and our own BLAS door. Found at run time; the absence of one is no error.
 */
#ifndef TESSERA_MEASURE_PEER_H
#define TESSERA_MEASURE_PEER_H

#include "tool.h"

typedef struct bench_peer bench_peer;

/* A call in column-major storage, for whoever carries it out. For trmm, b is another matrix like
 * c, for a peer that does not work in place. */
typedef struct bench_product {
  tsr_level3 what; /* complete */
  const void *alpha, *a, *b, *beta;
  void *c;
} bench_product;

/* "cublasxt" on so many devices, "blas" (what TESSERA_CPU_BLAS names, else OpenBLAS) or "door".
 * NULL, with a note, when it cannot be used here. */
bench_peer *bench_peer_open(const char *name, int devices);
void bench_peer_close(bench_peer *p);

/* Whether there is a GPU that cuBLASXt could use. */
bool bench_peer_has_gpu(void);

/* Block extents to try, of which 0 ends the list; NULL: it has no such choice. */
const int *bench_peer_blocks(const bench_peer *p);
void bench_peer_set_block(bench_peer *p, int block);

/* False when it failed, or has no such operation or type. Blocking. */
bool bench_peer_run(bench_peer *p, const bench_product *product);

/* blas.c: the reference BLAS's symbol of that operation and type. */
void bench_blas_call(void *routine, const bench_product *product);

#endif
