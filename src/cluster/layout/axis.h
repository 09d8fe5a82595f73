/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One direction of a block-cyclic layout: the indices 0 .. extent-1 are cut into blocks, and block
 * b belongs to coordinate (source + b) mod count of the grid. The blocks have one extent, but for
 * the first, or are irregular: a list says where each of them ends. A contiguous part of an axis is
 * again an axis, with another first block, so the same functions serve whole matrices and parts.
 */
#ifndef TSR_CLUSTER_LAYOUT_AXIS_H
#define TSR_CLUSTER_LAYOUT_AXIS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tsr_axis {
  int64_t extent;
  int64_t first, block; /* extents of the first block and of the others, at least 1; irregular:
                           block is their mean, for estimates */
  int source;           /* the coordinate that owns the first block */
  int count;            /* coordinates of the grid in this direction */
  bool everywhere;      /* each coordinate has all indices; blocks and source say nothing */
  /* Irregular blocks: block b ends before index ends[b] - offset. NULL: blocks are regular. The
   * list is not owned. */
  const int64_t *ends;
  int64_t blocks, offset;
  uint64_t digest; /* of the whole list; axes may be compared when the list is gone */
} tsr_axis;

/* The indices at .. end-1. */
typedef struct tsr_span {
  int64_t at, end;
} tsr_span;

/* The axis of a whole matrix in irregular blocks, whose last one ends at the extent. */
tsr_axis tsr_axis_irregular(const int64_t *ends, int64_t blocks, int source, int count);

/* Whether two axes have blocks of the same limits, whoever owns them. */
bool tsr_axis_same_blocks(const tsr_axis *a, const tsr_axis *b);

/* The coordinate that owns index `at`. */
int tsr_axis_owner(const tsr_axis *axis, int64_t at);

/* How many indices below `at` a coordinate owns. If the coordinate owns `at`, this is the local
 * index of `at`. */
int64_t tsr_axis_before(const tsr_axis *axis, int coordinate, int64_t at);

/* How many indices a coordinate owns. */
int64_t tsr_axis_local(const tsr_axis *axis, int coordinate);

/* The most that any coordinate owns. */
int64_t tsr_axis_most(const tsr_axis *axis);

/* The indices at .. at+extent-1 as an axis, numbered from 0. */
tsr_axis tsr_axis_part(const tsr_axis *axis, int64_t at, int64_t extent);

/* Whether every index has the same owner in a and in b. Their extents must be equal. */
bool tsr_axis_agrees(const tsr_axis *a, const tsr_axis *b);

/* Finds the first run of consecutive indices in span->at .. end-1 that coordinate pa owns in a and
 * pb owns in b, and writes it to *span. False: none is left. For the next run, set span->at to
 * span->end and call again. */
bool tsr_axis_common(const tsr_axis *a, int pa, const tsr_axis *b, int pb, int64_t end,
                     tsr_span *span);

/* How many indices in at .. end-1 coordinate pa owns in a and pb owns in b. */
int64_t tsr_axis_common_count(const tsr_axis *a, int pa, const tsr_axis *b, int pb, int64_t at,
                              int64_t end);

#endif
