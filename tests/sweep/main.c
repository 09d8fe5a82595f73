/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The sweep over tessera.h, on emulated devices: allocations of the library fail, and commands and
 * allocations of the devices. */
#include <limits.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "engine/host/host.h"
#include "world.h"

/* No thread of a queue can be started any more. */
static long refuse_from(long n) {
  return tsr_engine_host_refuse_commands(n, LONG_MAX / 2, TSR_ERR_MEMORY);
}

/* The runtime refuses one launch. */
static long refuse_one(long n) {
  return tsr_engine_host_refuse_commands(n, 1, TSR_ERR_DEVICE);
}

/* A device fails, and is lost. */
static long fail(long n) {
  tsr_engine_host_pass(false);
  return tsr_engine_host_fail_at(n);
}

/* A device fails, and works again when it is asked. */
static long fail_passing(long n) {
  tsr_engine_host_pass(true);
  return tsr_engine_host_fail_at(n);
}

static const sweep_way ways[] = {
    {"once", tsr_alloc_fail_at, false, false},
    {"on", tsr_alloc_fail_from, false, true},
    {"engine", fail, true, true},
    {"refused", refuse_one, false, true},
    {"refused on", refuse_from, false, true},
    {"passing", fail_passing, false, true},
};

static const sweep_visit *const tables[] = {
    call_visits,    factor_visits, solve_visits, composition_visits, capture_visits, plan_visits,
    context_visits, memory_visits, NULL,
};

int main(int argc, char **argv) {
  for (const tsr_setting *s = tsr_settings(); s->name != NULL; s++) unsetenv(s->name);
  static const char *const headers[] = {TESSERA_INCLUDE "tessera.h",
                                        TESSERA_INCLUDE "tessera_model.h",
                                        TESSERA_INCLUDE "tessera_papers.h", NULL};
  return sweep_main(argc, argv,
                    &(sweep){headers, &world_rig, tables, ways, sizeof ways / sizeof *ways});
}
