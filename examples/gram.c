/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The Gram matrix of the rows of a matrix: G = X X^T, on all GPUs of this machine, or on its CPU.
 *
 *   cc gram.c $(pkg-config --cflags --libs tessera) -o gram && ./gram
 */
#include <stdio.h>
#include <stdlib.h>

#include <tessera.h>

enum { M = 1000, K = 64 };

/* Prints why a call failed; true if it did. */
static int failed(tsr_status status) {
  if (status != TSR_OK) fprintf(stderr, "%s: %s\n", tsr_status_name(status), tsr_message());
  return status != TSR_OK;
}

static void fill(double *x) {
  for (int i = 0; i < M * K; i++) x[i] = (i * 37 % 101) / 101.0;
}

/* Prints the plan of the call that the context has just carried out. */
static void explain(tsr_context *context) {
  tsr_plan *plan;
  char *text;
  if (tsr_plan_last(context, &plan) != TSR_OK) return;
  if (tsr_plan_print(plan, TSR_TEXT, &text) == TSR_OK) {
    fputs(text, stdout);
    free(text);
  }
  tsr_plan_destroy(plan);
}

static int multiply(tsr_context *context, const double *x, double *g) {
  if (failed(tsr_dgemm(context, TSR_ROW_MAJOR, TSR_NO_TRANS, TSR_TRANS, M, M, K, 1, x, K, x, K, 0,
                       g, M))) {
    return 1;
  }
  explain(context);
  printf("G[0][0] = %g, G[0][%d] = %g, G[%d][0] = %g\n", g[0], M - 1, g[M - 1], M - 1,
         g[(size_t)(M - 1) * M]);
  return 0;
}

int main(void) {
  tsr_context *context;
  if (failed(tsr_context_create(NULL, &context))) return 1;
  double *x = malloc(sizeof(double) * M * K);
  double *g = malloc(sizeof(double) * M * M);
  int code = 1;
  if (x && g) {
    fill(x);
    code = multiply(context, x, g);
  }
  free(x);
  free(g);
  tsr_context_destroy(context);
  return code;
}
