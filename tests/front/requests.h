/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Correct arguments of every operation, and how each of them is made wrong. */
#ifndef TSR_TESTS_REQUESTS_H
#define TSR_TESTS_REQUESTS_H

#include "level3.h"

enum { M = 5, N = 6, K = 7, ROOM = 2 * 16 * 16 };

static double a[ROOM], b[ROOM], c[ROOM], one[2] = {1, 0};

typedef struct request {
  tsr_level3 what;
  level3_data data;
} request;

/* Every argument in the order of the list. */
static const struct {
  tsr_operation operation;
  const char *arguments;
} lists[] = {
    {TSR_GEMM, "type layout transa transb m n k alpha a lda b ldb beta c ldc"},
    {TSR_GEMMT, "type layout uplo transa transb n k alpha a lda b ldb beta c ldc"},
    {TSR_SYMM, "type layout side uplo m n alpha a lda b ldb beta c ldc"},
    {TSR_HEMM, "type layout side uplo m n alpha a lda b ldb beta c ldc"},
    {TSR_SYRK, "type layout uplo trans n k alpha a lda beta c ldc"},
    {TSR_HERK, "type layout uplo trans n k alpha a lda beta c ldc"},
    {TSR_SYR2K, "type layout uplo trans n k alpha a lda b ldb beta c ldc"},
    {TSR_HER2K, "type layout uplo trans n k alpha a lda b ldb beta c ldc"},
    {TSR_TRMM, "type layout side uplo transa diag m n alpha a lda b ldb"},
    {TSR_TRSM, "type layout side uplo transa diag m n alpha a lda b ldb"},
};

static inline int in_place(tsr_operation operation) {
  return operation == TSR_TRMM || operation == TSR_TRSM;
}

static inline request good(tsr_operation operation) {
  return (request){{.operation = operation,
                    .type = TSR_Z,
                    .layout = TSR_COL_MAJOR,
                    .side = TSR_LEFT,
                    .uplo = TSR_LOWER,
                    .transa = TSR_NO_TRANS,
                    .transb = TSR_NO_TRANS,
                    .diag = TSR_NON_UNIT,
                    .m = M,
                    .n = N,
                    .k = K,
                    .lda = 16,
                    .ldb = 16,
                    .ldc = 16},
                   {one, a, b, one, c}};
}

/* Makes the argument wrong. */
static inline void spoil(request *x, const char *name) {
  tsr_level3 *w = &x->what;
  int b_is_c = in_place(w->operation);
  if (!strcmp(name, "type")) w->type = (tsr_type)'q';
  if (!strcmp(name, "layout")) w->layout = (tsr_layout)'X';
  if (!strcmp(name, "side")) w->side = (tsr_side)'M';
  if (!strcmp(name, "uplo")) w->uplo = TSR_GENERAL;
  if (!strcmp(name, "transa") || !strcmp(name, "trans")) w->transa = (tsr_op)'Q';
  if (!strcmp(name, "transb")) w->transb = (tsr_op)0;
  if (!strcmp(name, "diag")) w->diag = (tsr_diag)'D';
  if (!strcmp(name, "m")) w->m = -1;
  if (!strcmp(name, "n")) w->n = -2;
  if (!strcmp(name, "k")) w->k = INT64_MIN;
  if (!strcmp(name, "alpha")) x->data.alpha = NULL;
  if (!strcmp(name, "a")) x->data.a = NULL;
  if (!strcmp(name, "lda")) w->lda = 0;
  if (!strcmp(name, "b")) *(b_is_c ? (const void **)&x->data.c : &x->data.b) = NULL;
  if (!strcmp(name, "ldb")) *(b_is_c ? &w->ldc : &w->ldb) = -3;
  if (!strcmp(name, "beta")) x->data.beta = NULL;
  if (!strcmp(name, "c")) x->data.c = NULL;
  if (!strcmp(name, "ldc")) w->ldc = 1;
}

/* Splits a list into its names. */
static inline int split(const char *list, char names[16][8]) {
  int count = 0, used;
  for (const char *at = list; count < 16 && sscanf(at, "%7s%n", names[count], &used) == 1;
       at += used)
    ++count;
  return count;
}

#endif
