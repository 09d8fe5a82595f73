/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The tuned constants TSR_TUNE_... of the runner, from the table in tuning.def. */
#ifndef TSR_RUN_TUNING_H
#define TSR_RUN_TUNING_H

#define TSR_TUNING "run/tuning.def"
#include "base/tuning.h"

#endif
