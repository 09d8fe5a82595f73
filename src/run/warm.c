/*
 * What takes long the first time, done before it is needed, by a thread for each device.
 *
 * The first kernel of a shape loads code into its device, which takes long and, measured, may even
 * fail in the middle of a run: so each shape of a plan is tried once before the plan first runs.
 */
#include "base/kernel.h"
#include "base/log.h"
#include "run/aside.h"
#include "run/inside.h"

/* ---- Queues and memory ---- */

/* Those of nearly every plan. A device's queue of kernels takes 10 ms, with its BLAS. */
static const tsr_queue_role usual[] = {TSR_QUEUE_IN, TSR_QUEUE_OUT, TSR_QUEUE_ADD,
                                       TSR_QUEUE_COMPUTE};
enum { USUAL = sizeof usual / sizeof *usual };

static tsr_status make_queues(tsr_runner *runner, int device) {
  for (int i = 0; i < USUAL; i++) {
    tsr_plan_queue key = {.role = (uint8_t)usual[i]};
    tsr_queue *queue;
    TSR_TRY(tsr_resource_queue(runner, device, key, &queue));
  }
  return TSR_OK;
}

/* Where devices reach each other an allocation takes the runtime 10 ms for each of them, however
 * large it is, one after another (measured): the first call of a kind should not pay for that. If
 * there is no memory, the call will say. */
static void reserve_memory(tsr_runner *runner, int device, size_t room) {
  (void)tsr_resource_reserve_arena(runner, device, room / TSR_TUNE_WARM_PARTS);
}

typedef struct warming {
  tsr_runner *runner;
  const size_t *room;
} warming;

static tsr_status warm_device(void *argument, int device) {
  const warming *w = argument;
  if (w->room != NULL) reserve_memory(w->runner, device, w->room[device]);
  return make_queues(w->runner, device);
}

tsr_status tsr_warm_devices(tsr_runner *runner, const size_t *room) {
  return tsr_aside_each(runner->devices, warm_device, &(warming){runner, room});
}

/* ---- Kernels ---- */

enum { MOST_SHAPES = 512 }; /* of a plan; others are loaded when they are first run */

/* What makes the vendor's BLAS choose another kernel. */
typedef struct shape {
  int32_t m, n, k;
  uint8_t kernel, flags, form;
} shape;

static bool is_known(const shape *shapes, int count, const shape *s) {
  for (int i = 0; i < count; i++)
    if (shapes[i].m == s->m && shapes[i].n == s->n && shapes[i].k == s->k &&
        shapes[i].kernel == s->kernel && shapes[i].flags == s->flags && shapes[i].form == s->form)
      return true;
  return false;
}

/* Not what writes to the user's memory, where C is at home on the device, or to what stays there.
 */
static bool may_try(const tsr_plan *plan, const tsr_command *c) {
  if (c->kind != TSR_COMMAND_KERNEL) return false;
  if (plan->buffers.items[c->buffer[2]].role != TSR_BUFFER_TILE) return false;
  return tsr_kernel_flops((tsr_kernel)c->kernel, plan->call.type, c->m, c->n, c->k) <=
         TSR_TUNE_WARM_FLOPS;
}

static tsr_status issue_shapes(tsr_job *job, int device) {
  const tsr_plan *plan = job->plan;
  const tsr_program *program = job->program;
  shape shapes[MOST_SHAPES];
  int count = 0;
  for (uint32_t i = program->device_first[device];
       i < program->device_first[device + 1] && count < MOST_SHAPES; i++) {
    uint32_t command = program->by_device[i];
    const tsr_command *c = &plan->commands.items[command];
    if (!may_try(plan, c)) continue;
    shape s = {c->m, c->n, c->k, c->kernel, c->flags, c->form};
    if (is_known(shapes, count, &s)) continue;
    shapes[count++] = s;
    TSR_TRY(tsr_issue(job, command, program->queue[c->queue]));
  }
  return TSR_OK;
}

static tsr_status finish_queues(tsr_job *job, int device) {
  tsr_runner *runner = job->runner;
  int set = job->set;
  const tsr_program *program = job->program;
  tsr_status status = TSR_OK;
  for (int i = program->used_first[device]; i < program->used_first[device + 1]; i++) {
    tsr_status ended = tsr_direct_finish(runner, program->queue[program->used[i]],
                                         runner->side[device].last[set].items[0]);
    if (status == TSR_OK) status = ended;
  }
  return status;
}

/* If a failure matters the run will fail as well. */
static tsr_status try_device(void *argument, int device) {
  tsr_status status = issue_shapes(argument, device), ended = finish_queues(argument, device);
  if (status != TSR_OK || ended != TSR_OK)
    tsr_log(TSR_LOG_INFO, "warming up device %d: %s", device, tsr_message());
  return TSR_OK;
}

/* Plans with cached blocks are many, of ever new shapes: waiting for the devices before each would
 * cost more than kernels that are loaded on the way. */
void tsr_warm_up(tsr_job *job) {
  if (!job->runner->warm || job->program->warm || job->own_arenas) return;
  job->program->warm = true;
  tsr_runner_settle(job->runner);
  (void)tsr_aside_each(job->runner->devices, try_device, job);
}
