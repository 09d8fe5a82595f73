/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The kernels as a module of a device. */
#ifndef TSR_ENGINE_HIP_MODULE_H
#define TSR_ENGINE_HIP_MODULE_H

#include "base/status.h"
#include "functions.h"

/* Loads the kernels on a device, which is current. built_in: what the build's compiler made, for
 * some architectures; for others the kernels are compiled now. One thread at a time calls this. */
tsr_status tsr_hip_module_load(const void *built_in, int device, hipModule_t *module);

#endif
