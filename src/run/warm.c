/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Does beforehand what takes long the first time, with one thread for each device.
 *
 * The first kernel of a shape loads code into its device. That takes long, and it has been seen to
 * fail in the middle of a run. Therefore each shape of a plan is run once before the plan first
 * runs.
 */
#include "arithmetic/kernel.h"
#include "base/log.h"
#include "run/aside.h"
#include "run/inside.h"

/* ---- Queues and memory ---- */

/* The roles of the queues that nearly every plan uses. Making a COMPUTE queue, with its BLAS, takes
 * 10 ms. */
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

/* Allocates the device's first arena, so that first calls need not: an allocation takes the runtime
 * 10 ms for each device with peer access, whatever its size, one device after another (measured). A
 * failure is ignored; the call that needs the memory will report it. */
static void reserve_memory(tsr_runner *runner, int device, size_t free_memory) {
  (void)tsr_resource_reserve_arena(runner, device, free_memory / TSR_TUNE_WARM_PARTS);
}

typedef struct warming {
  tsr_runner *runner;
  const size_t *free_memory;
} warming;

static tsr_status warm_device(void *argument, int device) {
  const warming *w = argument;
  if (w->free_memory != NULL) reserve_memory(w->runner, device, w->free_memory[device]);
  return make_queues(w->runner, device);
}

tsr_status tsr_warm_devices(tsr_runner *runner, const size_t *free_memory) {
  return tsr_aside_each(runner->devices, warm_device, &(warming){runner, free_memory});
}

/* ---- Kernels ---- */

enum { MOST_SHAPES = 512 }; /* tried of a plan; the code of others is loaded when they first run */

/* The properties by which the vendor's BLAS chooses its kernel. */
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

/* Whether the command may be tried: a kernel that writes to a tile, not to the user's memory or a
 * cached block, and that is not large (WARM_FLOPS). */
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

/* Ignores failures: one that matters will also fail the run. */
static tsr_status try_device(void *argument, int device) {
  tsr_status status = issue_shapes(argument, device), ended = finish_queues(argument, device);
  if (status != TSR_OK || ended != TSR_OK)
    tsr_log(TSR_LOG_INFO, "warming up device %d: %s", device, tsr_message());
  return TSR_OK;
}

/* Plans with cached blocks are not tried: they are many and differ in their shapes, and waiting for
 * the devices before each would take longer than loading code during the run. */
void tsr_warm_up(tsr_job *job) {
  if (!job->runner->warm || job->program->warm || job->own_arenas) return;
  job->program->warm = true;
  tsr_runner_settle(job->runner);
  (void)tsr_aside_each(job->runner->devices, try_device, job);
}
