/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Admission of calls to the CPU's BLAS: its room in the address space, and the end of the process.
 *
 * OpenBLAS maps a buffer for each of its threads when it is loaded, and one more for each call that
 * runs at the same time as others; it keeps the buffers. If the system refuses a buffer (ulimit -v,
 * ulimit -d, strict overcommit), versions before 0.3.30 ask again for ever and later ones end the
 * program. Therefore the library is loaded and called only after a trial mapping has shown that the
 * buffers fit.
 *
 * When the process ends by exit, OpenBLAS's destructor frees its buffers and its table of kernels;
 * threads that are inside then crash. So once exit has begun, calls enter only while the thread
 * that carries it out is itself in a public function of ours: it may still call us in handlers and
 * destructors, and no destructor runs meanwhile. When it leaves, it waits for the calls inside.
 */
#ifndef TSR_CPU_ROOM_H
#define TSR_CPU_ROOM_H

#include <stdbool.h>

#include "base/status.h"

/* Whether a BLAS may be loaded. TSR_ERR_MEMORY: its file, the buffers and stacks of its threads and
 * the buffer of a first call do not fit; the message names the bytes, the limit and the remedy. A
 * library that the process has loaded already is always allowed. */
tsr_status tsr_cpu_room_to_load(const char *library);

/* Whether the process has loaded a library of that name already. */
bool tsr_cpu_room_is_loaded(const char *library);

/* Says whether the loaded BLAS is OpenBLAS, whose calls need trials. Before the first call of this
 * function it is not. */
void tsr_cpu_room_watch(bool watch);

/* Enter and leave enclose each call of the BLAS. If no more calls are inside than have been inside
 * at the same time before, a call enters at once: the library has their buffers. Otherwise it
 * enters when the buffers of all calls inside, itself included, fit once more; until then it waits
 * for another call to leave. TSR_ERR_MEMORY: the buffer does not fit, and no call was ever inside
 * that could leave one. *calls: how many calls are inside, this one included; pass it to leave. */
tsr_status tsr_cpu_room_enter(int *calls);
void tsr_cpu_room_leave(int calls);

#endif
