/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * This program tells what knowing the sockets is worth. It plans each case twice for every machine
 * that is named: by the machine itself, and by a description that lacks its sockets (no link
 * between them, and every device reaches all host memory as it reaches its own). It replays both
 * plans on the machine and writes CSV to standard output.
 *
 *   tessera-bench-sockets MACHINE...
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "plan/plan.h"

typedef struct home {
  char letter; /* of the CSV: a node, or i for interleaved */
  int node;
} home;

static const home first = {'0', 0}, second = {'1', 1}, interleaved = {'i', TSR_INTERLEAVED};

static tsr_status fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, tsr_message());
  return TSR_ERR_INTERNAL;
}

/* ---- A description without sockets ---- */

static void forget_channels(tsr_machine *machine) {
  int kept = 0, from, to;
  for (int i = 0; i < machine->channels; i++) {
    if (tsr_machine_is_crossing(machine, &machine->channel[i], &from, &to))
      tsr_dealloc(machine->channel[i].uses);
    else
      machine->channel[kept++] = machine->channel[i];
  }
  machine->channels = kept;
}

static void forget_distances(tsr_machine *machine) {
  for (int d = 0; d < machine->devices; d++)
    for (int host = machine->devices; host < tsr_machine_locations(machine); host++) {
      int near = machine->device[d].host_node;
      machine->link[host][d] = machine->link[near][d];
      machine->link[d][host] = machine->link[d][near];
    }
}

static tsr_status describe_flat(const tsr_machine *machine, tsr_machine **flat) {
  int all[TSR_MACHINE_DEVICES];
  for (int d = 0; d < machine->devices; d++) all[d] = d;
  TSR_TRY(tsr_machine_select(machine, all, machine->devices, flat));
  forget_channels(*flat);
  forget_distances(*flat);
  return TSR_OK;
}

/* ---- A case ---- */

typedef struct bench_case {
  tsr_type type;
  int64_t n;
  home homes[TSR_OPERANDS];
} bench_case;

static tsr_status make_call(const tsr_machine *machine, const bench_case *c, tsr_call *call) {
  const double one[2] = {1, 0};
  const float one_s[2] = {1, 0};
  const void *scalar = c->type == TSR_S ? (const void *)one_s : one;
  tsr_level3 what = {.operation = TSR_GEMM,
                     .type = c->type,
                     .layout = TSR_COL_MAJOR,
                     .transa = TSR_NO_TRANS,
                     .transb = TSR_NO_TRANS,
                     .m = c->n,
                     .n = c->n,
                     .k = c->n,
                     .lda = c->n,
                     .ldb = c->n,
                     .ldc = c->n};
  tsr_binding binding;
  bool exchanged;
  TSR_TRY(
      tsr_call_level3(&what, scalar, NULL, NULL, scalar, NULL, false, call, &binding, &exchanged));
  for (int x = 0; x < TSR_OPERANDS; x++) {
    tsr_operand *o = &call->operand[x];
    o->memory = TSR_PINNED;
    o->location = tsr_machine_host(machine, c->homes[x].node);
    o->pinned_begin = 0;
    o->pinned_end = tsr_operand_bytes(o, c->type);
    o->alignment = 4;
  }
  return TSR_OK;
}

/* *seconds: what the plan made for the machine `planned` takes on the machine `real`. */
static tsr_status predict(const tsr_machine *planned, const tsr_machine *real, const tsr_call *call,
                          double *seconds) {
  tsr_plan_options options = {.ring = 256 << 20, .no_cpu = true};
  tsr_plan *plan = NULL;
  for (int d = 0; d < planned->devices; d++)
    options.budget[d] = (size_t)(0.9 * planned->device[d].memory);
  TSR_TRY(tsr_plan_make(planned, call, &options, &plan));
  tsr_status status = tsr_plan_verify(plan, real, options.budget);
  if (status == TSR_OK) status = tsr_plan_replay(plan, real, seconds);
  tsr_plan_free(plan);
  return status;
}

static tsr_status run_case(const char *name, const tsr_machine *machine, const tsr_machine *flat,
                           const bench_case *c) {
  tsr_call call;
  double unknowing, knowing;
  TSR_TRY(make_call(machine, c, &call));
  TSR_TRY(predict(flat, machine, &call, &unknowing));
  TSR_TRY(predict(machine, machine, &call, &knowing));
  printf("%s,%cgemm,%lld,h%c;h%c;h%c,%.6g,%.6g,%.6g,%.3f\n", name, (char)c->type, (long long)c->n,
         c->homes[0].letter, c->homes[1].letter, c->homes[2].letter, unknowing, knowing,
         tsr_floor(machine, &call), unknowing / knowing);
  fflush(stdout);
  return TSR_OK;
}

/* ---- All of them ---- */

static tsr_status run_cases(const char *name, const tsr_machine *machine, const tsr_machine *flat) {
  const home homes[][TSR_OPERANDS] = {{first, first, first},
                                      {first, second, second},
                                      {interleaved, interleaved, interleaved},
                                      {interleaved, interleaved, first}};
  const int64_t sizes[] = {4096, 8192, 16384};
  const tsr_type types[] = {TSR_D, TSR_S};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (size_t h = 0; h < sizeof homes / sizeof *homes; h++)
      for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        bench_case c = {.type = types[t], .n = sizes[s]};
        memcpy(c.homes, homes[h], sizeof c.homes);
        TSR_TRY(run_case(name, machine, flat, &c));
      }
  return TSR_OK;
}

static tsr_status run_machine(const char *name) {
  tsr_machine *machine = NULL, *flat = NULL;
  if (tsr_machine_load(name, &machine) != TSR_OK) return fail(name);
  tsr_status status = describe_flat(machine, &flat);
  if (status == TSR_OK) status = run_cases(name, machine, flat);
  tsr_machine_destroy(flat);
  tsr_machine_destroy(machine);
  return status == TSR_OK ? TSR_OK : fail(name);
}

int main(int argc, char **argv) {
  printf("machine,routine,n,home,unknowing_s,knowing_s,floor_s,gain\n");
  for (int i = 1; i < argc; i++)
    if (run_machine(argv[i]) != TSR_OK) return 1;
  return 0;
}
