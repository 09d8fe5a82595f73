/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "compose/accumulate.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "call/request.h"
#include "plan/schedule/moves.h"

/* ---- Busy times of a plan -------------------------------------------------- */

typedef struct interval {
  float begin, end;
} interval;

static int by_begin(const void *a, const void *b) {
  const interval *x = a, *y = b;
  return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* The length of the union of the intervals [s]. */
static double covered(interval *all, size_t count) {
  double sum = 0, end = 0;
  qsort(all, count, sizeof *all, by_begin);
  for (size_t i = 0; i < count; i++) {
    double from = fmax((double)all[i].begin, end);
    sum += fmax(0, (double)all[i].end - from);
    end = fmax(end, (double)all[i].end);
  }
  return sum;
}

static double kernels_of(const tsr_plan *plan, int device, interval *kernels) {
  size_t count = 0;
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    if (c->kind != TSR_COMMAND_KERNEL || plan->queue[c->queue].location != device) continue;
    kernels[count++] = (interval){c->begin, c->end};
  }
  return covered(kernels, count);
}

/* The time of copies of the queue whose copies take longest in all [s]. */
static double copies_of(const tsr_plan *plan) {
  double busy[TSR_PLAN_QUEUES] = {0}, most = 0;
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    if (c->kind == TSR_COMMAND_COPY) busy[c->queue] += (double)c->end - (double)c->begin;
  }
  for (int q = 0; q < plan->queues; q++) most = fmax(most, busy[q]);
  return most;
}

static tsr_status stage_of(const tsr_plan *plan, tsr_stage *stage) {
  *stage = (tsr_stage){plan->seconds, plan->seconds, 0};
  if (plan->devices == 0) return TSR_OK; /* on the CPU nothing overlaps */
  interval *kernels = tsr_alloc((plan->commands.count + 1) * sizeof *kernels);
  if (kernels == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory to analyse a plan");
  stage->kernels = 0;
  for (int d = 0; d < plan->machine_devices; d++)
    stage->kernels = fmax(stage->kernels, kernels_of(plan, d, kernels));
  stage->copies = copies_of(plan);
  tsr_dealloc(kernels);
  return TSR_OK;
}

/* ---- By plans -------------------------------------------------------------- */

/* Adds the bytes of the plan's arena on each device, which hold copies that do not stay. */
static void add_arenas(const tsr_plan *plan, size_t bytes[TSR_MACHINE_DEVICES]) {
  for (int d = 0; d < plan->machine_devices; d++) bytes[d] += plan->arena[d];
}

/* Adds, for each device, the bytes of the cached blocks that the plan makes of C (of_c) or of A and
 * B. */
static void add_blocks(const tsr_plan *plan, bool of_c, size_t bytes[TSR_MACHINE_DEVICES]) {
  for (size_t i = 0; plan->after != NULL && i < plan->after->blocks.count; i++) {
    const tsr_cached_block *block = &plan->after->blocks.items[i];
    if ((block->matrix == TSR_C_) == of_c) bytes[block->device] += block->bytes;
  }
}

static size_t most_of(const size_t bytes[TSR_MACHINE_DEVICES]) {
  size_t most = 0;
  for (int d = 0; d < TSR_MACHINE_DEVICES; d++) most = bytes[d] > most ? bytes[d] : most;
  return most;
}

/* *left: the cached blocks that the next call finds if A and B are forgotten: those of C. */
static tsr_status keep_result(const tsr_plan *plan, tsr_residency *left) {
  *left = (tsr_residency){0};
  bool done = true;
  for (size_t i = 0; done && plan->after != NULL && i < plan->after->blocks.count; i++) {
    const tsr_cached_block *block = &plan->after->blocks.items[i];
    if (block->matrix != TSR_C_) continue;
    tsr_cached_block *kept = tsr_residency_add(left, *block);
    done = kept != NULL && tsr_rects_copy(&block->valid, &kept->valid) &&
           tsr_rects_copy(&block->newer, &kept->newer);
    if (kept != NULL) kept->bytes = 0; /* the block exists: no memory is to be taken */
  }
  return done ? TSR_OK : tsr_fail(TSR_ERR_MEMORY, "no host memory for what is on devices");
}

/* Maps a strip of columns of C to each device, so that further products leave C where it is. */
static tsr_mapping strips(int devices, const tsr_call *call) {
  tsr_mapping mapping = {.block_rows = call->m,
                         .block_cols = (call->n + devices - 1) / devices,
                         .grid_rows = 1,
                         .grid_cols = devices};
  for (int d = 0; d < devices; d++) mapping.device[d] = (int16_t)d;
  return mapping;
}

static tsr_status plan_one(tsr_plans *plans, const tsr_call *call, const tsr_residency *before,
                           const size_t *kept, const tsr_plan **plan) {
  tsr_request request = {.call = call, .residency = before, .kept = kept};
  tsr_mapping mapping;
  int devices = plans->machine->devices;
  if (devices > 0) {
    mapping = strips(devices, call);
    request.mapping = &mapping;
  }
  return tsr_request_make(plans, &request, plan);
}

static tsr_status time_write_back(tsr_plans *plans, const tsr_call *call,
                                  const tsr_residency *before, double *seconds) {
  tsr_operand c = call->operand[TSR_C_];
  tsr_call moves = tsr_moves_call(TSR_C_, &c, tsr_type_get(call->type)->size);
  tsr_request request = {
      .kind = TSR_REQUEST_WRITE_BACK, .call = &moves, .residency = before, .uplo = TSR_GENERAL};
  const tsr_plan *plan;
  moves.operand[TSR_C_] = c;
  TSR_TRY(tsr_request_make(plans, &request, &plan));
  *seconds = plan->seconds;
  tsr_plan_unref(plan);
  return TSR_OK;
}

/* Predicts the second product and the write-back, starting from the C that the first left on the
 * devices. */
static tsr_status plan_next(tsr_plans *plans, const tsr_call *call, const tsr_residency *before,
                            const size_t *kept, tsr_accumulation *made) {
  size_t inputs[TSR_MACHINE_DEVICES] = {0};
  const tsr_plan *plan;
  TSR_TRY(plan_one(plans, call, before, kept, &plan));
  tsr_status status = stage_of(plan, &made->next);
  add_blocks(plan, false, inputs);
  add_arenas(plan, inputs);
  tsr_plan_unref(plan);
  made->inputs = most_of(inputs);
  if (status != TSR_OK || before->blocks.count == 0) return status;
  return time_write_back(plans, call, before, &made->home);
}

tsr_status tsr_accumulate_by_plans(tsr_plans *plans, const tsr_call *first, const tsr_call *next,
                                   tsr_accumulation *predicted) {
  tsr_accumulation made = {0};
  size_t result[TSR_MACHINE_DEVICES] = {0};
  tsr_residency nothing = {0}, left = {0};
  const tsr_plan *plan;
  TSR_TRY(plan_one(plans, first, &nothing, NULL, &plan));
  tsr_status status = stage_of(plan, &made.first);
  if (status == TSR_OK) status = keep_result(plan, &left);
  add_blocks(plan, true, result);
  tsr_plan_unref(plan);
  made.result = most_of(result);
  if (status == TSR_OK) status = plan_next(plans, next, &left, result, &made);
  tsr_residency_free(&left);
  if (status == TSR_OK) *predicted = made;
  return status;
}

/* ---- By a formula ---------------------------------------------------------- */

static double bytes_of(const tsr_call *call, int x) {
  const tsr_operand *o = &call->operand[x];
  return (double)o->rows * (double)o->cols * (double)tsr_type_get(call->type)->size;
}

/* The time of the kernels [s] if the columns of B and C are shared out evenly; heat as in
 * tsr_machine_heat. */
static double kernels_by_formula(const tsr_machine *machine, const tsr_call *call, double heat) {
  int devices = machine->devices;
  int64_t cols = (call->n + devices - 1) / devices;
  double slowest = 1;
  for (int d = 0; d < devices; d++)
    slowest = fmin(slowest, tsr_machine_speed(machine, d, call->type));
  return tsr_machine_kernel_time(machine, 0, TSR_KERNEL_GEMM, call->type, call->m, cols, call->k,
                                 false, true, heat) *
         tsr_machine_speed(machine, 0, call->type) / slowest;
}

/* The time of a product alone is that of its longer stage plus an eighth of the shorter one,
 * because the first copies and the last kernels overlap nothing. The heat is that of a long run,
 * because further products follow. */
static tsr_stage stage_by_formula(const tsr_machine *machine, const tsr_call *call, double copies) {
  double cold = kernels_by_formula(machine, call, 0);
  double heat = tsr_machine_heat(INFINITY, cold / fmax(cold, copies));
  tsr_stage stage = {.copies = copies, .kernels = kernels_by_formula(machine, call, heat)};
  double more = fmax(stage.kernels, stage.copies), less = fmin(stage.kernels, stage.copies);
  stage.alone = more + less / 8;
  return stage;
}

/* The time of copies [s] if a bytes of A and b bytes of B come from a location of host memory. A is
 * copied from there once and then from device to device if that is no slower; else from there to
 * each. */
static double from_host(const tsr_machine *machine, const tsr_reach *reach, int home, double a,
                        double b) {
  int devices = machine->devices;
  const tsr_link *link = &machine->link[home][0];
  bool relays = devices == 1 || machine->link[0][1].bandwidth >= link->bandwidth;
  return (b + (relays ? a : a * devices)) / reach->node_in[home - devices] + link->latency;
}

/* The time of copies [s] if A and B are on one device. A and the other devices' columns of B leave
 * the device once, through the host if devices have no direct link. */
static double from_device(const tsr_machine *machine, const tsr_reach *reach, int device, double a,
                          double b) {
  int devices = machine->devices;
  if (devices == 1) return 0;
  const tsr_link *link = &machine->link[device][device == 0 ? 1 : 0];
  double rate = link->bandwidth > 0 ? link->bandwidth : fmin(reach->in, reach->out);
  return (a + b * (devices - 1) / devices) / rate + link->latency;
}

void tsr_accumulate_by_formula(const tsr_machine *machine, const tsr_call *first,
                               tsr_accumulation *predicted) {
  *predicted = (tsr_accumulation){0};
  double a = bytes_of(first, TSR_A), b = bytes_of(first, TSR_B_), c = bytes_of(first, TSR_C_);
  int devices = machine->devices;
  if (devices == 0) {
    double seconds =
        tsr_machine_cpu_time(machine, first->type, tsr_call_flops(first), a + b + 2 * c);
    predicted->first = predicted->next = (tsr_stage){seconds, seconds, 0};
    return;
  }
  tsr_reach reach;
  tsr_reach_of(machine, &reach);
  int home = first->operand[TSR_A].location, home_of_c = first->operand[TSR_C_].location - devices;
  bool at_host = home >= devices;
  double copies =
      at_host ? from_host(machine, &reach, home, a, b) : from_device(machine, &reach, home, a, b);
  double c_in = c / reach.node_in[home_of_c];
  double with_c = at_host ? copies + c_in : fmax(copies, c_in);
  predicted->next = stage_by_formula(machine, first, copies);
  predicted->first =
      first->beta == TSR_ZERO ? predicted->next : stage_by_formula(machine, first, with_c);
  predicted->home = c / reach.node_out[home_of_c];
  predicted->result = (size_t)(c / devices);
  predicted->inputs = at_host || devices > 1 ? (size_t)(a + b / devices) : 0;
}
