/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The tuned constants of the machine, TSR_TUNE_..., from the table in tuning.def. */
#ifndef TSR_MACHINE_TUNING_H
#define TSR_MACHINE_TUNING_H

#define TSR_TUNING "machine/tuning.def"
#include "base/tuning.h"

#endif
