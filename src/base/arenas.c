/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/arenas.h"

#include <malloc.h>
#include <math.h>
#include <stdatomic.h>

#include "base/environment.h"
#include "base/process_limits.h"

static const double addresses_of_arena = 0x1p32; /* 64 times what an arena takes */

void tsr_arenas_limit(void) {
#ifdef M_ARENA_MAX
  static atomic_int limited; /* to so many arenas; 0: not */
  double addresses = tsr_process_addresses(), arenas = fmax(1, addresses / addresses_of_arena);
  if (isinf(addresses) || arenas > 1024 || tsr_environment_get("MALLOC_ARENA_MAX") != NULL) return;
  if (atomic_exchange(&limited, (int)arenas) != (int)arenas)
    (void)mallopt(M_ARENA_MAX, (int)arenas);
#endif
}
