/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Machines built into the library, for devices that nobody has measured yet. */
#ifndef TSR_MACHINE_SHIPPED_H
#define TSR_MACHINE_SHIPPED_H

#include "machine/machine.h"

/* Makes a machine of that many devices; device: their name from the runtime ("NVIDIA H200"). If the
 * name is unknown, the machine has the least that GPUs of servers do. The CPU's rates are
 * guesses. */
tsr_status tsr_machine_shipped(const char *device, int devices, tsr_machine **machine);

#endif
