/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The kernels as modules of a device. One thread at a time calls the functions. */
#ifndef TSR_ENGINE_HIP_MODULE_H
#define TSR_ENGINE_HIP_MODULE_H

#include "base/status.h"
#include "functions.h"

/* Loads what the build's compiler made of a source, for some architectures, on a device, which is
 * current. *module stays as it is if there is nothing for the device's. */
tsr_status tsr_hip_module_load(const void *built_in, int device, hipModule_t *module);

/* The same of all kernels, which are compiled now, unless that has been done before. */
tsr_status tsr_hip_module_compile(int device, hipModule_t *module);

#endif
