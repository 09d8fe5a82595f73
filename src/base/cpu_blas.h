/*
 * The CPU's BLAS, called only through a table filled by dlopen and dlsym: linked names would come
 * back to us when we are preloaded. OpenBLAS by default (TESSERA_CPU_BLAS names another library).
 */
#ifndef TSR_BASE_CPU_BLAS_H
#define TSR_BASE_CPU_BLAS_H

#include "base/kernel.h"
#include "base/status.h"

/* Finds the library once (thread-safe). TSR_ERR_ENGINE says what was looked for, TSR_ERR_MEMORY
 * that it does not fit into the address space (base/cpu_room.h). */
tsr_status tsr_cpu_blas_load(void);

/* Path or name of what was loaded; "" before. */
const char *tsr_cpu_blas_name(void);

/* Carries out one kernel on the calling thread with the CPU's BLAS; 16-bit types by way of float.
 * What kernel.h says is not read is not. GEMM, ADD and SCALE take any int64_t extents (longer ones
 * than the BLAS's int are cut); of the other routines TSR_ERR_UNSUPPORTED names an extent beyond an
 * int, a type that they do not exist in, or a routine that the library lacks. Needs
 * tsr_cpu_blas_load(). TSR_ERR_MEMORY when there is none for conversions, or for the library's own
 * buffers (base/cpu_room.h). */
tsr_status tsr_cpu_kernel(const tsr_kernel_args *args);

/* The same with the memory for conversions given: as many bytes as tsr_cpu_kernel_room says, which
 * is the same for all kernels that need any; 0: none. */
size_t tsr_cpu_kernel_room(const tsr_kernel_args *args);
tsr_status tsr_cpu_kernel_in(const tsr_kernel_args *args, void *room);

/* What a thread calls between enter and leave is the CPU's BLAS at work: where that reaches the
 * symbols of our doors, they hand it straight back. Calls nest. */
void tsr_cpu_blas_enter(void);
void tsr_cpu_blas_leave(void);
bool tsr_cpu_blas_is_inside(void);

/* Number of threads the CPU's BLAS uses in one call; 0 when it cannot be told. */
int tsr_cpu_blas_threads(void);
void tsr_cpu_blas_set_threads(int threads);

#endif
