/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Finds out from the runtime where the operands of a call are.
 */
#ifndef TSR_RUN_PLACE_H
#define TSR_RUN_PLACE_H

#include "blas/call.h"
#include "run/pinner.h"

/* Fills in the memory, location, pinned range and alignment of the operand whose storage begins at
 * base. A device's location is its number in the engine; host is the location of the first
 * node of host memory. Memory whose registration is under way counts as pinned. base = NULL, for
 * storage that is not used, counts as pageable. what ("a") names the operand in messages.
 * TSR_ERR_ARGUMENT if the storage is only partly on a device. */
tsr_status tsr_place_operand(tsr_pinner *pinner, int host, tsr_type type, const char *what,
                             const void *base, tsr_operand *operand);

/* log2 of the largest power of two, at most 16, that divides both base and ld_bytes. */
int tsr_place_alignment(uintptr_t base, int64_t ld_bytes);

#endif
