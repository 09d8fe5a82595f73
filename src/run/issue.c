/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Turns commands of a plan into copies and kernels of the engine, with the run's addresses, alpha
 * and beta. */
#include "plan/names.h"
#include "run/inside.h"

static const tsr_buffer *buffer_of(const tsr_job *job, const tsr_command *command, int operand) {
  int32_t index = command->buffer[operand];
  return index == TSR_NO_BUFFER ? NULL : &job->plan->buffers.items[index];
}

static char *base_of(const tsr_job *job, const tsr_buffer *buffer) {
  switch (buffer->role) {
    case TSR_BUFFER_HOME:
      return job->binding.base[buffer->matrix];
    case TSR_BUFFER_CACHED:
      return job->blocks[buffer->offset];
    default:
      return (char *)job->arena[buffer->location] + buffer->offset;
  }
}

/* Address of an element of a matrix in a buffer. */
static char *address(const tsr_job *job, const tsr_buffer *buffer, int64_t row, int64_t col) {
  char *base = base_of(job, buffer);
  int64_t elements = (row - buffer->row) + (col - buffer->col) * buffer->ld;
  return base + elements * (int64_t)tsr_matrix_element(&job->plan->call, buffer->matrix);
}

static int device_of(const tsr_job *job, const tsr_buffer *buffer) {
  return buffer->location < job->plan->machine_devices ? buffer->location : TSR_HOST;
}

void tsr_issue_copy_args(const tsr_job *job, uint32_t index, tsr_copy_args *args) {
  const tsr_command *c = &job->plan->commands.items[index];
  const tsr_buffer *from = buffer_of(job, c, 0), *to = buffer_of(job, c, 1);
  size_t size = tsr_matrix_element(&job->plan->call, from->matrix);
  *args = (tsr_copy_args){.to = address(job, to, c->row[0], c->col[0]),
                          .from = address(job, from, c->row[0], c->col[0]),
                          .to_device = device_of(job, to),
                          .from_device = device_of(job, from),
                          .to_pitch = (size_t)to->ld * size,
                          .from_pitch = (size_t)from->ld * size,
                          .width = (size_t)c->m * size,
                          .height = (size_t)c->n};
  if (c->form != 0) return; /* a triangle, whose columns the staging threads cut */
  if (args->to_pitch != args->width || args->from_pitch != args->width) return;
  args->width *= args->height;
  args->to_pitch = args->from_pitch = args->width;
  args->height = 1;
}

static tsr_scalar alpha_of(const tsr_job *job, const tsr_command *c) {
  tsr_scalar alpha = job->binding.alpha;
  if (c->flags & TSR_FLAG_ALPHA_ONE) return (tsr_scalar){1, 0};
  if (c->flags & TSR_FLAG_ALPHA_MINUS) return (tsr_scalar){-1, 0};
  if (c->flags & TSR_FLAG_ALPHA_CONJ) alpha.im = -alpha.im;
  return alpha;
}

static tsr_scalar beta_of(const tsr_job *job, const tsr_command *c) {
  if (c->flags & TSR_FLAG_BETA) return job->binding.beta;
  if (c->flags & TSR_FLAG_BETA_ALPHA) return job->binding.alpha;
  return (tsr_scalar){c->flags & TSR_FLAG_BETA_ONE ? 1 : 0, 0};
}

static void *operand(const tsr_job *job, const tsr_command *c, int i, int64_t *ld) {
  const tsr_buffer *buffer = buffer_of(job, c, i);
  if (buffer == NULL) return NULL;
  *ld = buffer->ld;
  return address(job, buffer, c->row[i], c->col[i]);
}

/* A block of a form is addressed by its beginning and the number of a line. */
static void set_block(const tsr_job *job, uint32_t index, int i, tsr_kernel_args *args) {
  const tsr_command *c = &job->plan->commands.items[index];
  const tsr_buffer *buffer = buffer_of(job, c, i);
  if (buffer == NULL || !tsr_is_lines(buffer->matrix)) return;
  args->lines.of[i] = (tsr_lines_range){c->col[i] - buffer->col, buffer->cols};
  if (i == 2)
    args->c = base_of(job, buffer);
  else
    *(i == 0 ? &args->a : &args->b) = base_of(job, buffer);
}

/* The products over k elements of which an element of C is the sum: several beside a triangle, and
 * in syr2k and her2k. */
static int64_t products_of(const tsr_call *call, int64_t k) {
  bool two = call->operation == TSR_SYR2K || call->operation == TSR_HER2K;
  return (k > 0 ? (call->k + k - 1) / k : 1) * (two ? 2 : 1);
}

static void set_lines(const tsr_job *job, uint32_t index, tsr_kernel_args *args) {
  const tsr_call *call = &job->plan->call;
  args->lines = tsr_promise_args(call->arithmetic, &call->promise, call->type,
                                 products_of(call, args->k), args->k);
  args->lines.overlaps = job->runner->engine->traits.overlaps;
  for (int i = 0; i < 3; i++) set_block(job, index, i, args);
}

/* Where the kernel's verdict goes; NULL: it gives none. */
static int32_t *verdict_of(const tsr_job *job, uint32_t index, tsr_kernel kernel) {
  bool gives = tsr_kernel_multiplies_forms(kernel) || tsr_kernel_factors(kernel);
  return gives && tsr_call_has_verdicts(&job->plan->call) ? job->verdicts + index : NULL;
}

static int blocks_of(const tsr_job *job, const tsr_command *c) {
  bool by_blocks = job->plan->by_blocks >> c->kernel & 1;
  return by_blocks ? tsr_kernel_block((tsr_kernel)c->kernel, job->plan->call.type) : 0;
}

static tsr_status issue_kernel(const tsr_job *job, uint32_t index, tsr_queue *queue) {
  const tsr_command *c = &job->plan->commands.items[index];
  const tsr_call *call = &job->plan->call;
  tsr_form form = tsr_form_unpack(c->form);
  tsr_kernel_args args = {.kernel = (tsr_kernel)c->kernel,
                          .type = call->type,
                          .transa = form.transa,
                          .transb = form.transb,
                          .side = form.side,
                          .uplo = form.uplo,
                          .diag = form.diag,
                          .wide = (c->flags & TSR_FLAG_WIDE) != 0,
                          .blocks = blocks_of(job, c),
                          .m = c->m,
                          .n = c->n,
                          .k = c->k,
                          .alpha = alpha_of(job, c),
                          .beta = beta_of(job, c)};
  args.a = operand(job, c, 0, &args.lda);
  args.b = operand(job, c, 1, &args.ldb);
  args.c = operand(job, c, 2, &args.ldc);
  args.verdict = verdict_of(job, index, args.kernel);
  if (tsr_call_has_form(call)) set_lines(job, index, &args);
  return job->runner->engine->kernel(queue, &args);
}

static void count(tsr_runner *runner, const tsr_copy_args *args) {
  int from = args->from_device, to = args->to_device;
  tsr_moved *at = &runner->moved[to == TSR_HOST ? from : to];
  atomic_ullong *sum = to == TSR_HOST     ? &at->to_host
                       : from == TSR_HOST ? &at->from_host
                       : from == to       ? &at->within
                                          : &at->from_devices;
  atomic_fetch_add_explicit(sum, args->width * args->height, memory_order_relaxed);
}

tsr_status tsr_issue(tsr_job *job, uint32_t index, tsr_queue *queue) {
  const tsr_command *c = &job->plan->commands.items[index];
  if (c->kind == TSR_COMMAND_KERNEL) return issue_kernel(job, index, queue);
  tsr_copy_args args;
  tsr_issue_copy_args(job, index, &args);
  TSR_TRY(job->runner->engine->copy(queue, &args));
  count(job->runner, &args);
  return TSR_OK;
}
