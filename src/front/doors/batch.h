/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Doors of batches: many products that do not depend on each other, in groups of equal flags,
 * extents and scalars (gemm_batch), or one group at equal distances (gemm_batch_strided).
 *
 * Each product is decided on as a call of its own. Those that stay on the CPU go to the next in as
 * few calls as possible: a batch of which nothing is offloaded goes on unchanged, in one. The
 * report counts a batch as one call.
 */
#ifndef TSR_FRONT_DOORS_BATCH_H
#define TSR_FRONT_DOORS_BATCH_H

#include "front/doors/doors.h"

typedef struct tsr_door_batch {
  /* The call, as the program made it. Integers and flags of groups are in arrays. */
  tsr_type type;
  size_t element; /* bytes of a number */
  tsr_layout layout;
  bool wide;  /* integers have 64 bits; else 32 */
  bool cblas; /* flags are CBLAS's numbers; else letters */
  int64_t groups;
  const void *transa, *transb, *m, *n, *k, *lda, *ldb, *ldc;
  const void *sizes;        /* how many products each group has */
  const void *alpha, *beta; /* numbers, one for each group */
  const void *const *a, *const *b;
  void *const *c; /* one for each product; NULL: at distances */
  const void *first_a, *first_b;
  void *first_c;
  int64_t stride_a, stride_b, stride_c; /* elements */

  /* What the next is to do, set by tsr_door_batch_rest: `count` groups from number `group` on,
   * whose first product has the number `product`. size: how many products the only group has then;
   * 0: all of each. */
  int64_t group, count, product, size;

  /* Private. The group that is looked at, its first product's number, and how many of its products
   * are done; -1: it was not asked about. */
  tsr_door *door;
  tsr_door_routine next;
  bool passes; /* the whole batch goes to the next */
  bool counts; /* for the report */
  bool inside; /* the next is doing what it was given */
  int64_t at, at_product, done;
  tsr_offload_call largest, asked; /* of the batch; of the products that the next is to do */
  tsr_offload_visit all, asking;
  double weight; /* multiplications that the next is to do */
} tsr_door_batch;

/* Begins a batch, for full. The result is the next, which full calls for what tsr_door_batch_rest
 * gives it, as long as that is true; tsr_door_batch_rest carries out all else. */
tsr_door_routine tsr_door_batch_enter(tsr_door *door, tsr_door_batch *batch, const void *caller);
bool tsr_door_batch_rest(tsr_door_batch *batch);

#endif
