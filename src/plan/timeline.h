/* Drawings of a plan over time: what is predicted and, when it was traced, what was measured. */
#ifndef TSR_PLAN_TIMELINE_H
#define TSR_PLAN_TIMELINE_H

#include "plan/plan.h"

/* A picture 1200 pixels wide: a row for each queue. machine may be NULL. */
tsr_status tsr_timeline_svg(const tsr_plan *plan, const tsr_machine *machine, tsr_text *text);

/* Trace Event Format: a process for each location (predicted and measured apart), a thread for
 * each queue. */
void tsr_timeline_trace(const tsr_plan *plan, const tsr_machine *machine, tsr_text *text);

#endif
