/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A result in pageable memory that was never touched has no pages yet. The first write to each page
 * waits until the system has made it, which is slower than the copy (measured: 1.7 GB/s a thread
 * instead of 9). Staging threads that have nothing to copy make the pages beforehand, slice by
 * slice.
 */
#ifndef TSR_RUN_PREFAULT_H
#define TSR_RUN_PREFAULT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "blas/call.h"

typedef struct tsr_prefault {
  char *base;     /* of the result; NULL: no pages are to be made */
  size_t element; /* bytes of an element */
  int64_t rows, cols, ld;
  tsr_uplo uplo;       /* the part of the result that the call writes */
  int64_t width;       /* columns of a slice */
  atomic_llong column; /* the first column of the next slice */
} tsr_prefault;

/* Prepares p. There is work only if C, at base, is pageable, the call does not read it, and one of
 * a few sampled pages is missing. */
void tsr_prefault_start(tsr_prefault *p, const tsr_call *call, void *base);

/* Makes the pages of the next slice. It changes no data, so other threads may write there
 * meanwhile. Any thread may call it. False: no slice is left. */
bool tsr_prefault_step(tsr_prefault *p);

#endif
