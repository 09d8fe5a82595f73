/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The steps of a solver: asynchronous calls on parts of its matrices. A step leaves its result on
 * the devices for the next one. A capture takes the solver's call, and none of the steps.
 */
#ifndef TSR_FRONT_SOLVE_STEPS_H
#define TSR_FRONT_SOLVE_STEPS_H

#include "front/context.h"

/* The context of a solver's steps, and the type, layout and triangle of all of its matrices. */
typedef struct tsr_steps {
  tsr_context *context;
  tsr_type type;
  tsr_layout layout;
  tsr_uplo uplo; /* of each triangle */
  size_t size;   /* bytes of an element */
  bool *begun;   /* out: a step was submitted; NULL: nobody asks */
} tsr_steps;

/* A matrix or a part of one: where it begins, and its leading dimension. */
typedef struct tsr_step_matrix {
  char *at;
  int64_t ld;
} tsr_step_matrix;

tsr_steps tsr_steps_of(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo);

/* The part of a matrix that begins at a row and a column. */
tsr_step_matrix tsr_step_matrix_at(const tsr_steps *s, tsr_step_matrix of, int64_t row,
                                   int64_t col);

/* op(A) X = alpha B or X op(A) = alpha B, and B = alpha op(A) B or B = alpha B op(A): A is a
 * triangle, B m x n, alpha 1 or -1. */
tsr_status tsr_step_trsm(const tsr_steps *s, tsr_side side, tsr_op op, tsr_diag diag, int64_t m,
                         int64_t n, int alpha, tsr_step_matrix a, tsr_step_matrix b);
tsr_status tsr_step_trmm(const tsr_steps *s, tsr_side side, tsr_op op, tsr_diag diag, int64_t m,
                         int64_t n, int alpha, tsr_step_matrix a, tsr_step_matrix b);

/* C = A B, n x n or the triangle of C; A is n x k. */
tsr_status tsr_step_gemm(const tsr_steps *s, int64_t n, tsr_step_matrix a, tsr_step_matrix b,
                         tsr_step_matrix c);
tsr_status tsr_step_gemmt(const tsr_steps *s, int64_t n, int64_t k, tsr_step_matrix a,
                          tsr_step_matrix b, tsr_step_matrix c);

/* The triangle of C becomes op(A) op(A)^H + beta C, n x n; op(A) has k columns; beta 0 or 1. */
tsr_status tsr_step_herk(const tsr_steps *s, tsr_op op, int64_t n, int64_t k, int beta,
                         tsr_step_matrix a, tsr_step_matrix c);

tsr_status tsr_step_potrf(const tsr_steps *s, int64_t n, tsr_step_matrix a, int64_t *info);

/* B, n x nrhs, becomes the X of L L^H X = B, or U^H U X = B: A holds the factor. */
tsr_status tsr_steps_solve(const tsr_steps *s, int64_t n, int64_t nrhs, tsr_step_matrix a,
                           tsr_step_matrix b);

/* Waits until all steps so far are complete. Whether they failed is known when their results come
 * home. */
void tsr_steps_await(const tsr_steps *s);

/* Brings an m x n matrix home, waits for it, and lets the devices forget it: afterwards the program
 * may change it. */
tsr_status tsr_steps_end(const tsr_steps *s, int64_t m, int64_t n, tsr_step_matrix of);

/* Lets the devices forget a matrix without bringing it home. */
tsr_status tsr_steps_drop(const tsr_steps *s, int64_t m, int64_t n, tsr_step_matrix of);

/* Waits for the calls that write an n x n triangle, and fills in the place of the first zero on its
 * diagonal, from 1; 0: there is none. */
tsr_status tsr_steps_find_zero(const tsr_steps *s, int64_t n, tsr_step_matrix a, int64_t *place);

#endif
