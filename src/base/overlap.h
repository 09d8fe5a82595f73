/*
 * Whether two matrices share memory: exactly, byte for byte, so that panels of one matrix, every
 * other column, or a triangle beside another in one square do not, however their storage is
 * interleaved.
 */
#ifndef TSR_BASE_OVERLAP_H
#define TSR_BASE_OVERLAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera.h"

/* What is read or written of a matrix, column-major; ld is at least rows. Of a triangle, which is
 * square: uplo with the diagonal, or without. */
typedef struct tsr_storage {
  const void *base;
  int64_t rows, cols, ld; /* elements */
  tsr_uplo uplo;          /* TSR_GENERAL: all of it */
  bool no_diagonal;
} tsr_storage;

/* Of elements of so many bytes. Takes some nanoseconds for matrices with the same ld, and for those
 * of which one ends before the other begins; for others at most as much for each column of the one
 * that has fewer. */
bool tsr_storage_overlap(const tsr_storage *x, const tsr_storage *y, size_t size);

#endif
