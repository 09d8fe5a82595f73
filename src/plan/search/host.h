/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Inside the planner: the host memory that first guesses of a call reckon with. */
#ifndef TSR_PLAN_SEARCH_HOST_H
#define TSR_PLAN_SEARCH_HOST_H

#include "blas/call.h"
#include "machine/machine.h"

/* The location of the host memory that most elements of the operands are at; if none is in host
 * memory, that of node 0. */
int tsr_search_host(const tsr_machine *machine, const tsr_call *call);

/* The largest distance between columns of an operand in host memory, bytes; 0: there is none. */
double tsr_search_pitch(const tsr_machine *machine, const tsr_call *call);

#endif
