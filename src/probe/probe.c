/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "probe/probe.h"

#include <ctype.h>
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "probe/bench.h"

/* FNV-1a with 64 bits. */
static uint64_t mix(uint64_t digest, const char *text) {
  for (const char *c = text; c[0] != '\0'; c++)
    digest = (digest ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
  return digest;
}

void tsr_probe_host_name(char *name, size_t size) {
  char host[64] = "host";
  gethostname(host, sizeof host - 1);
  snprintf(name, size, "%.24s", host);
  for (char *c = name; *c != '\0'; c++)
    if (!isalnum((unsigned char)*c) && *c != '.' && *c != '-') *c = '_';
}

void tsr_probe_identity(const tsr_device_info *info, int devices, char *identity, size_t size) {
  char host[32], memory[24];
  uint64_t digest = UINT64_C(0xcbf29ce484222325);
  for (int d = 0; d < devices; d++) {
    snprintf(memory, sizeof memory, " %zu ", info[d].memory_total);
    digest = mix(mix(mix(digest, info[d].name), memory), info[d].identity);
  }
  tsr_probe_host_name(host, sizeof host);
  snprintf(identity, size, "%s-%d-%.36s-%016llx", host, devices, info[0].name,
           (unsigned long long)digest);
  for (char *c = identity; *c != '\0'; c++)
    if (!isalnum((unsigned char)*c) && *c != '.' && *c != '-') *c = '_';
}

static void describe(const tsr_bench *b) {
  tsr_machine *m = b->machine;
  char name[sizeof m->name];
  snprintf(name, sizeof name, "%d x %s", b->devices, b->info[0].name);
  snprintf(m->name, sizeof m->name, "%s", name);
  tsr_probe_identity(b->info, b->devices, m->identity, sizeof m->identity);
  snprintf(m->source, sizeof m->source, "probe");
  tsr_probe_date(m->measured, sizeof m->measured);
  tsr_probe_host("", &m->host);
  m->devices = b->devices;
  m->nodes = b->nodes;
  for (int d = 0; d < b->devices; d++) {
    tsr_device *device = &m->device[d];
    int near = b->nodes > 1 && b->near->node[d] >= 0 ? b->near->node[d] : 0;
    *device = (tsr_device){
        .speed = 1, .memory = (double)b->info[d].memory_total, .host_node = b->devices + near};
    snprintf(device->name, sizeof device->name, "%s", b->info[d].name);
    snprintf(device->identity, sizeof device->identity, "%s", b->info[d].identity);
  }
}

static tsr_status measure(tsr_bench *b) {
  tsr_bench_progress(b, 0, "memory");
  TSR_TRY(tsr_bench_open(b));
  TSR_TRY(tsr_bench_fill(b, TSR_D));
  TSR_TRY(tsr_probe_links(b));
  TSR_TRY(tsr_probe_kernels(b));
  tsr_bench_progress(b, 0.9, "submission");
  TSR_TRY(tsr_probe_submission(b));
  tsr_bench_progress(b, 0.92, "staging");
  TSR_TRY(tsr_probe_staging(b));
  tsr_bench_progress(b, 0.97, "the CPU");
  TSR_TRY(tsr_probe_cpu(b->machine));
  TSR_TRY(tsr_machine_check(b->machine));
  tsr_bench_progress(b, 0.99, "calls");
  TSR_TRY(tsr_probe_calls(b));
  tsr_bench_progress(b, 1, "done");
  return tsr_machine_check(b->machine);
}

static tsr_status run(tsr_bench *b, tsr_machine **machine) {
  static const tsr_near unknown;
  b->near = b->options->near != NULL ? b->options->near : &unknown;
  b->nodes = b->near->places ? b->near->nodes : 1;
  TSR_TRY(tsr_machine_create(&b->machine));
  describe(b);
  tsr_status status = measure(b);
  tsr_bench_close(b);
  if (status == TSR_OK)
    *machine = b->machine;
  else
    tsr_machine_destroy(b->machine);
  return status;
}

tsr_status tsr_probe(const tsr_engine *engine, tsr_engine_state *state, const tsr_device_info *info,
                     int devices, const tsr_probe_options *options, tsr_machine **machine) {
  tsr_bench *bench = tsr_alloc_zero(1, sizeof *bench);
  if (bench == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory to measure a machine");
  bench->engine = engine;
  bench->state = state;
  bench->info = info;
  bench->devices = devices;
  bench->options = options;
  tsr_status status = run(bench, machine);
  tsr_dealloc(bench);
  return status;
}
