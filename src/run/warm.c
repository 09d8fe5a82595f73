/* The first kernel of a shape loads code into its device, which takes long and, measured, may even
 * fail in the middle of a run: so each shape of a plan is tried once before the plan first runs. */
#include "base/kernel.h"
#include "base/log.h"
#include "run/aside.h"
#include "run/inside.h"

enum { MOST_SHAPES = 512 };

static const double most_flops =
    1e11; /* longer kernels are left to the run: they hide the loading */

/* What makes the vendor's BLAS choose another kernel. */
typedef struct shape {
  int device;
  int32_t m, n, k;
  uint8_t kernel, flags;
} shape;

static bool is_known(const shape *shapes, int count, const shape *s) {
  for (int i = 0; i < count; i++)
    if (shapes[i].device == s->device && shapes[i].m == s->m && shapes[i].n == s->n &&
        shapes[i].k == s->k && shapes[i].kernel == s->kernel && shapes[i].flags == s->flags)
      return true;
  return false;
}

/* Not what writes to the user's memory, where C is at home on the device. */
static bool may_try(const tsr_plan *plan, const tsr_command *c) {
  if (c->kind != TSR_COMMAND_KERNEL) return false;
  if (plan->buffers.items[c->buffer[2]].role == TSR_BUFFER_HOME) return false;
  return tsr_kernel_flops((tsr_kernel)c->kernel, plan->call.type, c->m, c->n, c->k) <= most_flops;
}

static tsr_status issue_all(tsr_ticket *job) {
  const tsr_plan *plan = job->plan;
  shape shapes[MOST_SHAPES];
  int count = 0;
  for (uint32_t i = 0; i < plan->commands.count && count < MOST_SHAPES; i++) {
    const tsr_command *c = &plan->commands.items[i];
    if (!may_try(plan, c)) continue;
    shape s = {plan->queue[c->queue].location, c->m, c->n, c->k, c->kernel, c->flags};
    if (is_known(shapes, count, &s)) continue;
    shapes[count++] = s;
    TSR_TRY(tsr_issue(job, i, job->program->queue[c->queue]));
  }
  return TSR_OK;
}

static tsr_status try_all(void *argument) {
  tsr_ticket *job = argument;
  tsr_runner *runner = job->runner;
  tsr_status status = issue_all(job);
  for (int d = 0; d < runner->devices; d++)
    for (int i = job->program->used_first[d]; i < job->program->used_first[d + 1]; i++) {
      tsr_status ended = tsr_direct_finish(runner, job->program->queue[job->program->used[i]],
                                           runner->side[d].last.items[0]);
      if (status == TSR_OK) status = ended;
    }
  return status;
}

void tsr_warm_up(tsr_ticket *job) {
  if (!job->runner->warm || job->program->warm) return;
  job->program->warm = true;
  tsr_runner_settle(job->runner);
  tsr_status status = tsr_aside(try_all, job);
  /* If it matters the run will fail as well. */
  if (status != TSR_OK) tsr_log(TSR_LOG_INFO, "warming up: %s", tsr_message());
}
