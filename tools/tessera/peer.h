/*
 * Another library of level-3 routines on several GPUs, for comparison in the same run. Found at run
 * time; its absence is no error.
 */
#ifndef TESSERA_PEER_H
#define TESSERA_PEER_H

#include "tool.h"

typedef struct peer_library peer_library;

/* A call in column-major storage, for whoever carries it out. For trmm, b is another matrix like
 * c, for a peer that does not work in place. */
typedef struct bench_product {
  tsr_level3 what; /* complete */
  const void *alpha, *a, *b, *beta;
  void *c;
} bench_product;

/* NULL, with a note, when it cannot be used here. Only "cublasxt" is known. */
peer_library *peer_open(const char *name, int devices);
void peer_close(peer_library *p);

/* Block extents to try; 0 ends them. */
const int *peer_blocks(void);
void peer_set_block(peer_library *p, int block);

/* False when it failed, or has no such operation or type. Blocking. */
bool peer_multiply(peer_library *p, const bench_product *product);

#endif
