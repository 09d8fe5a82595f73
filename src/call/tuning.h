/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The tuned constants TSR_TUNE_... of what every call passes through, from the table in tuning.def.
 */
#ifndef TSR_CALL_TUNING_H
#define TSR_CALL_TUNING_H

#define TSR_TUNING "call/tuning.def"
#include "base/tuning.h"

#endif
