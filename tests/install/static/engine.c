/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* In place of the CUDA engine: it calls base/ back, and opens no device. */
#include "engine/engine.h"

#include "base/status.h"

static tsr_status refuse(const tsr_engine_options *options, tsr_engine_state **state,
                         tsr_device_info *info, int *count) {
  (void)options, (void)state, (void)info, (void)count;
  return tsr_fail(TSR_ERR_ENGINE, "the imitated engine was loaded");
}

extern const tsr_engine tsr_engine_cuda;
const tsr_engine tsr_engine_cuda = {.name = "cuda", .open = refuse};
