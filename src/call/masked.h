/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Plans that use some of a machine's devices only (tsr_plan_options.devices): what is asked for is
 * put in terms of a machine that has these devices alone, and the plan for that is put in terms of
 * the whole machine again.
 */
#ifndef TSR_CALL_MASKED_H
#define TSR_CALL_MASKED_H

#include "plan/mapping.h"
#include "plan/plan.h"
#include "plan/residency.h"

/* A call, and all that a plan for it depends on, for the devices that may be used. */
typedef struct tsr_masked {
  tsr_machine *machine;
  tsr_call call;
  tsr_plan_options options;
  tsr_mapping mapping; /* of a distribution: blocks of other devices go to those that may be used; a
                          call does not follow such a mapping */
  tsr_residency residency;
  int devices;                     /* that may be used, in rising order: */
  int device[TSR_MACHINE_DEVICES]; /* numbers of the whole machine */
  int all;                         /* devices of the whole machine */
} tsr_masked;

/* Whether some devices may not be used. */
bool tsr_is_masked(const tsr_machine *machine, const tsr_plan_options *options);

/* The caller frees *masked by tsr_masked_free. TSR_ERR_DEVICE: an operand, or a cached block, is in
 * the memory of a device that may not be used. TSR_ERR_MEMORY: no host memory. */
tsr_status tsr_masked_make(const tsr_machine *machine, const tsr_call *call,
                           const tsr_mapping *mapping, const tsr_plan_options *options,
                           tsr_masked *masked);
void tsr_masked_free(tsr_masked *masked);

/* Puts a plan for the masked call in terms of the whole machine. call: as given to
 * tsr_masked_make. */
void tsr_masked_widen(const tsr_masked *masked, const tsr_call *call, tsr_plan *plan);

#endif
