/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The tuned constants TSR_TUNE_... of composition, from the table in tuning.def. */
#ifndef TSR_COMPOSE_TUNING_H
#define TSR_COMPOSE_TUNING_H

#define TSR_TUNING "compose/tuning.def"
#include "base/tuning.h"

#endif
