/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Plans made by hand, for tests of the runner alone: C = alpha A B + beta C in double precision, C
 * by columns over the devices; A comes up once, in pieces, and is passed on from device to device.
 */
#ifndef TESTS_RUN_HANDMADE_H
#define TESTS_RUN_HANDMADE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "plan/plan.h"
#include "run/program.h"

enum { NO_COMMAND = -1, PIECES = 4, SLOTS = 2 };

typedef struct handmade {
  tsr_plan *plan;
  int devices, host;
  int64_t n;
  bool staged; /* A comes, and C goes, by way of the ring and staging queues */
  int32_t a[8], b[8], c[8];
  int32_t have_a[8][PIECES]; /* the command that brings a piece of A to a device */
  int32_t slot_user[SLOTS];
} handmade;

static int add_queue(handmade *h, int location, tsr_queue_role role, int index) {
  tsr_plan *p = h->plan;
  for (int q = 0; q < p->queues; q++)
    if (p->queue[q].location == location && p->queue[q].role == role && p->queue[q].index == index)
      return q;
  p->queue[p->queues] = (tsr_plan_queue){(int16_t)location, (uint8_t)role, (uint8_t)index};
  return p->queues++;
}

static int32_t add_buffer(handmade *h, int role, int matrix, int location, int64_t col,
                          int64_t cols) {
  tsr_plan *p = h->plan;
  tsr_buffer b = {.col = col,
                  .rows = h->n,
                  .cols = cols,
                  .ld = h->n,
                  .role = (uint8_t)role,
                  .matrix = (uint8_t)matrix,
                  .location = (int16_t)location};
  if (role != TSR_BUFFER_HOME) {
    b.offset = p->arena[location];
    b.bytes = (size_t)(h->n * cols) * sizeof(double);
    p->arena[location] += (b.bytes + 511) / 512 * 512;
  }
  assert_true(TSR_VEC_PUSH(&p->buffers, b));
  return (int32_t)p->buffers.count - 1;
}

static int32_t add_command(handmade *h, tsr_command c, int queue, const int32_t *waits, int count) {
  tsr_plan *p = h->plan;
  c.queue = (uint16_t)queue;
  c.wait = (uint32_t)p->waits.count;
  for (int i = 0; i < count; i++) {
    if (waits[i] == NO_COMMAND) continue;
    p->commands.items[waits[i]].flags |= TSR_FLAG_EVENT;
    assert_true(TSR_VEC_PUSH(&p->waits, (uint32_t)waits[i]));
    c.waits++;
  }
  assert_true(TSR_VEC_PUSH(&p->commands, c));
  return (int32_t)p->commands.count - 1;
}

static int32_t add_copy(handmade *h, int queue, int32_t from, int32_t to, int64_t col, int64_t cols,
                        int32_t w1, int32_t w2) {
  tsr_command c = {.kind = TSR_COMMAND_COPY,
                   .buffer = {from, to, TSR_NO_BUFFER},
                   .col = {col, col, 0},
                   .m = (int32_t)h->n,
                   .n = (int32_t)cols};
  return add_command(h, c, queue, (int32_t[]){w1, w2}, 2);
}

/* A slot of the ring for these columns of a matrix: its buffer; *before last used it. */
static int32_t take_slot(handmade *h, int index, int matrix, int64_t col, int64_t cols,
                         int32_t *before) {
  int32_t slot = add_buffer(h, TSR_BUFFER_STAGE, matrix, h->host, col, cols);
  size_t room = ((size_t)(h->n * h->n) * sizeof(double) + 511) / 512 * 512;
  h->plan->buffers.items[slot].offset = (size_t)index * room;
  h->plan->arena[h->host] = SLOTS * room;
  *before = h->slot_user[index];
  return slot;
}

/* Columns [col, col + cols) of A to device 0, then from each device to the next. */
static void bring_a(handmade *h, int piece, int64_t col, int64_t cols) {
  int in = add_queue(h, 0, TSR_QUEUE_IN, 0), s = piece % SLOTS;
  int32_t from = TSR_A, after = NO_COMMAND, before;
  if (h->staged) {
    from = take_slot(h, s, TSR_A, col, cols, &before);
    int lane = add_queue(h, h->host, TSR_QUEUE_STAGING, s);
    after = add_copy(h, lane, TSR_A, from, col, cols, before, NO_COMMAND);
  }
  h->have_a[0][piece] = add_copy(h, in, from, h->a[0], col, cols, after, NO_COMMAND);
  h->slot_user[s] = h->have_a[0][piece];
  for (int d = 1; d < h->devices; d++)
    h->have_a[d][piece] = add_copy(h, add_queue(h, d - 1, TSR_QUEUE_PEER, d), h->a[d - 1], h->a[d],
                                   col, cols, h->have_a[d - 1][piece], NO_COMMAND);
}

static void send_c(handmade *h, int d, int32_t kernel) {
  int out = add_queue(h, d, TSR_QUEUE_OUT, 0), s = d % SLOTS;
  int64_t col = h->plan->buffers.items[h->c[d]].col, cols = h->plan->buffers.items[h->c[d]].cols;
  if (!h->staged) {
    add_copy(h, out, h->c[d], TSR_C_, col, cols, kernel, NO_COMMAND);
    return;
  }
  int32_t before, stage = take_slot(h, s, TSR_C_, col, cols, &before);
  int32_t down = add_copy(h, out, h->c[d], stage, col, cols, kernel, before);
  int lane = add_queue(h, h->host, TSR_QUEUE_STAGING, s);
  h->slot_user[s] = add_copy(h, lane, stage, TSR_C_, col, cols, down, NO_COMMAND);
}

static void compute(handmade *h, int d) {
  const tsr_buffer *c = &h->plan->buffers.items[h->c[d]];
  int64_t col = c->col, cols = c->cols;
  int in = add_queue(h, d, TSR_QUEUE_IN, 0);
  int32_t waits[PIECES + 2];
  memcpy(waits, h->have_a[d], sizeof h->have_a[d]);
  waits[PIECES] = add_copy(h, in, TSR_B_, h->b[d], col, cols, NO_COMMAND, NO_COMMAND);
  waits[PIECES + 1] = add_copy(h, in, TSR_C_, h->c[d], col, cols, NO_COMMAND, NO_COMMAND);
  tsr_command kernel = {.kind = TSR_COMMAND_KERNEL,
                        .kernel = TSR_KERNEL_GEMM,
                        .flags = TSR_FLAG_BETA,
                        .buffer = {h->a[d], h->b[d], h->c[d]},
                        .col = {0, col, col},
                        .m = (int32_t)h->n,
                        .n = (int32_t)cols,
                        .k = (int32_t)h->n};
  send_c(h, d, add_command(h, kernel, add_queue(h, d, TSR_QUEUE_COMPUTE, 0), waits, PIECES + 2));
}

static void set_call(handmade *h) {
  tsr_call *call = &h->plan->call;
  *call = (tsr_call){.operation = TSR_GEMM,
                     .type = TSR_D,
                     .transa = TSR_NO_TRANS,
                     .transb = TSR_NO_TRANS,
                     .m = h->n,
                     .n = h->n,
                     .k = h->n,
                     .alpha = TSR_OTHER,
                     .beta = TSR_OTHER};
  for (int i = 0; i < TSR_OPERANDS; i++) {
    call->operand[i] = (tsr_operand){.rows = h->n, .cols = h->n, .ld = h->n, .location = h->host};
    add_buffer(h, TSR_BUFFER_HOME, i, h->host, 0, h->n);
  }
}

/* A plan and its program, which is made when it is first wanted. */
typedef struct handmade_object {
  tsr_plan plan;
  tsr_program *program;
} handmade_object;

static tsr_program **handmade_place(tsr_plan *plan) {
  return &((handmade_object *)plan)->program;
}

static tsr_program *handmade_program(tsr_plan *plan) {
  tsr_program **program = handmade_place(plan);
  if (*program == NULL) assert_int_equal(tsr_program_create(plan, program), TSR_OK);
  return *program;
}

static tsr_plan *handmade_plan(int devices, int64_t n, bool staged) {
  handmade h = {.plan = tsr_alloc_zero(1, sizeof(handmade_object)),
                .devices = devices,
                .host = devices,
                .n = n,
                .staged = staged,
                .slot_user = {NO_COMMAND, NO_COMMAND}};
  h.plan->machine_devices = h.plan->devices = devices;
  set_call(&h);
  for (int d = 0; d < devices; d++) {
    int64_t col = n * d / devices, cols = n * (d + 1) / devices - col;
    h.a[d] = add_buffer(&h, TSR_BUFFER_TILE, TSR_A, d, 0, n);
    h.b[d] = add_buffer(&h, TSR_BUFFER_TILE, TSR_B_, d, col, cols);
    h.c[d] = add_buffer(&h, TSR_BUFFER_TILE, TSR_C_, d, col, cols);
  }
  for (int i = 0; i < PIECES; i++)
    bring_a(&h, i, n * i / PIECES, n * (i + 1) / PIECES - n * i / PIECES);
  for (int d = 0; d < devices; d++) compute(&h, d);
  return h.plan;
}

static void handmade_free(tsr_plan *plan) {
  tsr_program_destroy(*handmade_place(plan));
  TSR_VEC_FREE(&plan->commands);
  TSR_VEC_FREE(&plan->waits);
  TSR_VEC_FREE(&plan->buffers);
  tsr_dealloc(plan);
}

/* ---- Data ---- */

typedef struct problem {
  int64_t n;
  double *a, *b, *c, *wanted;
} problem;

/* Pins memory, or unpins it. NULL: memory stays pageable. Set where an engine copies from and to
 * pinned memory alone. */
static void (*problem_pin)(void *pointer, size_t bytes, bool on);

/* Pages of their own, since pages are what is pinned. */
static double *problem_matrix(int64_t n) {
  size_t bytes = ((size_t)(n * n) * sizeof(double) + 4095) / 4096 * 4096;
  double *matrix = aligned_alloc(4096, bytes);
  assert_non_null(matrix);
  if (problem_pin != NULL) problem_pin(matrix, bytes, true);
  return matrix;
}

static void problem_matrix_free(double *matrix) {
  if (problem_pin != NULL) problem_pin(matrix, 0, false);
  free(matrix);
}

static void problem_make(problem *p, int64_t n, unsigned seed) {
  size_t count = (size_t)(n * n);
  *p = (problem){n, problem_matrix(n), problem_matrix(n), problem_matrix(n), malloc(8 * count)};
  for (size_t i = 0; i < count; i++) {
    seed = seed * 1664525u + 1013904223u;
    p->a[i] = (double)(seed >> 20) - 2048; /* whole numbers: sums are exact in any order */
    p->b[i] = (double)(seed >> 8 & 1023) - 512;
    p->c[i] = (double)(seed >> 12 & 255);
  }
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) {
      double sum = 0;
      for (int64_t k = 0; k < n; k++) sum += p->a[i + k * n] * p->b[k + j * n];
      p->wanted[i + j * n] = 2 * sum + 3 * p->c[i + j * n];
    }
}

static tsr_binding problem_binding(const problem *p) {
  return (tsr_binding){{p->a, p->b, p->c}, {2, 0}, {3, 0}};
}

static void problem_check(const problem *p) {
  for (int64_t i = 0; i < p->n * p->n; i++)
    if (p->c[i] != p->wanted[i])
      fail_msg("element %lld is %g, not %g", (long long)i, p->c[i], p->wanted[i]);
}

static void problem_free(problem *p) {
  problem_matrix_free(p->a);
  problem_matrix_free(p->b);
  problem_matrix_free(p->c);
  free(p->wanted);
}

#endif
