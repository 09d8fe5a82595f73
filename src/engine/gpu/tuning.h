/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The tuned constants TSR_TUNE_... of the CUDA engine, from the table in tuning.def. */
#ifndef TSR_ENGINE_GPU_TUNING_H
#define TSR_ENGINE_GPU_TUNING_H

#define TSR_TUNING "engine/gpu/tuning.def"
#include "base/tuning.h"

#endif
