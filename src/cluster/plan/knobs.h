/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The table of knobs of a product across processes. The search goes through its rows in order and
 * tries each row's values. A new knob is a field of tsr_pstrategy, a row of the table, and the code
 * in strategy.c that honours it.
 */
#ifndef TSR_CLUSTER_PLAN_KNOBS_H
#define TSR_CLUSTER_PLAN_KNOBS_H

#include <stddef.h>

#include "base/descent.h"
#include "cluster/plan/strategy.h"

enum { TSR_PKNOB_VALUES = 8 };

typedef struct tsr_pknob {
  const char *name;
  const char *unit;         /* of its values; NULL if they are words */
  const char *says;         /* one sentence: what the knob does */
  size_t field;             /* offset of an int64_t in tsr_pstrategy */
  const char *const *words; /* for the values 0, 1, ...; NULL: values are numbers */
  tsr_change change;
  int64_t value[TSR_PKNOB_VALUES]; /* the values to try; -1 ends the list */
  /* Whether the search should try `value` from strategy `at`; NULL: always. */
  bool (*worth)(const tsr_pproblem *problem, const tsr_pstrategy *at, int64_t value);
} tsr_pknob;

/* The table, and the number of its rows. */
const tsr_pknob *tsr_pknobs(int *count);

/* The knob's field in a strategy. */
static inline int64_t *tsr_pknob_in(const tsr_pknob *knob, tsr_pstrategy *strategy) {
  return (int64_t *)((char *)strategy + knob->field);
}

static inline int64_t tsr_pknob_value(const tsr_pknob *knob, const tsr_pstrategy *strategy) {
  return *(const int64_t *)((const char *)strategy + knob->field);
}

#endif
