/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tessera gemm: types that its files share. */
#ifndef TESSERA_GEMM_H
#define TESSERA_GEMM_H

#include "gemm_pages.h"
#include "finite.h"
#include "operand.h"
#include "progress.h"
#include "verify.h"

/* The user's request, as read from the options. */
typedef struct gemm_request {
  const char *a_path, *b_path, *c_path, *c0_path, *timeline;
  tsr_type type; /* 0: that of A */
  tsr_op transa, transb;
  scalar alpha, beta;
  home homes[3];
  int64_t repeat;
  bool verify, json, details, progress, force;
  size_t resident; /* bytes of the files in memory, at most; 0: pages_default_limit() */
  settings settings;
} gemm_request;

/* Matrices that may have elements that are no finite numbers. */
enum { ODD_A, ODD_B, ODD_C0, ODD_C, ODD_MATRICES };

/* The rows and columns of C that have such elements because A, B or C0 has some. */
typedef struct reached_part {
  bool *rows, *cols; /* m, n of them; NULL: none are reached */
  int64_t row_count, col_count;
} reached_part;

/* A product and all that it owns. A zeroed one may be freed. */
typedef struct gemm_job {
  gemm_request request;
  tsr_type type;
  bool column_major; /* the layout of the call: A's order */
  int64_t m, n, k;
  npy a_file, b_file, c0_file, c_file;
  bool has_c0;
  tsr_context *context;
  operand a, b;
  tsr_op blas_transa, blas_transb;
  void *c_placed; /* C at its home; NULL: C is in the mapped file */
  tsr_plan *plan; /* of the last call; NULL: it needed none */
  tsr_prediction prediction;
  progress progress;
  page_keeper *keeper; /* NULL: the files are within the limit */
  size_t resident;     /* the limit in bytes */
  double cold, median; /* s; median is 0 without repeats */
  double touched;      /* bytes of memory that were touched first in the first call */
  verify_result check;
  nonfinite odd[ODD_MATRICES]; /* C: of those alone that the inputs do not explain */
  reached_part reached;
} gemm_job;

/* Prints the result's report; the JSON one returns the exit code. */
void gemm_report_text(const gemm_job *job);
int gemm_report_json(const gemm_job *job);

#endif
