/* What products onto a C that stays on the devices take: two of them, one after the other, planned.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "front/context.h"
#include "plan/schedule/moves.h"
#include "plan/names.h"
#include "plan/residency.h"

/* ---- What a plan keeps busy ----------------------------------------------- */

typedef struct interval {
  float begin, end;
} interval;

static int by_begin(const void *a, const void *b) {
  const interval *x = a, *y = b;
  return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Seconds in which at least one is under way. */
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

static double kernels_of(const tsr_plan *plan, int device, interval *room) {
  size_t count = 0;
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    if (c->kind != TSR_COMMAND_KERNEL || plan->queue[c->queue].location != device) continue;
    room[count++] = (interval){c->begin, c->end};
  }
  return covered(room, count);
}

/* Of the queue of copies that has most to do. */
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
  if (plan->devices == 0) return TSR_OK; /* the CPU's: one thing after the other */
  interval *room = tsr_alloc((plan->commands.count + 1) * sizeof *room);
  if (room == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory to look at a plan");
  stage->kernels = 0;
  for (int d = 0; d < plan->machine_devices; d++)
    stage->kernels = fmax(stage->kernels, kernels_of(plan, d, room));
  stage->copies = copies_of(plan);
  tsr_dealloc(room);
  return TSR_OK;
}

/* ---- One plan after the other --------------------------------------------- */

/* Bytes of what a plan has beside its rooms, by device: copies of what is not kept. */
static void add_arenas(const tsr_plan *plan, size_t bytes[TSR_MACHINE_DEVICES]) {
  for (int d = 0; d < plan->machine_devices; d++) bytes[d] += plan->arena[d];
}

/* Bytes of the rooms that a plan makes for some of its operands, by device. */
static void add_rooms(const tsr_plan *plan, bool of_c, size_t bytes[TSR_MACHINE_DEVICES]) {
  for (size_t i = 0; plan->after != NULL && i < plan->after->rooms.count; i++) {
    const tsr_room *room = &plan->after->rooms.items[i];
    if ((room->matrix == TSR_C_) == of_c) bytes[room->device] += room->bytes;
  }
}

static size_t most_of(const size_t bytes[TSR_MACHINE_DEVICES]) {
  size_t most = 0;
  for (int d = 0; d < TSR_MACHINE_DEVICES; d++) most = bytes[d] > most ? bytes[d] : most;
  return most;
}

/* What the next call finds when A and B are forgotten. */
static tsr_status keep_result(const tsr_plan *plan, tsr_residency *left) {
  *left = (tsr_residency){0};
  bool done = true;
  for (size_t i = 0; done && plan->after != NULL && i < plan->after->rooms.count; i++) {
    const tsr_room *room = &plan->after->rooms.items[i];
    if (room->matrix != TSR_C_) continue;
    tsr_room *kept = tsr_residency_add(left, *room);
    done = kept != NULL && tsr_rects_copy(&room->valid, &kept->valid) &&
           tsr_rects_copy(&room->newer, &kept->newer);
    if (kept != NULL) kept->bytes = 0; /* it is there already */
  }
  return done ? TSR_OK : tsr_fail(TSR_ERR_MEMORY, "no host memory for what is on devices");
}

/* A strip of columns for each device: where C was computed first it stays. */
static tsr_mapping strips(const tsr_context *context, const tsr_call *call) {
  int devices = context->machine->devices;
  tsr_mapping mapping = {.block_rows = call->m,
                         .block_cols = (call->n + devices - 1) / devices,
                         .grid_rows = 1,
                         .grid_cols = devices};
  for (int d = 0; d < devices; d++) mapping.device[d] = (int16_t)d;
  return mapping;
}

static tsr_status plan_one(tsr_context *context, const tsr_call *call, const tsr_residency *before,
                           const size_t *kept, const tsr_plan **plan) {
  tsr_request request = {.call = call, .residency = before, .kept = kept};
  tsr_mapping mapping;
  if (context->machine->devices > 0) {
    mapping = strips(context, call);
    request.mapping = &mapping;
  }
  return tsr_context_make_plan(context, &request, plan);
}

static tsr_status time_home(tsr_context *context, const tsr_call *call, const tsr_residency *before,
                            double *seconds) {
  tsr_operand c = call->operand[TSR_C_];
  tsr_call moves = tsr_moves_call(TSR_C_, &c, tsr_type_get(call->type)->size);
  tsr_request request = {
      .kind = TSR_REQUEST_HOME, .call = &moves, .residency = before, .uplo = TSR_GENERAL};
  const tsr_plan *plan;
  moves.operand[TSR_C_] = c;
  TSR_TRY(tsr_context_make_plan(context, &request, &plan));
  *seconds = plan->seconds;
  tsr_plan_unref(plan);
  return TSR_OK;
}

/* The second product and the way home, from where the first one left C. */
static tsr_status go_on(tsr_context *context, const tsr_call *call, const tsr_residency *before,
                        const size_t *kept, tsr_accumulation *made) {
  size_t inputs[TSR_MACHINE_DEVICES] = {0};
  const tsr_plan *plan;
  TSR_TRY(plan_one(context, call, before, kept, &plan));
  tsr_status status = stage_of(plan, &made->next);
  add_rooms(plan, false, inputs);
  add_arenas(plan, inputs);
  tsr_plan_unref(plan);
  made->inputs = most_of(inputs);
  if (status != TSR_OK || before->rooms.count == 0) return status;
  return time_home(context, call, before, &made->home);
}

static tsr_status by_plans(tsr_context *context, const tsr_call *first, const tsr_call *next,
                           tsr_accumulation *made) {
  size_t result[TSR_MACHINE_DEVICES] = {0};
  tsr_residency nothing = {0}, left = {0};
  const tsr_plan *plan;
  TSR_TRY(plan_one(context, first, &nothing, NULL, &plan));
  tsr_status status = stage_of(plan, &made->first);
  if (status == TSR_OK) status = keep_result(plan, &left);
  add_rooms(plan, true, result);
  tsr_plan_unref(plan);
  made->result = most_of(result);
  if (status == TSR_OK) status = go_on(context, next, &left, result, made);
  tsr_residency_free(&left);
  return status;
}

/* ---- By a formula ---------------------------------------------------------- */

static double bytes_of(const tsr_call *call, int x) {
  const tsr_operand *o = &call->operand[x];
  return (double)o->rows * (double)o->cols * (double)tsr_type_get(call->type)->size;
}

/* Each device has columns of B and C. */
static double kernels_by_formula(const tsr_machine *machine, const tsr_call *call, double heat) {
  int devices = machine->devices;
  int64_t cols = (call->n + devices - 1) / devices;
  double slowest = 1;
  for (int d = 0; d < devices; d++) slowest = fmin(slowest, machine->device[d].speed);
  return tsr_machine_kernel_time(machine, 0, TSR_KERNEL_GEMM, call->type, call->m, cols, call->k,
                                 false, true, heat) *
         machine->device[0].speed / slowest;
}

/* What is copied first and last is not hidden. However short a product is, others follow it: they
 * heat a device as one long product does. */
static tsr_stage stage_by_formula(const tsr_machine *machine, const tsr_call *call, double copies) {
  double cold = kernels_by_formula(machine, call, 0);
  double heat = tsr_machine_heat(INFINITY, cold / fmax(cold, copies));
  tsr_stage stage = {.copies = copies, .kernels = kernels_by_formula(machine, call, heat)};
  double more = fmax(stage.kernels, stage.copies), less = fmin(stage.kernels, stage.copies);
  stage.alone = more + less / 8;
  return stage;
}

/* A comes once and goes on from device to device, where that is no slower than from the host. */
static double from_host(const tsr_machine *machine, const tsr_reach *reach, double a, double b) {
  int devices = machine->devices;
  bool relays =
      devices == 1 || machine->link[0][1].bandwidth >= machine->link[devices][0].bandwidth;
  return (b + (relays ? a : a * devices)) / reach->in + machine->link[devices][0].latency;
}

/* A leaves the device once, and so do the other ones' columns of B: by way of the host where the
 * devices do not reach each other. */
static double from_device(const tsr_machine *machine, const tsr_reach *reach, int device, double a,
                          double b) {
  int devices = machine->devices;
  if (devices == 1) return 0;
  const tsr_link *link = &machine->link[device][device == 0 ? 1 : 0];
  double rate = link->bandwidth > 0 ? link->bandwidth : fmin(reach->in, reach->out);
  return (a + b * (devices - 1) / devices) / rate + link->latency;
}

static void by_formula(const tsr_machine *machine, const tsr_call *first, tsr_accumulation *made) {
  double a = bytes_of(first, TSR_A), b = bytes_of(first, TSR_B_), c = bytes_of(first, TSR_C_);
  int devices = machine->devices;
  if (devices == 0) {
    double seconds =
        tsr_machine_cpu_time(machine, first->type, tsr_call_flops(first), a + b + 2 * c);
    made->first = made->next = (tsr_stage){seconds, seconds, 0};
    return;
  }
  tsr_reach reach;
  tsr_reach_of(machine, &reach);
  bool at_host = first->operand[TSR_A].location == devices;
  double copies = at_host ? from_host(machine, &reach, a, b)
                          : from_device(machine, &reach, first->operand[TSR_A].location, a, b);
  double with_c = at_host ? copies + c / reach.in : fmax(copies, c / reach.in);
  made->next = stage_by_formula(machine, first, copies);
  made->first = first->beta == TSR_ZERO ? made->next : stage_by_formula(machine, first, with_c);
  made->home = c / reach.out;
  made->result = (size_t)(c / devices);
  made->inputs = at_host || devices > 1 ? (size_t)(a + b / devices) : 0;
}

/* ---- The door --------------------------------------------------------------- */

/* inputs: where A and B are. */
static tsr_status set_places(const tsr_machine *machine, int inputs, tsr_call *call) {
  if (inputs != TSR_HOST && (inputs < 0 || inputs >= machine->devices))
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "inputs is %d; give one of the machine's %d devices, or TSR_HOST", inputs,
                    machine->devices);
  for (int x = 0; x < TSR_OPERANDS; x++) {
    tsr_operand *o = &call->operand[x];
    bool at_host = x == TSR_C_ || inputs == TSR_HOST;
    o->memory = at_host ? TSR_PINNED : TSR_DEVICE;
    o->location = at_host ? machine->devices : inputs;
    o->pinned_begin = 0;
    o->pinned_end = tsr_operand_bytes(o, call->type);
    o->alignment = 4;
  }
  return TSR_OK;
}

static tsr_status make_call(tsr_context *context, tsr_type type, int64_t m, int64_t n, int64_t k,
                            int inputs, const void *beta, tsr_call *call) {
  static const float one[4] = {1, 0, 0, 0};
  static const double wide_one[2] = {1, 0};
  bool wide = type == TSR_D || type == TSR_Z;
  const void *alpha = wide ? (const void *)wide_one : (const void *)one;
  tsr_level3 what = {.operation = TSR_GEMM,
                     .type = type,
                     .layout = TSR_COL_MAJOR,
                     .transa = TSR_NO_TRANS,
                     .transb = TSR_NO_TRANS,
                     .m = m,
                     .n = n,
                     .k = k,
                     .lda = m > 0 ? m : 1,
                     .ldb = k > 0 ? k : 1,
                     .ldc = m > 0 ? m : 1};
  tsr_binding binding;
  bool exchanged;
  TSR_TRY(tsr_call_level3(&what, alpha, NULL, NULL, beta != NULL ? beta : alpha, NULL, false, call,
                          &binding, &exchanged));
  pthread_rwlock_rdlock(&context->machine_lock);
  tsr_status status = set_places(context->machine, inputs, call);
  pthread_rwlock_unlock(&context->machine_lock);
  return status;
}

TSR_ENTRY(tsr_plan_accumulation, (context, type, m, n, k, inputs, beta, quick, predicted),
          tsr_context *context, tsr_type type, int64_t m, int64_t n, int64_t k, int inputs,
          const void *beta, int quick, tsr_accumulation *predicted) {
  tsr_call first, next;
  tsr_accumulation made = {0};
  TSR_TRY(tsr_context_check(context));
  if (predicted == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "predicted is NULL; give the address of what is to be filled");
  TSR_TRY(make_call(context, type, m, n, k, inputs, beta, &first));
  TSR_TRY(make_call(context, type, m, n, k, inputs, NULL, &next));
  tsr_status status = TSR_OK;
  if (tsr_call_is_empty(&next)) {
    *predicted = made;
    return TSR_OK;
  }
  if (quick) {
    pthread_rwlock_rdlock(&context->machine_lock);
    by_formula(context->machine, &first, &made);
    pthread_rwlock_unlock(&context->machine_lock);
  } else {
    status = by_plans(context, &first, &next, &made);
  }
  if (status == TSR_OK) *predicted = made;
  return status;
}
