/*
 * Memory for measured cases: for each operand and place one buffer, as large as the largest case
 * needs, filled with random numbers once. Pinning memory and making random numbers take longer than
 * most products.
 *
 * Element i of a buffer is random_element(type, bench_store_seed(operand), i): every matrix that
 * begins where its buffer does can be computed again.
 */
#ifndef TESSERA_BENCH_STORE_H
#define TESSERA_BENCH_STORE_H

#include "settings.h"

typedef struct bench_shape {
  int64_t m, n, k;
} bench_shape;

enum { STORE_BUFFERS = 128 };

typedef struct bench_buffer {
  home where;
  int operand;
  void *data;
  bool borrowed;   /* it is the lender's */
  bool registered; /* by this store */
  int64_t order;   /* of the triangular matrix that it holds; 0: it holds another */
} bench_buffer;

typedef struct bench_store {
  tsr_type type;
  tsr_context *context;
  struct bench_store *lender; /* whose host memory is used; NULL: its own */
  bool emulated;   /* an emulated device knows only memory of its own context as pinned */
  bool registers;  /* pinned memory is pinned once it is filled, by all cores: for large matrices */
  int64_t most[4]; /* elements, of each operand and of triangular matrices */
  bench_buffer buffers[STORE_BUFFERS];
  int count;
} bench_store;

/* Nothing is allocated yet, and what registers says can be set. lender may be NULL, or must live as
 * long as the store. */
void bench_store_open(tsr_type type, tsr_context *context, bench_store *lender, bool emulated,
                      bench_store *store);
void bench_store_close(bench_store *store);

/* Cases of this shape will come: before the first get. */
void bench_store_expect(bench_store *store, bench_shape shape);

/* The buffer of operand 0..2 (A, B, C) at a place; allocated and filled when it is new. */
int bench_store_get(bench_store *store, int operand, home where, void **data);

/* A matrix of that order whose triangles, either of them, leave what they multiply as large as it
 * is, however often: the diagonal is within 1 % of 1 or -1, and the rest as small as a sum of the
 * order's terms must be, with all bits of the type. The buffer is filled again for another order.
 */
int bench_store_get_triangle(bench_store *store, int64_t order, home where, void **data);

uint64_t bench_store_seed(int operand);

#endif
