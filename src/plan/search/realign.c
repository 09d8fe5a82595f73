/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Operands that kernels do not use in place: reproducible results need the same alignment
 * everywhere, and some devices are much slower when columns are not aligned to whole loads. A and B
 * are copied to aligned tiles first, and products go to a partial C.
 */
#include <math.h>

#include "plan/search/search.h"

/* Whether aligned copies save more time than they cost: the cost grows with the sizes of A and B,
 * the gain with the product. */
static bool pays(const tsr_call *call) {
  double m = (double)call->m, n = (double)call->n;
  return tsr_kernel_minds_alignment(call->type) && call->k >= TSR_TUNE_REALIGN_K &&
         2 * m * n >= TSR_TUNE_REALIGN_ORDER * (m + n);
}

static bool is_misaligned(const tsr_search *s, int x) {
  const tsr_operand *o = &s->call->operand[x];
  return o->rows > 0 && tsr_is_device(s->machine, o->location) &&
         1 << o->alignment < TSR_KERNEL_LOAD;
}

/* Whether copies of these operands fit the smallest budget with memory left for the rest of the
 * call. */
static bool fits_budgets(const tsr_search *s, unsigned realigned) {
  const tsr_type_info *type = tsr_type_get(s->call->type);
  double bytes = 0, least = INFINITY;
  for (int x = 0; x < TSR_OPERANDS; x++) {
    double size = (double)(x == TSR_C_ ? tsr_type_get(type->wide)->size : type->size);
    const tsr_operand *o = &s->call->operand[x];
    if (realigned >> x & 1) bytes += (double)o->rows * (double)o->cols * size;
  }
  for (int d = 0; d < s->machine->devices; d++) least = fmin(least, (double)s->options->budget[d]);
  return TSR_TUNE_REALIGN_BUDGET * bytes <= least;
}

unsigned tsr_search_realigned(const tsr_search *s) {
  unsigned realigned = 0;
  if (tsr_call_has_form(s->call)) return 0; /* kernels on lines load single elements */
  if (s->options->reproducible) return 1u << TSR_A | 1u << TSR_B_;
  if (tsr_search_family(s) != TSR_PRODUCT || tsr_call_scales_only(s->call)) return 0;
  if (s->options->residency != NULL || !pays(s->call)) return 0;
  for (int x = 0; x < TSR_OPERANDS; x++) realigned |= (unsigned)is_misaligned(s, x) << x;
  return fits_budgets(s, realigned) ? realigned : 0;
}
