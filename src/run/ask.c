/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Devices that have failed are asked whether they work, and are used again or left out for good. */
#include "base/log.h"
#include "run/inside.h"

/* A device that fails again and again would make each call twice. */
static void ask(tsr_runner *runner, int device) {
  uint32_t bit = 1u << device;
  bool works = runner->engine->recover(runner->state, device) == TSR_OK, again = works;
  bool doubted = (atomic_fetch_and(&runner->doubted, ~bit) & bit) != 0;
  if (!doubted) again &= ++runner->failed[device] < TSR_TUNE_DEVICE_FAILURES;
  if (again)
    atomic_fetch_and(&runner->out, ~bit);
  else
    atomic_fetch_or(&runner->lost, bit);
  tsr_log(TSR_LOG_INFO, "device %d failed%s", device,
          again   ? ", and works again"
          : works ? " too often: it is left out from now on"
                  : ", and does not answer: it is left out from now on");
}

void tsr_runner_ask(tsr_runner *runner, uint32_t devices) {
  tsr_runner_occupy(runner);
  devices |= atomic_load(&runner->doubted);
  for (int d = 0; d < runner->devices; d++)
    if ((devices & atomic_load(&runner->out) & ~atomic_load(&runner->lost)) >> d & 1)
      ask(runner, d);
  tsr_runner_leave(runner);
}

void tsr_runner_ask_all(tsr_runner *runner) {
  tsr_runner_ask(runner, UINT32_MAX);
  for (int d = 0; d < runner->devices; d++) {
    if (!(tsr_runner_well(runner) >> d & 1)) continue;
    if (runner->engine->recover(runner->state, d) != TSR_OK) tsr_runner_blame(runner, d);
  }
  tsr_runner_ask(runner, UINT32_MAX);
}
