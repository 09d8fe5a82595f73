/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef TSR_TESTS_GOLDEN_CASES_H
#define TSR_TESTS_GOLDEN_CASES_H

/* A call (golden_call.h says how it is written), and words that force a way to do it; NULL: the
 * planner chooses. told: what the words ask for, for the name of the case. */
typedef struct golden_case {
  const char *line, *told, *forced;
} golden_case;

/* The cases of one file, ended by one without a line. */
typedef struct golden_group {
  const char *name, *path;
  const golden_case *cases;
} golden_group;

extern const golden_group golden_groups[];
extern const int golden_group_count;

#endif
