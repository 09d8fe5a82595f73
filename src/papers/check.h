/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Checks of arguments that the models of several papers have. */
#ifndef TSR_PAPERS_CHECK_H
#define TSR_PAPERS_CHECK_H

#include "base/status.h"
#include "machine/machine.h"

/* The greatest extent of a matrix or a tile that the models take, elements. */
#define TSR_PAPERS_MOST (INT64_C(1) << 40)

static inline tsr_status tsr_papers_check_address(const char *name, const void *address) {
  if (address != NULL) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "%s is NULL; give its address", name);
}

/* Sets *devices to the machine's number if it is 0. TSR_ERR_ARGUMENT: the machine has not as many.
 */
static inline tsr_status tsr_papers_set_devices(const tsr_machine *machine, int *devices) {
  if (*devices == 0) *devices = machine->devices;
  if (*devices >= 1 && *devices <= machine->devices) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "devices is %d; the machine \"%s\" has %d; give 1 to as many",
                  *devices, machine->name, machine->devices);
}

#endif
