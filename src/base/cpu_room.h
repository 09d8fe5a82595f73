/*
 * Room in the address space for the CPU's BLAS.
 *
 * OpenBLAS maps a buffer for each of its threads when it is loaded, and one more for each call that
 * runs at the same time as others; it keeps them. If the system refuses one (ulimit -v, ulimit -d,
 * strict overcommit), versions before 0.3.30 ask again for ever and later ones end the program. So
 * the library is loaded, and called, only where a trial has shown that the buffers fit.
 */
#ifndef TSR_BASE_CPU_ROOM_H
#define TSR_BASE_CPU_ROOM_H

#include <stdbool.h>

#include "base/status.h"

/* Whether a BLAS may be loaded. TSR_ERR_MEMORY if its threads, their buffers and a first call would
 * not fit: names the bytes, the limit and the remedy. A library that is loaded already always may.
 */
tsr_status tsr_cpu_room_to_load(const char *library);

/* Whether calls of the loaded BLAS are watched: if it is OpenBLAS. Not watched at first. */
void tsr_cpu_room_watch(bool watch);

/* Around each call of the BLAS. As many calls as have run at the same time before enter at once.
 * One more enters if the buffers of all that are inside fit once more; else it waits until another
 * leaves. TSR_ERR_MEMORY if it is alone, and no call was ever inside. *calls: how many are inside,
 * with this one; for leave. */
tsr_status tsr_cpu_room_enter(int *calls);
void tsr_cpu_room_leave(int calls);

#endif
