/*
 * One direction of a block-cyclic layout: indices 0 .. extent-1 in blocks, dealt in turn to the
 * coordinates 0 .. count-1 of a grid. The same arithmetic serves whole matrices and parts of them:
 * a part of an axis is an axis, with another first block.
 */
#ifndef TSR_CLUSTER_AXIS_H
#define TSR_CLUSTER_AXIS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tsr_axis {
  int64_t extent;
  int64_t first, block; /* extents of the first block and of the others, at least 1 */
  int source;           /* who has the first block */
  int count;            /* over how many coordinates */
} tsr_axis;

/* Indices at .. end-1, which lie one behind another at their owners. */
typedef struct tsr_span {
  int64_t at, end;
} tsr_span;

/* Who owns an index. */
int tsr_axis_owner(const tsr_axis *axis, int64_t at);

/* How many indices below `at` a coordinate owns: where it has `at`, if that is its own. */
int64_t tsr_axis_before(const tsr_axis *axis, int coordinate, int64_t at);

/* How many it owns. */
int64_t tsr_axis_local(const tsr_axis *axis, int coordinate);

/* The most that any coordinate owns. */
int64_t tsr_axis_most(const tsr_axis *axis);

/* The indices at .. at+extent-1 as an axis of their own. */
tsr_axis tsr_axis_part(const tsr_axis *axis, int64_t at, int64_t extent);

/* Whether every index has the same owner in both, which have the same extent. */
bool tsr_axis_agrees(const tsr_axis *a, const tsr_axis *b);

/* The first indices not below span->at and below `end` that pa owns in a and pb in b; false: there
 * are none. To go on, set span->at to span->end. */
bool tsr_axis_common(const tsr_axis *a, int pa, const tsr_axis *b, int pb, int64_t end,
                     tsr_span *span);

/* How many those are, from `at`. */
int64_t tsr_axis_common_count(const tsr_axis *a, int pa, const tsr_axis *b, int pb, int64_t at,
                              int64_t end);

#endif
