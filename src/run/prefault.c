/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "run/prefault.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arithmetic/kernel.h"
#include "base/types.h"
#include "blas/family.h"
#include "plan/axes.h"
#include "run/tuning.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE \
  23 /* since Linux 5.14; older systems refuse, and writes make the pages */
#endif

/* ---- Looking -------------------------------------------------------------- */

static bool is_missing(const char *at, size_t page) {
  unsigned char present = 1;
  char *begin = (char *)((uintptr_t)at / page * page);
  return mincore(begin, page, &present) == 0 && (present & 1) == 0;
}

/* Whether one of a few pages, spread evenly over the part that is written, is missing. */
static bool has_missing(const tsr_prefault *p) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (int i = 0; i < TSR_TUNE_PREFAULT_LOOKS; i++) {
    int64_t j = p->cols * (2 * i + 1) / (2 * TSR_TUNE_PREFAULT_LOOKS), begin, end;
    tsr_triangle_rows(p->uplo, j, p->rows, &begin, &end);
    int64_t row = begin + (end - begin) / 2;
    if (begin < end && is_missing(p->base + (size_t)(j * p->ld + row) * p->element, page))
      return true;
  }
  return false;
}

void tsr_prefault_start(tsr_prefault *p, const tsr_call *call, void *base) {
  const tsr_operand *c = &call->operand[TSR_C_];
  int64_t element = (int64_t)tsr_type_get(call->type)->size;
  *p = (tsr_prefault){.element = (size_t)element, .rows = c->rows, .cols = c->cols, .ld = c->ld};
  if (c->memory != TSR_PAGEABLE || call->beta != TSR_ZERO || tsr_is_in_place(call->operation))
    return;
  if (c->rows * c->cols * element < TSR_TUNE_PREFAULT_LEAST) return;
  p->uplo = tsr_call_has_triangular_c(call) ? call->uplo : TSR_GENERAL;
  p->width = TSR_TUNE_PREFAULT_SLICE / (c->rows * element) + 1;
  p->base = base;
  if (!has_missing(p)) p->base = NULL;
}

/* ---- Making --------------------------------------------------------------- */

/* Makes all pages that [begin, end) touches. False: the system refuses. */
static bool make(char *begin, char *end, size_t page) {
  uintptr_t from = (uintptr_t)begin / page * page;
  uintptr_t to = ((uintptr_t)end + page - 1) / page * page;
  return madvise((void *)from, to - from, MADV_POPULATE_WRITE) == 0;
}

/* Makes the pages of columns [from, to). Columns with less than a page between them go to the
 * kernel together. */
static bool make_columns(const tsr_prefault *p, int64_t from, int64_t to) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *first = NULL, *last = NULL;
  for (int64_t j = from; j < to; j++) {
    int64_t begin, end;
    tsr_triangle_rows(p->uplo, j, p->rows, &begin, &end);
    if (begin >= end) continue;
    char *low = p->base + (size_t)(j * p->ld + begin) * p->element;
    char *high = p->base + (size_t)(j * p->ld + end) * p->element;
    if (first != NULL && low > last + page) {
      if (!make(first, last, page)) return false;
      first = low;
    }
    if (first == NULL) first = low;
    last = high;
  }
  return first == NULL || make(first, last, page);
}

bool tsr_prefault_step(tsr_prefault *p) {
  if (p->base == NULL || atomic_load_explicit(&p->column, memory_order_relaxed) >= p->cols)
    return false;
  int64_t from = atomic_fetch_add_explicit(&p->column, p->width, memory_order_relaxed);
  if (from >= p->cols) return false;
  int64_t to = p->cols - from < p->width ? p->cols : from + p->width;
  if (!make_columns(p, from, to)) atomic_store_explicit(&p->column, p->cols, memory_order_relaxed);
  return true;
}
