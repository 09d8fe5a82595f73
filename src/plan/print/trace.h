/* Plans over time, as events for trace viewers (Trace Event Format). */
#ifndef TSR_PLAN_PRINT_TRACE_H
#define TSR_PLAN_PRINT_TRACE_H

#include "base/queue.h"
#include "plan/plan.h"

enum { TSR_TRACE_ROLES = TSR_QUEUE_USER + 1, TSR_TRACE_INDICES = 256 };

/* What a timeline tells apart: copies by matrix, then kernels; all routines for triangles are one
 * kind. */
enum {
  TSR_TRACE_GEMM = TSR_MATRICES,
  TSR_TRACE_ADD,
  TSR_TRACE_SCALE,
  TSR_TRACE_ROUTINE,
  TSR_TRACE_KINDS
};

int tsr_trace_kind(const tsr_plan *plan, const tsr_command *command);
const char *tsr_trace_kind_name(int kind);

/* One plan: a process for each location (predicted and measured apart), a thread for each queue.
 * times: measured, as in tsr_measured; NULL: the prediction alone. machine may be NULL. */
void tsr_trace_write(const tsr_plan *plan, const tsr_machine *machine, const float *times,
                     tsr_text *text);

/* A sequence of plans: begin, whatever is added, end. One process for each location, one for whole
 * calls and for what the host does beside them. */
typedef struct tsr_trace {
  tsr_text *text;
  bool named[TSR_MACHINE_LOCATIONS][TSR_TRACE_ROLES][TSR_TRACE_INDICES]; /* queues */
} tsr_trace;

void tsr_trace_begin(tsr_trace *trace, const tsr_machine *machine, tsr_text *text);
/* times: begin and end of each command, in seconds from the call, which was made at that time. */
void tsr_trace_plan(tsr_trace *trace, const tsr_plan *plan, const float *times, double at);
void tsr_trace_host(tsr_trace *trace, const char *name, double at, double seconds);
void tsr_trace_end(tsr_trace *trace);

#endif
