/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tessera solve: types that its files share. */
#ifndef TESSERA_SOLVE_H
#define TESSERA_SOLVE_H

#include "operand.h"
#include "progress.h"

/* The user's request, as read from the options. */
typedef struct solve_request {
  const char *a_path, *b_path, *x_path;
  bool definite; /* A is positive definite; else triangular */
  tsr_uplo uplo; /* the triangle of A that is read */
  tsr_op trans;  /* of a triangular A */
  bool json, force;
  settings settings;
} solve_request;

/* ||op(A) X - B|| / (||A|| ||X|| + ||B||), the greatest of three random vectors, in the norms of
 * rows. u: the unit roundoff of the type. */
typedef struct solve_residual {
  double value;
  double units; /* the same in n u */
  double bound; /* in n u; the largest residual that rounding explains */
  bool good;
} solve_residual;

/* A system and all that it owns. A zeroed one may be freed. */
typedef struct solve_job {
  solve_request request;
  tsr_type type;
  bool column_major; /* the layout of the call: A's order */
  int64_t n, nrhs;
  npy a_file, b_file, x_file;
  tsr_context *context;
  operand a;
  progress progress;
  double seconds;
  solve_residual residual;
} solve_job;

/* Checks X, which is in the file of X, against the files of A and B; the exit code. */
int solve_check(solve_job *job);

/* Prints the result's report; the JSON one returns the exit code. */
void solve_report_text(const solve_job *job);
int solve_report_json(const solve_job *job);

#endif
