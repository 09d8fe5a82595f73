/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What the tests of the planner share: calls whose operands are at given homes. */
#ifndef TSR_TESTS_PLANNING_H
#define TSR_TESTS_PLANNING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/plan.h"

/* How much longer the search's plan may take than the best of a part of the devices: two searches
 * end in different plans, each the best of those near it. */
static const double planning_noise = 1.08;

typedef struct planning_case {
  char type, ta, tb;
  int64_t m, n, k;
  double alpha, beta;
  const char *homes; /* three of h (pageable), p (pinned), digit of a device */
  int64_t tile;
} planning_case;

static inline void must(tsr_status status) {
  if (status != TSR_OK) fail_msg("%s", tsr_message());
}

/* All operands in pinned host memory. */
static inline void planning_pin(const tsr_machine *machine, tsr_call *call) {
  for (int i = 0; i < TSR_OPERANDS; ++i) {
    tsr_operand *o = &call->operand[i];
    o->memory = TSR_PINNED;
    o->location = machine->devices;
    o->pinned_begin = 0;
    o->pinned_end = tsr_operand_bytes(o, call->type);
    o->alignment = 4;
  }
}

/* The factorisation of a matrix of order n, pinned. */
static inline tsr_call planning_factor(const tsr_machine *machine, tsr_factorisation routine,
                                       char type, int64_t n) {
  const tsr_factor what = {.routine = routine,
                           .type = (tsr_type)type,
                           .layout = TSR_COL_MAJOR,
                           .uplo = TSR_LOWER,
                           .n = n,
                           .lda = n};
  tsr_call call;
  tsr_binding binding;
  must(tsr_call_factor(&what, NULL, false, &call, &binding));
  planning_pin(machine, &call);
  return call;
}

/* A routine on n x n matrices in pinned memory, alpha and beta of which are `scalar`. */
static inline tsr_call planning_square(const tsr_machine *machine, tsr_operation operation,
                                       char type, int64_t n, double scalar) {
  const tsr_level3 what = {.operation = operation,
                           .type = (tsr_type)type,
                           .layout = TSR_COL_MAJOR,
                           .side = TSR_LEFT,
                           .uplo = TSR_LOWER,
                           .transa = TSR_NO_TRANS,
                           .transb = TSR_NO_TRANS,
                           .diag = TSR_NON_UNIT,
                           .m = n,
                           .n = n,
                           .k = n,
                           .lda = n,
                           .ldb = n,
                           .ldc = n};
  tsr_call call;
  tsr_binding binding;
  bool exchanged;
  float single[2] = {(float)scalar, 0};
  double wide[2] = {scalar, 0};
  const void *factor = type == 'd' || type == 'z' ? (const void *)wide : single;
  must(
      tsr_call_level3(&what, factor, NULL, NULL, factor, NULL, false, &call, &binding, &exchanged));
  planning_pin(machine, &call);
  return call;
}

/* homes: as in planning_case. */
static inline void planning_set_homes(const tsr_machine *machine, const char *homes,
                                      tsr_call *call) {
  for (int i = 0; i < TSR_OPERANDS; ++i) {
    tsr_operand *o = &call->operand[i];
    char home = homes[i];
    o->memory = home == 'h' ? TSR_PAGEABLE : home == 'p' ? TSR_PINNED : TSR_DEVICE;
    o->location = home == 'h' || home == 'p' ? machine->devices : home - '0';
    o->pinned_begin = 0;
    o->pinned_end = home == 'p' ? tsr_operand_bytes(o, call->type) : 0;
    o->alignment = 4;
  }
}

static inline tsr_call planning_call(const tsr_machine *machine, const planning_case *c) {
  tsr_call call;
  tsr_binding binding;
  float single[4] = {(float)c->alpha, 0, (float)c->beta, 0};
  double wide[4] = {c->alpha, 0, c->beta, 0};
  int doubles = c->type == 'd' || c->type == 'z';
  const void *alpha = doubles ? (void *)&wide[0] : (void *)&single[0];
  const void *beta = doubles ? (void *)&wide[2] : (void *)&single[2];
  int64_t lda = c->ta == 'N' ? c->m : c->k, ldb = c->tb == 'N' ? c->k : c->n;
  tsr_level3 what = {.operation = TSR_GEMM,
                     .type = (tsr_type)c->type,
                     .layout = TSR_COL_MAJOR,
                     .transa = (tsr_op)c->ta,
                     .transb = (tsr_op)c->tb,
                     .m = c->m,
                     .n = c->n,
                     .k = c->k,
                     .lda = lda,
                     .ldb = ldb,
                     .ldc = c->m};
  bool exchanged;
  tsr_status status =
      tsr_call_level3(&what, alpha, NULL, NULL, beta, NULL, false, &call, &binding, &exchanged);
  if (status != TSR_OK) fail_msg("%s", tsr_message());
  planning_set_homes(machine, c->homes, &call);
  return call;
}

static inline tsr_plan_options planning_options(const tsr_machine *machine, int64_t tile) {
  tsr_plan_options options = {.obey_devices = true, .tile = tile, .ring = 64 << 20};
  for (int d = 0; d < machine->devices; ++d)
    options.budget[d] = (size_t)(0.8 * machine->device[d].memory);
  options.search_seconds = 1e9; /* all candidates: the same plan however slow this computer is */
  return options;
}

static inline tsr_machine *planning_machine(const char *file_or_string) {
  tsr_machine *machine = NULL;
  tsr_status status = tsr_machine_load(file_or_string, &machine);
  if (status != TSR_OK) fail_msg("%s: %s", file_or_string, tsr_message());
  return machine;
}

/* A machine of machines/. */
static inline tsr_machine *planning_shipped(const char *file) {
  char path[1024];
  const char *root = getenv("TESSERA_SOURCE_DIR");
  snprintf(path, sizeof path, "%s/machines/%s", root && *root ? root : ".", file);
  return planning_machine(path);
}

static inline tsr_plan *planning_plan(const tsr_machine *machine, const planning_case *c) {
  tsr_call call = planning_call(machine, c);
  tsr_plan_options options = planning_options(machine, c->tile);
  tsr_plan *plan = NULL;
  tsr_status status = tsr_plan_make(machine, &call, &options, &plan);
  if (status != TSR_OK) fail_msg("%s", tsr_message());
  return plan;
}

#endif
