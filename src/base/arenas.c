/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/arenas.h"

#include <malloc.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "base/environment.h"

static const double addresses_of_arena = 0x1p32; /* 64 times what an arena takes */

#ifdef M_ARENA_MAX
static double limit_of(int resource) {
  struct rlimit found;
  bool is_limited = getrlimit(resource, &found) == 0 && found.rlim_cur != RLIM_INFINITY;
  return is_limited ? (double)found.rlim_cur : HUGE_VAL;
}
#endif

void tsr_arenas_limit(void) {
#ifdef M_ARENA_MAX
  static atomic_int limited; /* to so many arenas; 0: not */
  double addresses = fmin(limit_of(RLIMIT_AS), limit_of(RLIMIT_DATA));
  double arenas = fmax(1, addresses / addresses_of_arena);
  if (isinf(addresses) || arenas > 1024 || tsr_environment_get("MALLOC_ARENA_MAX") != NULL) return;
  if (atomic_exchange(&limited, (int)arenas) != (int)arenas)
    (void)mallopt(M_ARENA_MAX, (int)arenas);
#endif
}
