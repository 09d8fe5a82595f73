/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Programs that time kernels of an engine on its first device, without plans. */
#ifndef BENCH_ONE_DEVICE_H
#define BENCH_ONE_DEVICE_H

#include "engine/engine.h"

typedef struct one_device {
  const tsr_engine *engine;
  tsr_engine_state *state;
  tsr_queue *queue; /* for kernels */
} one_device;

/* Measures with that device; what points to what one_device_run was given. */
typedef tsr_status one_device_program(one_device *on, const void *what);

/* Opens an engine and a queue, runs the program, and closes both. Returns the exit code: 2, with a
 * message on standard error that begins with `name`, if something failed. */
int one_device_run(const char *name, const char *engine, one_device_program *program,
                   const void *what);

/* Returns when all that was submitted to the queue is complete. */
tsr_status one_device_wait(const one_device *on);

/* Allocates a matrix of zeros, which alpha = 0 and beta = 0 make. The caller frees it, also if the
 * status is not TSR_OK and *matrix is not NULL. */
tsr_status one_device_zeros(const one_device *on, tsr_type type, int64_t rows, int64_t columns,
                            void **matrix);

/* *us: microseconds of a kernel. It is repeated for so many seconds, many in the queue at a time,
 * in five turns of which the fastest counts, after one call that loads its code. */
tsr_status one_device_time(const one_device *on, const tsr_kernel_args *args, double seconds,
                           double *us);

/* Numbers of an option, from 1 to 65536, with commas between them. */
enum { NUMBERS_MOST = 16 };

typedef struct numbers {
  long item[NUMBERS_MOST];
  int count;
} numbers;

/* False: the text is no such list. */
bool numbers_read(const char *text, numbers *list);

#endif
