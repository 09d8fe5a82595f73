/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sequences of calls, each of which starts from what the ones before it left on the devices. The
 * first line says the machine, the matrices, all column-major and without gaps, and options of all
 * calls; then there is a line for each step.
 *
 *   h200x4 d X:16384x16384p Y:16384x2048h [budget=...]   the type of all, and p pinned or h
 * pageable dtrsm RLTN 8192x1024 X@0,0 - X@1024,0 [alpha=1 ...]  CALL, and where A, B and C begin
 *   home L X@1024,1024 1024x1024      what is newer on devices comes home (L, U or G)
 *   forget X@0,0 1024x1024            the host has changed it
 *   map X 1024x1024@2x2               C is computed there from now on
 *   distribute X@0,0 8192x8192 1024x1024@2x2
 */
#ifndef TSR_TESTS_GOLDEN_SEQUENCE_H
#define TSR_TESTS_GOLDEN_SEQUENCE_H

#include "plan/golden.h"

typedef struct golden_sequence {
  const char *name, *line;
  const char *const *steps; /* ended by NULL */
} golden_sequence;

/* Notes a result for each step but map and forget. */
void golden_sequence_note(golden_book *book, const golden_sequence *sequence);

extern const golden_sequence golden_sequences[]; /* ended by one without a name */

#endif
