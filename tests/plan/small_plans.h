/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Plans made by hand for the tests of the verifier and of the prints: 8 x 8 x 8 products on a
 * machine of two devices and one host.
 */
#ifndef TEST_SMALL_PLANS_H
#define TEST_SMALL_PLANS_H

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

enum { SMALL = 8, HOST = 2, ROLES = TSR_QUEUE_ADD + 1, END = -1 };

/* A queue of each role on both devices, then two staging queues. */
static inline uint16_t queue_of(int location, tsr_queue_role role) {
  return (uint16_t)(location * ROLES + (location == HOST ? 0 : (int)role));
}

static inline tsr_machine *small_machine(void) {
  tsr_machine *machine = calloc(1, sizeof *machine);
  strcpy(machine->name, "two <small> \"ones\" & a host");
  machine->devices = 2;
  machine->nodes = 1;
  for (int from = 0; from < 3; from++)
    for (int to = 0; to < 3; to++)
      if (from != to) machine->link[from][to].bandwidth = 1e9;
  static tsr_channel_use uses[] = {{HOST, 0, 1}, {HOST, 1, 1}};
  machine->channels = 1;
  machine->channel[0] = (tsr_channel){"host to GPUs", 1.5e9, 2, uses};
  return machine;
}

static inline tsr_plan *small_plan(tsr_type type, tsr_memory memory, tsr_scalar_class alpha,
                                   tsr_scalar_class beta) {
  tsr_plan *plan = calloc(1, sizeof *plan);
  plan->call = (tsr_call){.operation = TSR_GEMM,
                          .type = type,
                          .transa = TSR_NO_TRANS,
                          .transb = TSR_NO_TRANS,
                          .side = TSR_LEFT,
                          .uplo = TSR_GENERAL,
                          .diag = TSR_NON_UNIT,
                          .m = SMALL,
                          .n = SMALL,
                          .k = SMALL,
                          .alpha = alpha,
                          .beta = beta};
  plan->machine_devices = plan->devices = 2;
  plan->grid_rows = 1;
  plan->grid_cols = 2;
  plan->queues = 2 * ROLES + 2;
  for (int q = 0; q < 2 * ROLES; q++)
    plan->queue[q] = (tsr_plan_queue){(int16_t)(q / ROLES), (uint8_t)(q % ROLES),
                                      q % ROLES == TSR_QUEUE_PEER ? (uint8_t)(1 - q / ROLES) : 0};
  for (int lane = 0; lane < 2; lane++)
    plan->queue[2 * ROLES + lane] = (tsr_plan_queue){HOST, TSR_QUEUE_STAGING, (uint8_t)lane};
  for (int i = 0; i < TSR_OPERANDS; i++) {
    plan->call.operand[i] = (tsr_operand){SMALL, SMALL, SMALL, memory, HOST, 0, 0, 4};
    tsr_buffer home = {0, 0, SMALL, SMALL, SMALL, 0, 0, TSR_BUFFER_HOME, (uint8_t)i, HOST, 0, 0};
    (void)TSR_VEC_PUSH(&plan->buffers, home);
  }
  return plan;
}

static inline void move_home(tsr_plan *plan, int operand, int device) {
  plan->call.operand[operand].memory = TSR_DEVICE;
  plan->call.operand[operand].location = device;
  plan->buffers.items[operand].location = (int16_t)device;
}

/* A new buffer behind the others of its location. */
static inline int new_buffer(tsr_plan *plan, int matrix, int location, int row, int col, int rows,
                             int cols) {
  const tsr_type_info *type = tsr_type_get(plan->call.type);
  size_t size = matrix == TSR_W ? tsr_type_get(type->wide)->size : type->size;
  size_t bytes = (size_t)(rows * cols) * size;
  uint8_t role = location == HOST ? TSR_BUFFER_STAGE : TSR_BUFFER_TILE;
  tsr_buffer buffer = {row,
                       col,
                       rows,
                       cols,
                       rows,
                       plan->arena[location],
                       bytes,
                       role,
                       (uint8_t)matrix,
                       (int16_t)location,
                       0,
                       0};
  plan->arena[location] += bytes;
  (void)TSR_VEC_PUSH(&plan->buffers, buffer);
  return (int)plan->buffers.count - 1;
}

/* Adds a command that waits for those that follow, up to END. */
static inline int add_waiting(tsr_plan *plan, tsr_command command, va_list waits) {
  command.wait = (uint32_t)plan->waits.count;
  for (int earlier; (earlier = va_arg(waits, int)) != END;) {
    (void)TSR_VEC_PUSH(&plan->waits, (uint32_t)earlier);
    plan->commands.items[earlier].flags |= TSR_FLAG_EVENT;
    command.waits++;
  }
  (void)TSR_VEC_PUSH(&plan->commands, command);
  return (int)plan->commands.count - 1;
}

static inline int add_copy(tsr_plan *plan, int queue, int from, int to, int row, int col, int rows,
                           int cols, ...) {
  tsr_command command = {.row = {row},
                         .col = {col},
                         .buffer = {from, to, TSR_NO_BUFFER},
                         .m = rows,
                         .n = cols,
                         .queue = (uint16_t)queue,
                         .kind = TSR_COMMAND_COPY};
  va_list waits;
  va_start(waits, cols);
  int index = add_waiting(plan, command, waits);
  va_end(waits);
  return index;
}

/* C[i.., j..] of m x n over k from k0, as the call's transposes have it. */
static inline int add_gemm(tsr_plan *plan, int device, const int buffers[3], int flags, int i,
                           int j, int k0, int m, int n, int k, ...) {
  bool turn_a = plan->call.transa != TSR_NO_TRANS, turn_b = plan->call.transb != TSR_NO_TRANS;
  tsr_form form = {.transa = plan->call.transa, .transb = plan->call.transb};
  tsr_command command = {.row = {turn_a ? k0 : i, turn_b ? j : k0, i},
                         .col = {turn_a ? i : k0, turn_b ? k0 : j, j},
                         .buffer = {buffers[0], buffers[1], buffers[2]},
                         .m = m,
                         .n = n,
                         .k = k,
                         .flags = (uint8_t)flags,
                         .form = tsr_form_pack(form),
                         .queue = queue_of(device, TSR_QUEUE_COMPUTE),
                         .kind = TSR_COMMAND_KERNEL,
                         .kernel = TSR_KERNEL_GEMM};
  va_list waits;
  va_start(waits, k);
  int index = add_waiting(plan, command, waits);
  va_end(waits);
  return index;
}

/* ADD (w is a buffer) or SCALE (w is TSR_NO_BUFFER) on m x n of C. */
static inline int add_small(tsr_plan *plan, int device, int w, int c, int flags, int i, int j,
                            int m, int n, ...) {
  tsr_command command = {.row = {i, 0, i},
                         .col = {j, 0, j},
                         .buffer = {w, TSR_NO_BUFFER, c},
                         .m = m,
                         .n = n,
                         .flags = (uint8_t)flags,
                         .queue = queue_of(device, TSR_QUEUE_ADD),
                         .kind = TSR_COMMAND_KERNEL,
                         .kernel = w == TSR_NO_BUFFER ? TSR_KERNEL_SCALE : TSR_KERNEL_ADD};
  va_list waits;
  va_start(waits, n);
  int index = add_waiting(plan, command, waits);
  va_end(waits);
  return index;
}

/* Makes first and last of every buffer true, and times that ascend. */
static inline tsr_plan *plan_finish(tsr_plan *plan) {
  for (size_t i = 0; i < plan->buffers.count; i++) plan->buffers.items[i].first = UINT32_MAX;
  for (size_t c = 0; c < plan->commands.count; c++) {
    tsr_command *command = &plan->commands.items[c];
    command->begin = (float)c * 1e-3f;
    command->end = (float)(c + 2) * 1e-3f;
    for (int i = 0; i < 3; i++) {
      int32_t used = command->buffer[i];
      if (used < 0 || (size_t)used >= plan->buffers.count) continue;
      tsr_buffer *buffer = &plan->buffers.items[used];
      if (buffer->first == UINT32_MAX) buffer->first = (uint32_t)c;
      buffer->last = (uint32_t)c;
    }
  }
  plan->seconds = 1e-3 * (double)(plan->commands.count + 1);
  plan->floor = 0.9 * plan->seconds;
  return plan;
}

static inline void plan_release(tsr_plan *plan) {
  TSR_VEC_FREE(&plan->commands);
  TSR_VEC_FREE(&plan->waits);
  TSR_VEC_FREE(&plan->buffers);
  free(plan);
}

/* C is at the host, its columns are split over the devices; A goes to device 0 and from there to
 * device 1; W over two halves of k, then C = W + beta C. Each device has 8 (0) or 9 commands. */
static inline tsr_plan *plan_relayed(tsr_type type) {
  tsr_plan *plan = small_plan(type, TSR_PINNED, TSR_OTHER, TSR_OTHER);
  int wide = tsr_type_get(type)->wide != type ? TSR_FLAG_WIDE : 0, first[2] = {0};
  for (int d = 0; d < 2; d++) {
    int in = queue_of(d, TSR_QUEUE_IN), j = 4 * d, half[2];
    int a = new_buffer(plan, TSR_A, d, 0, 0, 8, 8), b = new_buffer(plan, TSR_B_, d, 0, j, 8, 4);
    int c = new_buffer(plan, TSR_C_, d, 0, j, 8, 4), w = new_buffer(plan, TSR_W, d, 0, j, 8, 4);
    for (int h = 0; h < 2; h++) { /* 0, 1; 9, 10 */
      int peer = queue_of(0, TSR_QUEUE_PEER);
      half[h] = d == 0 ? add_copy(plan, in, TSR_A, a, 0, 4 * h, 8, 4, END)
                       : add_copy(plan, peer, 3, a, 0, 4 * h, 8, 4, first[h], END);
    }
    memcpy(first, half, sizeof first);
    int fetch_b = add_copy(plan, in, TSR_B_, b, 0, j, 8, 4, END); /* 2; 11 */
    int parts[3] = {a, b, w};
    add_gemm(plan, d, parts, wide, 0, j, 0, 8, 4, 4, half[0], fetch_b, END); /* 3; 12 */
    int last = add_gemm(plan, d, parts, wide | TSR_FLAG_BETA_ONE, 0, j, 4, 8, 4, 4, half[1],
                        END);                                     /* 4; 13 */
    int fetch_c = add_copy(plan, in, TSR_C_, c, 0, j, 8, 4, END); /* 5; 14 */
    for (int h = 0; h < 2; h++) {                                 /* 6, 7; 15, 16: */
      int flags = wide | TSR_FLAG_BETA | TSR_FLAG_ALPHA_ONE;
      add_small(plan, d, w, c, flags, 4 * h, j, 4, 4, last, fetch_c, END);
    }
    int added = (int)plan->commands.count - 1;
    add_copy(plan, queue_of(d, TSR_QUEUE_OUT), c, TSR_C_, 0, j, 8, 4, added, END); /* 8; 17 */
  }
  return plan_finish(plan);
}

/* A^T is at device 0, B^T and C are at device 1, which works on C in place. */
static inline tsr_plan *plan_in_place(void) {
  tsr_plan *plan = small_plan(TSR_D, TSR_PINNED, TSR_ONE, TSR_OTHER);
  plan->call.transa = plan->call.transb = TSR_TRANS;
  move_home(plan, TSR_A, 0);
  move_home(plan, TSR_B_, 1);
  move_home(plan, TSR_C_, 1);
  int a = new_buffer(plan, TSR_A, 1, 0, 0, 8, 8), peer = queue_of(0, TSR_QUEUE_PEER);
  int parts[3] = {a, TSR_B_, TSR_C_};
  for (int h = 0; h < 2; h++) { /* 0, 1, 2; 3, 4, 5 */
    int flags = h == 0 ? TSR_FLAG_BETA : TSR_FLAG_BETA_ONE;
    int got = add_copy(plan, peer, TSR_A, a, 4 * h, 0, 4, 8, END);
    for (int i = 0; i < 2; i++) add_gemm(plan, 1, parts, flags, 4 * i, 0, 4 * h, 4, 8, 4, got, END);
  }
  return plan_finish(plan);
}

/* All is pageable but the first half of A; beta is 0; device 0 alone. The ring has room for one
 * piece, which three buffers have in turn. */
static inline tsr_plan *plan_staged(void) {
  tsr_plan *plan = small_plan(TSR_D, TSR_PAGEABLE, TSR_OTHER, TSR_ZERO);
  plan->call.operand[TSR_A].pinned_end = 4 * SMALL * 8;
  int in = queue_of(0, TSR_QUEUE_IN), lane = queue_of(HOST, TSR_QUEUE_STAGING);
  int a = new_buffer(plan, TSR_A, 0, 0, 0, 8, 8), b = new_buffer(plan, TSR_B_, 0, 0, 0, 8, 8);
  int c = new_buffer(plan, TSR_C_, 0, 0, 0, 8, 8),
      stage_a = new_buffer(plan, TSR_A, HOST, 0, 4, 8, 4);
  int stage_b = new_buffer(plan, TSR_B_, HOST, 0, 0, 8, 8);
  int stage_c = new_buffer(plan, TSR_C_, HOST, 0, 0, 8, 8), parts[3] = {a, b, c};
  plan->buffers.items[stage_b].offset = plan->buffers.items[stage_c].offset = 0;
  plan->arena[HOST] = 512;
  add_copy(plan, in, TSR_A, a, 0, 0, 8, 4, END);                              /* 0 */
  add_copy(plan, lane, TSR_A, stage_a, 0, 4, 8, 4, END);                      /* 1 */
  add_copy(plan, in, stage_a, a, 0, 4, 8, 4, 1, END);                         /* 2 */
  add_copy(plan, lane, TSR_B_, stage_b, 0, 0, 8, 4, 2, END);                  /* 3 */
  add_copy(plan, lane + 1, TSR_B_, stage_b, 0, 4, 8, 4, 2, END);              /* 4 */
  add_copy(plan, in, stage_b, b, 0, 0, 8, 8, 3, 4, END);                      /* 5 */
  add_gemm(plan, 0, parts, 0, 0, 0, 0, 8, 8, 8, 5, END);                      /* 6 */
  add_copy(plan, queue_of(0, TSR_QUEUE_OUT), c, stage_c, 0, 0, 8, 8, 6, END); /* 7 */
  add_copy(plan, lane, stage_c, TSR_C_, 0, 0, 8, 8, 7, END);                  /* 8 */
  return plan_finish(plan);
}

/* alpha is 0: C = beta C on device 0. */
static inline tsr_plan *plan_scaled(void) {
  tsr_plan *plan = small_plan(TSR_Z, TSR_PINNED, TSR_ZERO, TSR_OTHER);
  int c = new_buffer(plan, TSR_C_, 0, 0, 0, 8, 8);
  add_copy(plan, queue_of(0, TSR_QUEUE_IN), TSR_C_, c, 0, 0, 8, 8, END);
  add_small(plan, 0, TSR_NO_BUFFER, c, TSR_FLAG_BETA, 0, 0, 8, 8, 0, END);
  add_copy(plan, queue_of(0, TSR_QUEUE_OUT), c, TSR_C_, 0, 0, 8, 8, 1, END);
  return plan_finish(plan);
}

#endif
