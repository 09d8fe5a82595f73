/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Carries out batches of products (batch.h). */
#include "front/doors/batch.h"

#include "base/clock.h"
#include "blas/check.h"
#include "cpu/blas.h"

/* ---- The products of a batch ---- */

static int64_t integer(const tsr_door_batch *b, const void *of, int64_t group) {
  return b->wide ? ((const int64_t *)of)[group] : ((const int32_t *)of)[group];
}

static tsr_op op_of(const tsr_door_batch *b, const void *of, int64_t group) {
  return b->cblas ? tsr_cblas_op(((const int *)of)[group]) : tsr_door_op((const char *)of + group);
}

static int64_t size_of(const tsr_door_batch *b, int64_t group) {
  return integer(b, b->sizes, group);
}

/* A product of a group without its matrices. */
static tsr_offload_call product_of(const tsr_door_batch *b, int64_t group) {
  size_t number = (size_t)group * b->element;
  tsr_offload_call call = {.what = {.operation = TSR_GEMM,
                                    .type = b->type,
                                    .layout = b->layout,
                                    .transa = op_of(b, b->transa, group),
                                    .transb = op_of(b, b->transb, group),
                                    .m = integer(b, b->m, group),
                                    .n = integer(b, b->n, group),
                                    .k = integer(b, b->k, group),
                                    .lda = integer(b, b->lda, group),
                                    .ldb = integer(b, b->ldb, group),
                                    .ldc = integer(b, b->ldc, group)},
                           .alpha = (const char *)b->alpha + number,
                           .beta = (const char *)b->beta + number};
  call.multiplications = (double)call.what.m * (double)call.what.n * (double)call.what.k;
  return call;
}

static void set_matrices(const tsr_door_batch *b, int64_t product, tsr_offload_call *call) {
  int64_t bytes = product * (int64_t)b->element;
  call->a = b->a != NULL ? b->a[product] : (const char *)b->first_a + bytes * b->stride_a;
  call->b = b->a != NULL ? b->b[product] : (const char *)b->first_b + bytes * b->stride_b;
  call->c = b->a != NULL ? b->c[product] : (char *)b->first_c + bytes * b->stride_c;
}

/* ---- Judging the whole ---- */

/* The position of the first wrong argument of any group, 0: none is wrong. Fills b->largest;
 * *foreign: a flag is one that only the program's BLAS may know. A program whose plain names take
 * integers of 64 bits is not understood if it has several groups: the upper halves, read as the
 * next group's, are wrong leading dimensions. */
static int judge(tsr_door_batch *b, bool *foreign) {
  int position = b->groups < 0 ? 14 : 0;
  int64_t products = 0;
  for (int64_t g = 0; g < b->groups && position == 0; g++) {
    tsr_offload_call call = product_of(b, g);
    bool odd = tsr_door_is_foreign(&call.what);
    *foreign |= odd;
    position = size_of(b, g) < 0 ? 15 : odd ? 0 : tsr_check_position(&call.what);
    if (g == 0 || call.multiplications > b->largest.multiplications) b->largest = call;
    products += size_of(b, g);
  }
  b->largest.products = products;
  return position;
}

/* Whether the whole batch is left to the next, unasked, and counted. */
static bool passes_whole(tsr_door_batch *b, bool foreign) {
  if (!foreign) return tsr_offload_is_small(&b->largest, &b->all);
  tsr_offload_foreign(&b->largest, &b->all);
  return true;
}

/* Decides on a batch that does not come from the next itself. */
static void decide(tsr_door_batch *b) {
  bool foreign = b->groups == 0;
  int position = judge(b, &foreign);
  if (position != 0 && b->next == NULL) {
    if (!tsr_door_tell(b->door, &b->largest.what, position))
      tsr_door_tell_failure(b->door, &b->largest.what);
    b->at = b->groups; /* nothing is to be done, or counted */
    return;
  }
  b->counts = true;
  b->passes = passes_whole(b, foreign || position != 0);
  b->all.products = b->largest.products;
  if (!b->passes) b->all.began = tsr_now();
}

tsr_door_routine tsr_door_batch_enter(tsr_door *door, tsr_door_batch *b, const void *caller) {
  b->door = door;
  b->next = tsr_door_next(door, caller);
  b->done = -1;
  b->passes = tsr_cpu_blas_is_inside();
  if (b->passes) return b->next;
  tsr_door_choose_way(door, b->type, b->next);
  decide(b);
  return b->next;
}

/* ---- On devices ---- */

/* Adds a product that devices have done to what is reported of the batch. */
static void note_done(tsr_door_batch *b, const tsr_offload_visit *one) {
  b->all.why = one->why;
  if (one->devices > b->all.devices) b->all.devices = one->devices;
  b->all.cpu_price += one->cpu_price;
  b->all.plan_price += one->plan_price;
  b->all.staging += one->staging;
}

/* Notes the largest product that was asked about and stays on the CPU. */
static void note_asked(tsr_door_batch *b, const tsr_offload_call *call,
                       const tsr_offload_visit *one) {
  if (b->all.devices == 0 && call->multiplications >= b->largest.multiplications)
    b->all.why = one->why;
  if (call->multiplications < b->asked.multiplications) return;
  b->asked = *call;
  b->asking = *one;
}

/* How many of the group's products devices have done, up to the first that stays on the CPU. */
static int64_t offload_group(tsr_door_batch *b) {
  int64_t size = size_of(b, b->at);
  tsr_offload_call call = product_of(b, b->at);
  for (int64_t i = 0; i < size; i++) {
    tsr_offload_visit one;
    set_matrices(b, b->at_product + i, &call);
    tsr_offload_verdict verdict = tsr_offload_product(&call, &one);
    if (verdict == TSR_OFFLOAD_LOST) tsr_door_tell_failure(b->door, &call.what);
    if (verdict == TSR_OFFLOAD_DONE) note_done(b, &one);
    if (verdict != TSR_OFFLOAD_TO_CPU) continue;
    note_asked(b, &call, &one);
    return i;
  }
  return size;
}

/* ---- On the CPU ---- */

static void step(tsr_door_batch *b) {
  b->at_product += size_of(b, b->at++);
  b->done = -1;
}

/* Gives the next `count` groups to do. */
static bool give(tsr_door_batch *b, int64_t group, int64_t count, int64_t product, int64_t size) {
  b->group = group, b->count = count, b->product = product, b->size = size;
  b->weight = 0;
  for (int64_t g = group; g < group + count && !b->passes; g++)
    b->weight += product_of(b, g).multiplications * (double)(size > 0 ? size : size_of(b, g));
  return true;
}

/* Looks for products that stay on the CPU, and carries out others. False: none is left. */
static bool look(tsr_door_batch *b) {
  int64_t group = b->at, product = b->at_product;
  while (b->at < b->groups) {
    if (b->done < 0) b->done = offload_group(b);
    int64_t left = size_of(b, b->at) - b->done, first = b->at_product + b->done;
    bool stays = b->done == 0 && left > 0;
    if (!stays && b->at > group) return give(b, group, b->at - group, product, 0);
    step(b);
    if (stays) continue;
    if (left > 0) return give(b, b->at - 1, 1, first, left);
    group = b->at, product = b->at_product;
  }
  return b->at > group && give(b, group, b->at - group, product, 0);
}

/* Does what was given with the CPU's BLAS that libtessera loads: the program has no next. */
static void do_alone(tsr_door_batch *b) {
  int64_t product = b->product;
  for (int64_t g = b->group; g < b->group + b->count; g++) {
    tsr_offload_call call = product_of(b, g);
    for (int64_t i = b->size > 0 ? b->size : size_of(b, g); i > 0; i--) {
      set_matrices(b, product++, &call);
      if (tsr_offload_alone(&call) != TSR_OK) tsr_door_tell_failure(b->door, &call.what);
    }
  }
}

/* Records how long the next took: for each of so many products as large as the one asked about. */
static void end_given(tsr_door_batch *b) {
  if (!(b->asking.flops > 0)) return;
  double products = b->weight / b->asked.multiplications;
  b->asking.seconds = (tsr_now() - b->asking.began) / products;
  tsr_offload_product_end(&b->asked, &b->asking, products);
}

static bool look_and_time(tsr_door_batch *b) {
  if (b->count > 0) end_given(b);
  b->asked.multiplications = 0;
  b->asking = (tsr_offload_visit){.flops = 0};
  bool given = look(b);
  b->asking.began = tsr_now();
  if (!given) b->count = 0;
  return given;
}

/* The whole batch, once. */
static bool give_whole(tsr_door_batch *b) {
  if (b->done >= 0) return false;
  b->done = 0;
  return give(b, 0, b->groups, 0, 0);
}

bool tsr_door_batch_rest(tsr_door_batch *b) {
  if (b->inside) tsr_cpu_blas_leave();
  while (b->passes ? give_whole(b) : look_and_time(b)) {
    b->inside = b->next != NULL;
    if (b->inside) {
      tsr_cpu_blas_enter();
      return true;
    }
    do_alone(b);
  }
  if (b->counts) tsr_offload_batch_end(&b->largest, &b->all);
  return false;
}
