/* The first kernel of a shape loads code into its device, which takes long and, measured, may even
 * fail in the middle of a run: so each shape of a plan is tried once before the plan first runs. */
#include <pthread.h>

#include "base/kernel.h"
#include "base/log.h"
#include "run/inside.h"

enum { MOST_SHAPES = 512 };

static const double most_flops =
    1e11; /* longer kernels are left to the run: they hide the loading */

/* What makes the vendor's BLAS choose another kernel. */
typedef struct shape {
  int32_t m, n, k;
  uint8_t kernel, flags;
} shape;

/* A device's share: each has a thread of its own, since loading code is slow. */
typedef struct part {
  tsr_ticket *job;
  int device;
  pthread_t thread;
  bool started;
} part;

static bool is_known(const shape *shapes, int count, const shape *s) {
  for (int i = 0; i < count; i++)
    if (shapes[i].m == s->m && shapes[i].n == s->n && shapes[i].k == s->k &&
        shapes[i].kernel == s->kernel && shapes[i].flags == s->flags)
      return true;
  return false;
}

/* Not what writes to the user's memory, where C is at home on the device. */
static bool may_try(const tsr_plan *plan, const tsr_command *c) {
  if (c->kind != TSR_COMMAND_KERNEL) return false;
  if (plan->buffers.items[c->buffer[2]].role == TSR_BUFFER_HOME) return false;
  return tsr_kernel_flops((tsr_kernel)c->kernel, plan->call.type, c->m, c->n, c->k) <= most_flops;
}

static tsr_status issue_shapes(const part *p) {
  const tsr_plan *plan = p->job->plan;
  const tsr_program *program = p->job->program;
  shape shapes[MOST_SHAPES];
  int count = 0;
  for (uint32_t i = program->device_first[p->device];
       i < program->device_first[p->device + 1] && count < MOST_SHAPES; i++) {
    uint32_t command = program->by_device[i];
    const tsr_command *c = &plan->commands.items[command];
    if (!may_try(plan, c)) continue;
    shape s = {c->m, c->n, c->k, c->kernel, c->flags};
    if (is_known(shapes, count, &s)) continue;
    shapes[count++] = s;
    TSR_TRY(tsr_issue(p->job, command, program->queue[c->queue]));
  }
  return TSR_OK;
}

static tsr_status finish_queues(const part *p) {
  tsr_runner *runner = p->job->runner;
  const tsr_program *program = p->job->program;
  tsr_status status = TSR_OK;
  for (int i = program->used_first[p->device]; i < program->used_first[p->device + 1]; i++) {
    tsr_status ended = tsr_direct_finish(runner, program->queue[program->used[i]],
                                         runner->side[p->device].last.items[0]);
    if (status == TSR_OK) status = ended;
  }
  return status;
}

/* If a failure matters the run will fail as well. */
static void *try_device(void *argument) {
  const part *p = argument;
  tsr_status status = issue_shapes(p), ended = finish_queues(p);
  if (status != TSR_OK || ended != TSR_OK)
    tsr_log(TSR_LOG_INFO, "warming up device %d: %s", p->device, tsr_message());
  return NULL;
}

void tsr_warm_up(tsr_ticket *job) {
  if (!job->runner->warm || job->program->warm) return;
  job->program->warm = true;
  tsr_runner_settle(job->runner);
  part parts[TSR_MAX_DEVICES];
  for (int d = 0; d < job->runner->devices; d++) {
    parts[d] = (part){.job = job, .device = d};
    parts[d].started = pthread_create(&parts[d].thread, NULL, try_device, &parts[d]) == 0;
  }
  for (int d = 0; d < job->runner->devices; d++)
    if (parts[d].started) pthread_join(parts[d].thread, NULL);
}
