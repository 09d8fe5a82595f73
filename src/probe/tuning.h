/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The tuned constants TSR_TUNE_... of the probe, from the table in tuning.def. */
#ifndef TSR_PROBE_TUNING_H
#define TSR_PROBE_TUNING_H

#define TSR_TUNING "probe/tuning.def"
#include "base/tuning.h"

#endif
