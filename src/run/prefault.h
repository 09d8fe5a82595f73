/*
 * A result in ordinary memory that was never touched has no pages yet: whoever writes to it first
 * waits for each of them, at a fraction of the rate of a copy (measured: 1.7 GB/s a thread against
 * 9). Threads that have nothing to copy make them beforehand, slice by slice.
 */
#ifndef TSR_RUN_PREFAULT_H
#define TSR_RUN_PREFAULT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "blas/call.h"

typedef struct tsr_prefault {
  char *base; /* of the result; NULL: there is nothing to do */
  size_t element;
  int64_t rows, cols, ld;
  tsr_uplo uplo;       /* the part that is written to */
  int64_t width;       /* columns of a slice */
  atomic_llong column; /* where the next slice begins */
} tsr_prefault;

/* Looks whether the result C of a call that does not read it is in pageable memory of which pages
 * are missing (a few are looked at). */
void tsr_prefault_start(tsr_prefault *p, const tsr_call *call, void *base);

/* Makes the pages of the next slice; changes no data, so anybody may write there meanwhile. False:
 * nothing is left to do. Any thread. */
bool tsr_prefault_step(tsr_prefault *p);

#endif
