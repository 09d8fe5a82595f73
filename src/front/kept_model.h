/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The kept measurement of this computer for who knows only a device's model, since no engine is
 * loaded. */
#ifndef TSR_FRONT_KEPT_MODEL_H
#define TSR_FRONT_KEPT_MODEL_H

#include "machine/machine.h"

typedef struct tsr_kept_model {
  tsr_machine *machine; /* NULL: there is none */
  char *path;           /* its file */
} tsr_kept_model;

/* Finds the measurement with the most devices, of which one has that model. Free it. TSR_ERR_IO or
 * TSR_ERR_MACHINE: there is none, and a file of this computer cannot be read. */
tsr_status tsr_kept_model_find(const char *model, tsr_kept_model *found);
void tsr_kept_model_free(tsr_kept_model *found);

#endif
