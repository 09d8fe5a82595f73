/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The parts of a panel: rectangles with a constant pitch both in the matrix and in the panel, one
 * for each run of consecutive indices of k.
 */
#ifndef TSR_CLUSTER_PLAN_PARTS_H
#define TSR_CLUSTER_PLAN_PARTS_H

#include <stddef.h>
#include <stdint.h>

/* `height` runs of `width` bytes each. */
typedef struct tsr_panel_part {
  const char *from;  /* the first run, in the matrix */
  size_t from_pitch; /* bytes from one run to the next in the matrix */
  size_t to;         /* bytes from the beginning of the panel to the first run */
  size_t to_pitch;   /* bytes from one run to the next in the panel */
  size_t width, height;
} tsr_panel_part;

typedef void (*tsr_panel_part_visit)(void *user, const tsr_panel_part *part);

/* The parts of one panel. visit_lines(panel, at, count, visit, user) calls visit(user, part) for
 * each part of lines at .. at+count-1. It may be called for any lines, in any order, and by several
 * threads at once. */
typedef struct tsr_panel_parts {
  void (*visit_lines)(const void *panel, int64_t at, int64_t count, tsr_panel_part_visit visit,
                      void *user);
  const void *panel;
} tsr_panel_parts;

/* Packs lines at .. at+count-1, of `line` bytes each, into host memory at `to`, without gaps. */
void tsr_panel_parts_pack(const tsr_panel_parts *parts, size_t line, int64_t at, int64_t count,
                          char *to);

#endif
