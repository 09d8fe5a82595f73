/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A machine as a picture (SVG): host memory, GPUs, links with their rates, what links share. */
#ifndef TSR_MACHINE_PICTURE_DRAW_H
#define TSR_MACHINE_PICTURE_DRAW_H

#include "machine/machine.h"

/* How busy a plan keeps the parts of a machine: shares of its time, 0 to 1. */
typedef struct tsr_machine_busy {
  char title[160];                                           /* the call, and its predicted time */
  double link[TSR_MACHINE_LOCATIONS][TSR_MACHINE_LOCATIONS]; /* [from][to] */
  double channel[TSR_MACHINE_CHANNELS];
  double kernels[TSR_MACHINE_DEVICES];
} tsr_machine_busy;

/* Appends the picture; load: colours it, may be NULL. The same machine and load give the same
 * bytes. TSR_ERR_MEMORY. */
tsr_status tsr_machine_draw(const tsr_machine *machine, const tsr_machine_busy *load,
                            tsr_text *text);

#endif
