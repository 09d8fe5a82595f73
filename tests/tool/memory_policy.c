/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Preloaded into the command, this tells on standard error over which host memory nodes it asks the
 * system to interleave memory, as a mask, and says yes: the computer may have one node. */
#include <dlfcn.h>
#include <linux/mempolicy.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

long syscall(long number, ...) {
  long (*next)(long, ...);
  void *symbol = dlsym(RTLD_NEXT, "syscall");
  long given[6];
  va_list arguments;
  va_start(arguments, number);
  for (int i = 0; i < 6; i++) given[i] = va_arg(arguments, long);
  va_end(arguments);
  if (number == SYS_set_mempolicy && given[0] == MPOL_INTERLEAVE) {
    fprintf(stderr, "interleaved over %lx\n", *(const unsigned long *)given[1]);
    return 0;
  }
  memcpy(&next, &symbol, sizeof next);
  return next(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}
