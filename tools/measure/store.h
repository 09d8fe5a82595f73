/*
 * Memory for measured cases: for each operand and place one buffer, as large as the largest case
 * needs, filled with random numbers once. Pinning memory and making random numbers take longer than
 * most products.
 *
 * Element i of a buffer is random_element(type, bench_store_seed(operand), i): every matrix that
 * begins where its buffer does can be computed again.
 */
#ifndef TESSERA_MEASURE_STORE_H
#define TESSERA_MEASURE_STORE_H

#include "settings.h"

/* A, B, what is written, and a triangular matrix. */
enum { STORE_TRIANGLE = 3, STORE_OPERANDS, STORE_BUFFERS = 128 };

typedef struct bench_buffer {
  home where;
  int operand;
  int64_t most;    /* elements that are expected */
  void *data;      /* NULL: not made yet */
  bool borrowed;   /* it is the lender's */
  bool registered; /* by this store */
  int64_t order;   /* of the triangular matrix that it holds */
} bench_buffer;

typedef struct bench_store {
  tsr_type type;
  tsr_context *context;
  struct bench_store *lender; /* whose host memory is used; NULL: its own */
  bool pins; /* it pins what it borrows itself: the lender's context pins for another engine, or
                devices are emulated, which know only memory of their own context as pinned */
  bench_buffer buffers[STORE_BUFFERS];
  int count;
} bench_store;

/* A zeroed store may be closed. */
void bench_store_close(bench_store *store);

/* Gives back what is on devices; it is made again when it is needed. */
void bench_store_drop_devices(bench_store *store);

/* A matrix of so many elements will come: before the first get, of the lender too. */
int bench_store_expect(bench_store *store, int operand, home where, int64_t elements);

/* The buffer of an operand at a place; made and filled when it is new. order is that of the
 * triangular matrix, filled again for another order: either of its triangles leaves what it
 * multiplies as large as it is, however often, since the diagonal is within 1 % of 1 or -1 and the
 * rest as small as a sum of the order's terms must be, with all bits of the type. */
int bench_store_get(bench_store *store, int operand, home where, int64_t order, void **data);

uint64_t bench_store_seed(int operand);

#endif
