/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The verdict on a plan: one to four sentences that say what binds, why so many devices, and what
 * would be faster.
 */
#ifndef TSR_PLAN_PRINT_VERDICT_H
#define TSR_PLAN_PRINT_VERDICT_H

#include "plan/plan.h"

/* Another way to have the call done, which was planned, too. */
typedef struct tsr_alternative {
  char what[96];   /* follows "with": "A on GPU 0" */
  double seconds;  /* predicted */
  bool of_machine; /* it changes the machine, not the call */
  bool of_host;    /* it is another place in host memory, which costs no memory of a device */
} tsr_alternative;

enum { TSR_ALTERNATIVES = 12 };

/* What other plans of the call are predicted to take. */
typedef struct tsr_alternatives {
  int count;
  tsr_alternative list[TSR_ALTERNATIVES]; /* faster than the plan; the fastest first */
  double on_all;                          /* s on all devices of the machine; 0: not planned */
} tsr_alternatives;

/* Appends the sentences, in lines of at most 80 characters. known may be NULL. */
tsr_status tsr_verdict_write(const tsr_plan *plan, const tsr_machine *machine,
                             const tsr_known *known, tsr_text *text);

/* Appends the verdict as a JSON object; include/tessera.h describes it at TSR_VERDICT. */
tsr_status tsr_verdict_write_json(const tsr_plan *plan, const tsr_machine *machine,
                                  const tsr_known *known, tsr_text *text);

#endif
