/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Another plan does the parts of C that the run of a plan has left undone, whatever the reason:
 * products that could not promise their accuracy are computed natively, and the parts of a failed
 * device by the other devices, or by the CPU. Calls that leave nothing enter nothing of this.
 */
#ifndef TSR_FRONT_LEFT_H
#define TSR_FRONT_LEFT_H

#include "front/attempt.h"

/* Does what the attempt, which ended with this status, has left; returns the status of the whole
 * call. Afterwards nothing is left. TSR_ERR_DEVICE: C is undefined, or as it was: the message says
 * which. */
tsr_status tsr_left_do(tsr_attempt *x, tsr_status status);

/* Makes an asynchronous call whose result was lost again, and waits for it; directory.again. */
tsr_status tsr_left_again(void *context, const tsr_call *call, const tsr_binding *binding,
                          bool exchanged);

/* Before a call: asks the devices that have failed whether they work again, and plans for those
 * that do. */
void tsr_left_choose_devices(tsr_context *context);

/* Whether that is to be done. */
static inline bool tsr_left_has_failed_devices(const tsr_context *context) {
  return tsr_runner_well(context->calls.runner) != atomic_load(&context->plans->devices) ||
         tsr_runner_may_ask(context->calls.runner);
}

#endif
