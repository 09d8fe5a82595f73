/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Memory for measured cases: one buffer for each operand and home, as large as the largest case
 * needs, filled with random numbers once, since pinning memory and making random numbers take
 * longer than most products.
 *
 * Element i of a buffer is random_element(type, bench_store_seed(operand), i). A case's matrix
 * begins at the buffer's first element, so a check can compute each of its elements again.
 */
#ifndef TESSERA_MEASURE_STORE_H
#define TESSERA_MEASURE_STORE_H

#include "settings.h"

/* Operands 0 to 2 are A, B and the written matrix; STORE_TRIANGLE is a triangular A. */
enum { STORE_TRIANGLE = 3, STORE_OPERANDS, STORE_BUFFERS = 128 };

typedef struct bench_buffer {
  home where;
  int operand;
  int64_t most;    /* elements of the largest announced matrix */
  void *data;      /* NULL: not allocated yet */
  bool borrowed;   /* data is the lender's */
  bool registered; /* this store has pinned data */
  int64_t order;   /* of the triangular matrix in data */
} bench_buffer;

typedef struct bench_store {
  tsr_type type;
  tsr_context *context;
  struct bench_store *lender; /* the store whose host memory is used; NULL: its own is */
  bench_buffer buffers[STORE_BUFFERS];
  int count;
} bench_store;

/* Frees all buffers. A zeroed store may be closed. */
void bench_store_close(bench_store *store);

/* Frees the buffers on devices; bench_store_get makes them again when they are needed. */
void bench_store_drop_devices(bench_store *store);

/* Announces a matrix of so many elements, also to the lender. To be called before the first
 * bench_store_get. The exit code. */
int bench_store_expect(bench_store *store, int operand, home where, int64_t elements);

/* *data: the buffer of an operand at a home, allocated and filled if it is new. order: that of a
 * triangular matrix, which is filled again if it changes. Multiplying or solving with either of its
 * triangles any number of times keeps the size of the other matrix: its diagonal is within 1 % of 1
 * or -1, its other elements are below 1 / (2 order), and all have the full mantissa of the
 * type. The exit code. */
int bench_store_get(bench_store *store, int operand, home where, int64_t order, void **data);

/* Fills the buffer of an operand at a home, which bench_store_get has given, again. The exit code.
 */
int bench_store_renew(bench_store *store, int operand, home where);

/* The seed of an operand's random elements. */
uint64_t bench_store_seed(int operand);

#endif
