/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The calls of a problem, through the doors of the public interface: for half of the problems, and
 * those whose calls have an arithmetic of their own, what takes the operation as data, for the
 * others the functions that have its name.
 */
#ifndef TSR_TESTS_CALL_H
#define TSR_TESTS_CALL_H

#include "operand.h"

enum { CALL_SETS = 2, CALL_CHANGED = 300 };

/* All the calls, on the sets in turn, until they are complete or one fails, in the problem's
 * floating-point environment. refused: memory of devices may be, beside the calls. changed: how
 * they have changed the environment; "": they have not. info: of the factorisation of each set. */
tsr_status call_run(const problem *p, tsr_context *context, const operand set[CALL_SETS][3],
                    bool refused, char changed[CALL_CHANGED], int64_t info[CALL_SETS]);

#endif
