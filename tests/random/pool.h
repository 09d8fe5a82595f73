/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A pool of memory that the matrices of a sequence of calls are cut from, so that they overlap in
 * every way; and its twin on the host, on which the same calls are carried out by the CPU's BLAS.
 */
#ifndef TSR_TESTS_POOL_H
#define TSR_TESTS_POOL_H

#include "problem.h"
#include "tessera_model.h"

/* Columns of `fast` elements, ld elements apart, from `offset` on; elements of the type given. */
typedef struct part {
  tsr_type type;
  int64_t offset; /* in real numbers */
  int64_t fast, slow, ld;
} part;

typedef struct pool {
  bool wide;       /* doubles, else floats */
  int64_t reals;   /* numbers */
  int64_t ld;      /* of most parts, in real numbers */
  char *ours;      /* what the library works on */
  char *expected;  /* the twin */
  tsr_context *at; /* whose memory ours is; NULL: malloc's */
} pool;

/* context NULL: ordinary memory, else pinned. Filled with numbers small enough that products of
 * matrices of them stay so. */
bool pool_make(tsr_context *context, bool wide, rng *random, pool *made);
void pool_free(pool *p);

/* The number at a place; the twin's with twin. */
void *pool_at(const pool *p, int64_t offset, bool twin);

/* Draws a part of fast x slow elements; false: it does not fit. */
bool pool_draw(const pool *p, tsr_type type, int64_t fast, int64_t slow, rng *random, part *drawn);
bool pool_share(const pool *p, const part *a, const part *b);

/* New numbers in a part, in both. */
void pool_change(pool *p, const part *x, rng *random);

/* A positive definite matrix, symmetric or Hermitian, in a square part, in both. */
void pool_set_definite(pool *p, const part *x, rng *random);

/* Whether ours is as expected in a part, or (NULL) everywhere; *where is the first number that is
 * not. */
bool pool_equal(const pool *p, const part *x, int64_t *where);

double pool_number(const pool *p, int64_t offset, bool twin);

#endif
