/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The tuned constants of src/front, TSR_TUNE_..., from the table in tuning.def. */
#ifndef TSR_FRONT_TUNING_H
#define TSR_FRONT_TUNING_H

#define TSR_TUNING "front/tuning.def"
#include "base/tuning.h"

#endif
