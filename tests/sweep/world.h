/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the visits of tessera.h work with: a context and some matrices, whose contents before the
 * call are known.
 */
#ifndef TSR_TESTS_FAULT_WORLD_H
#define TSR_TESTS_FAULT_WORLD_H

#include "sweep.h"

enum { N = 40, COUNT = N * N, BYTES = COUNT * 16 /* of a matrix of any type */ };

enum { A, B, C, D, MATRICES };

typedef struct world {
  const sweep_visit *visit;
  tsr_context *context;
  void *matrix[MATRICES];   /* of BYTES each; contiguous, of leading dimension N unless said */
  void *was[MATRICES];      /* what they held before the call */
  void *expected;           /* C when all has gone well */
  bool pinned;              /* the matrices are */
  bool at_device[MATRICES]; /* each is in the memory of device 0 */
  /* What visits keep. */
  tsr_capture *capture;
  tsr_plan *plan;
  char *text;
  void *pointer;
  double number;
  int64_t info; /* of factorisations */
  int count;
} world;

/* Words of a visit's setup, in any order. */
#define SETUP_CPU "cpu "             /* the CPU's BLAS */
#define SETUP_TIGHT "tight "         /* a budget that the product does not fit in */
#define SETUP_EXACT "exact "         /* reproducible */
#define SETUP_TRACE "trace "         /* a timeline is kept */
#define SETUP_SOME "some "           /* a budget for what one product needs, and no more */
#define SETUP_UNCHECKED "unchecked " /* not in checking mode, where plans are verified */
#define SETUP_PINNED "pinned "       /* matrices are in pinned memory */
#define SETUP_DEVICE "device "       /* matrices are in the memory of device 0 */
#define SETUP_MIXED "mixed "         /* A is in host memory, B and C in that of device 0 */
#define SETUP_PROGRESS "progress "   /* the program is told how far calls are */

extern const sweep_rig world_rig;

tsr_options world_options(const char *setup);
enum { TILE = 16 }; /* of the contexts */

/* Small whole numbers in a matrix of a type, so that sums are exact in any order. */
void world_fill(tsr_type type, void *matrix, int seed);

/* Whether two matrices have the same values; bytes of each. */
bool world_same(tsr_type type, const void *x, const void *y, size_t bytes);
/* Of a matrix of the world, whatever memory it is in. */
bool world_holds(world *w, int matrix, tsr_type type, const void *values);

/* A and B are as they were; and C, too. */
bool world_inputs_kept(world *w);
bool world_kept(world *w);

/* The matrices get their contents again, and what is on devices of them is forgotten. */
void world_reset(world *w);

/* Sets w->expected to what the call makes of the matrices, by the CPU's BLAS. */
void world_expect(world *w, const tsr_level3 *what, const void *alpha, const void *beta);

/* C = A B + C, N x N, in TSR_D. */
extern const tsr_level3 world_product;
tsr_status world_multiply_async(world *w);

/* What asynchronous calls have made of C is brought home: it is right. */
bool world_comes_right(world *w, tsr_type type);

/* ---- The tables ---- */

extern const sweep_visit call_visits[], factor_visits[], solve_visits[], composition_visits[],
    capture_visits[], plan_visits[], context_visits[], memory_visits[];

#endif
