/*
 * Where a call's operands are: the runtime is asked, not the caller.
 */
#ifndef TSR_RUN_PLACE_H
#define TSR_RUN_PLACE_H

#include "blas/call.h"
#include "run/pinner.h"

/* Fills memory, location, pinned range and alignment of an operand whose storage starts at base;
 * devices keep the engine's numbers, host is the location of host memory; what is being registered
 * counts as pinned. base may be NULL for
 * storage that is not used: it then counts as pageable host memory. what ("a") names it in
 * messages. TSR_ERR_ARGUMENT when the storage is only partly on a device. */
tsr_status tsr_place_operand(tsr_pinner *pinner, int host, tsr_type type, const char *what,
                             const void *base, tsr_operand *operand);

/* log2 of what base (as a number) and the bytes of a leading dimension are both multiples of, at
 * most 4. */
int tsr_place_alignment(uintptr_t base, int64_t ld_bytes);

#endif
