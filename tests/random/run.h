/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Runs random problems through the public interface and judges what came out.
 */
#ifndef TSR_TESTS_RUN_H
#define TSR_TESTS_RUN_H

#include "problem.h"
#include "tessera_model.h"

/* Contexts of the problem at hand, kept for the next one if it is of the same kind. */
typedef struct runner {
  bool ready;
  problem kind;
  tsr_context *context[2]; /* the second for threads that have one each */
  int64_t raised;          /* problems that needed, and got, more memory than they were given */
} runner;

enum { RUN_WHY = 900 };

/* What else is to happen right before a thread's calls (begins), and right behind them; NULL:
 * nothing. */
extern void (*run_beside_calls)(tsr_context *context, bool begins);

/* Runs one problem. False, with the reason in why, if anything is not as it must be. A budget that
 * is too small must be refused with nothing touched and with the least budget that will do; the
 * problem is then run with that one. */
bool run_problem(runner *r, const problem *p, char why[RUN_WHY]);

void runner_close(runner *r);

tsr_status run_context(const problem *p, tsr_context **context);

/* The budget that a message of TSR_ERR_MEMORY names; 0 if it names none. */
size_t run_least_budget(const char *message);

#endif
