/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The CPU's BLAS: OpenBLAS, or the library that TESSERA_CPU_BLAS names. The library is loaded at
 * run time and called only through a table filled by dlopen and dlsym: a call by its linked name
 * would come back to us when we are preloaded.
 */
#ifndef TSR_CPU_BLAS_H
#define TSR_CPU_BLAS_H

#include "arithmetic/kernel.h"
#include "base/status.h"

/* Finds and loads the library; once it is loaded, further calls return at once. Any thread may call
 * this. TSR_ERR_ENGINE: no library was found; the message lists the names that were tried.
 * TSR_ERR_MEMORY: the library does not fit into the address space (cpu/room.h). */
tsr_status tsr_cpu_blas_load(void);

/* The path or name of the loaded library; "" while none is loaded. */
const char *tsr_cpu_blas_name(void);

/* A symbol of the loaded library; NULL: it has none of that name, or none is loaded. */
void *tsr_cpu_blas_symbol(const char *name);

/* describe.c: the path of the loaded library's file, and its name and version ("OpenBLAS
 * 0.3.21"); "": it does not say, or none is loaded. */
void tsr_cpu_blas_file(char *file, size_t room);
void tsr_cpu_blas_version(char *version, size_t room);

/*
 * Runs one kernel on the calling thread with the CPU's BLAS, after tsr_cpu_blas_load(). Operands of
 * 16 bits are converted to float and back. Operands that the kernel does not read according to
 * kernel.h are not read. GEMM, ADD and SCALE take any int64_t extents: a GEMM that exceeds the
 * library's int is cut into several calls.
 *
 * TSR_ERR_UNSUPPORTED, for the other kernels, names an extent beyond an int, a type in which the
 * routine does not exist, or a routine that the library lacks. TSR_ERR_MEMORY: no memory of
 * tsr_cpu_kernel_room, or none for the library's own buffers (cpu/room.h).
 */
tsr_status tsr_cpu_kernel(const tsr_kernel_args *args);

/* The same, with memory from the caller for conversions and for the product of a trmm that adds to
 * c. tsr_cpu_kernel_room() says how many bytes: 0 for other kernels, one constant for these. */
size_t tsr_cpu_kernel_room(const tsr_kernel_args *args);
tsr_status tsr_cpu_kernel_in(const tsr_kernel_args *args, void *room);

/* Between enter and leave the calling thread runs the CPU's BLAS. If the library itself calls a
 * BLAS symbol that a door of ours defines, the door passes the call back to the library. Pairs
 * nest. */
void tsr_cpu_blas_enter(void);
void tsr_cpu_blas_leave(void);
/* Whether the calling thread is between enter and leave. */
bool tsr_cpu_blas_is_inside(void);

/* The number of threads that the CPU's BLAS uses in one call; 0: no library is loaded, or the
 * library does not say. Setting it has no effect on such a library, or if threads is below 1. */
int tsr_cpu_blas_threads(void);
void tsr_cpu_blas_set_threads(int threads);

#endif
