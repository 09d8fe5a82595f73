/* The timeline of a plan as a picture (SVG). */
#ifndef TSR_FRONT_PICTURE_H
#define TSR_FRONT_PICTURE_H

#include "plan/plan.h"

/* 1200 pixels wide, with a row for each queue: what was predicted and, if measured has times, what
 * was measured. machine may be NULL. */
tsr_status tsr_picture_draw(const tsr_plan *plan, const tsr_machine *machine,
                            const tsr_measured *measured, tsr_text *text);

#endif
