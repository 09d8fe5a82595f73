/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Whether two matrices share memory, byte for byte: two panels of one matrix, its even and its odd
 * columns, or two triangles in one square do not overlap, however their storage interleaves.
 */
#ifndef TSR_BASE_OVERLAP_H
#define TSR_BASE_OVERLAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera.h"

/* The part of a column-major matrix that a call reads or writes; ld is at least rows. A triangle is
 * a square matrix with uplo; its diagonal belongs to it unless no_diagonal. */
typedef struct tsr_storage {
  const void *base;
  int64_t rows, cols, ld; /* elements */
  tsr_uplo uplo;          /* TSR_GENERAL: all of it */
  bool no_diagonal;
} tsr_storage;

/* Whether x and y share a byte; size: bytes of an element. The test takes some nanoseconds if both
 * have the same ld or if one ends before the other begins; else up to that time for each column of
 * the matrix with fewer columns. */
bool tsr_storage_overlap(const tsr_storage *x, const tsr_storage *y, size_t size);

#endif
