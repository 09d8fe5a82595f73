/* tessera gemm: what its files share. */
#ifndef TESSERA_GEMM_H
#define TESSERA_GEMM_H

#include "gemm_pages.h"
#include "gemm_progress.h"
#include "operand.h"
#include "verify.h"

/* What was asked for. */
typedef struct gemm_request {
  const char *a_path, *b_path, *c_path, *c0_path, *timeline;
  tsr_type type; /* 0: that of A */
  tsr_op transa, transb;
  scalar alpha, beta;
  home homes[3];
  int64_t repeat;
  bool verify, json, report, progress;
  size_t resident; /* of the files, at most, bytes; 0: as much as pages_default_limit says */
  settings settings;
} gemm_request;

/* A product in the making. Zeroed, it can be ended. */
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
  void *c_placed; /* C at its home; NULL: in the mapped file */
  tsr_plan *plan; /* of the last call; NULL when there is none */
  tsr_prediction prediction;
  progress_line progress;
  page_keeper *keeper; /* NULL: all fits */
  size_t resident;     /* the limit */
  double cold, median; /* s; median is 0 without repeats */
  verify_result check;
} gemm_job;

/* Prints what was done; the latter's exit code. */
void gemm_report_text(const gemm_job *job);
int gemm_report_json(const gemm_job *job);

#endif
