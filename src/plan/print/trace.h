/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Timelines of plans, as events for trace viewers (Trace Event Format). */
#ifndef TSR_PLAN_PRINT_TRACE_H
#define TSR_PLAN_PRINT_TRACE_H

#include "base/queue.h"
#include "plan/plan.h"

enum { TSR_TRACE_ROLES = TSR_QUEUE_USER + 1, TSR_TRACE_INDICES = 256 };

/* Kinds of commands in a timeline: copies by matrix (TSR_A .. TSR_V), then kernels. All routines
 * beside a triangle are one kind, and inverting a block another. */
enum {
  TSR_TRACE_GEMM = TSR_MATRICES,
  TSR_TRACE_ADD,
  TSR_TRACE_SCALE,
  TSR_TRACE_ROUTINE,
  TSR_TRACE_RESIDUES,
  TSR_TRACE_RESIDUE_GEMM,
  TSR_TRACE_INVERT,
  TSR_TRACE_KINDS
};

/* The kind of a command, and the name of a kind. */
int tsr_trace_kind(const tsr_plan *plan, const tsr_command *command);
const char *tsr_trace_kind_name(int kind);

/* Writes the timeline of one plan: a process for each location (predicted and measured apart), a
 * thread for each queue. times: measured, as in tsr_measured; NULL: the prediction alone. machine
 * may be NULL. */
void tsr_trace_write(const tsr_plan *plan, const tsr_machine *machine, const float *times,
                     tsr_text *text);

/* The timeline of a sequence of plans: tsr_trace_begin, any number of plans and host events,
 * tsr_trace_end. It has one process for each location, and one for whole calls and for the work of
 * the host. */
typedef struct tsr_trace {
  tsr_text *text;
  bool named[TSR_MACHINE_LOCATIONS][TSR_TRACE_ROLES]
            [TSR_TRACE_INDICES]; /* queues that have been named */
} tsr_trace;

void tsr_trace_begin(tsr_trace *trace, const tsr_machine *machine, tsr_text *text);
/* Adds a plan. times: begin and end of each command, s from the call; at: when the call was made,
 * s. */
void tsr_trace_plan(tsr_trace *trace, const tsr_plan *plan, const float *times, double at);
/* Adds an event on the host that begins at time `at` [s]. */
void tsr_trace_host(tsr_trace *trace, const char *name, double at, double seconds);
void tsr_trace_end(tsr_trace *trace);

#endif
