/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Inside the planner: how long the host memory of several sockets takes at least. */
#ifndef TSR_PLAN_MODEL_SOCKETS_H
#define TSR_PLAN_MODEL_SOCKETS_H

#include "machine/machine.h"

/* The ways between host memory and a device. */
typedef enum tsr_host_way {
  TSR_WAY_STRAIGHT, /* over the link between them */
  TSR_WAY_STAGED,   /* through the staging ring near the device */
  TSR_WAY_EITHER,
  TSR_WAYS
} tsr_host_way;

/* Bytes that enter, and that leave, each location of host memory by a way; index: location -
 * devices. */
typedef struct tsr_host_load {
  double in[TSR_WAYS][TSR_MACHINE_NODES + 1], out[TSR_WAYS][TSR_MACHINE_NODES + 1];
} tsr_host_load;

/* A lower bound of the seconds in which all devices together can take these bytes from host memory
 * and bring these bytes there, whichever device takes what: no link and no channel is used for
 * longer. 0 if there is no host memory to compute it. */
double tsr_sockets_least_time(const tsr_machine *machine, const tsr_host_load *load);

#endif
