/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Inside the library across processes: its tuned constants, TSR_TUNE_..., from the table in
 * tuning.def. */
#ifndef TSR_CLUSTER_TUNING_H
#define TSR_CLUSTER_TUNING_H

#define TSR_TUNING "cluster/tuning.def"
#include "base/tuning.h"

#endif
