/* Drawings of a plan over time: what is predicted and, when it was traced, what was measured. */
#ifndef TSR_PLAN_PRINT_TIMELINE_H
#define TSR_PLAN_PRINT_TIMELINE_H

#include "base/queue.h"
#include "plan/plan.h"

enum { TSR_TRACE_ROLES = TSR_QUEUE_USER + 1, TSR_TRACE_INDICES = 256 };

/* A picture 1200 pixels wide: a row for each queue. machine may be NULL. */
tsr_status tsr_timeline_svg(const tsr_plan *plan, const tsr_machine *machine,
                            const tsr_measured *measured, tsr_text *text);

/* A sequence of plans as Trace Event Format: begin, whatever is added, end. One process for each
 * location, one for whole calls and for what the host does beside them. */
typedef struct tsr_trace {
  tsr_text *text;
  bool named[TSR_MACHINE_LOCATIONS][TSR_TRACE_ROLES][TSR_TRACE_INDICES]; /* queues */
} tsr_trace;

void tsr_trace_begin(tsr_trace *trace, const tsr_machine *machine, tsr_text *text);
/* times: begin and end of each command, in seconds from the call, which was made at that time. */
void tsr_trace_plan(tsr_trace *trace, const tsr_plan *plan, const float *times, double at);
void tsr_trace_host(tsr_trace *trace, const char *name, double at, double seconds);
void tsr_trace_end(tsr_trace *trace);

/* Trace Event Format: a process for each location (predicted and measured apart), a thread for
 * each queue. times: measured, as in tsr_measured; NULL: the prediction alone. */
void tsr_timeline_trace(const tsr_plan *plan, const tsr_machine *machine, const float *times,
                        tsr_text *text);

#endif
