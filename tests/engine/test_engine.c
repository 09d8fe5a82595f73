/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What every engine must do: memory, copies, order by events, times, threads. */
#include "harness.h"

#include <pthread.h>
#include <stdio.h>

enum { N = 64 }; /* doubles in a small buffer */

static void fill(double *x, int n, double from) {
  for (int i = 0; i < n; i++) x[i] = from + i;
}

static tsr_kernel_args add_of(double alpha, const void *a, double beta, void *c, int64_t n) {
  return (tsr_kernel_args){.kernel = TSR_KERNEL_ADD,
                           .type = TSR_D,
                           .m = n,
                           .n = 1,
                           .alpha = {alpha, 0},
                           .beta = {beta, 0},
                           .a = a,
                           .c = c,
                           .lda = n,
                           .ldc = n};
}

static void copy(harness *h, tsr_queue *queue, void *to, int to_device, const void *from,
                 int from_device, size_t bytes) {
  tsr_copy_args args = plain_copy(to, to_device, from, from_device, bytes);
  OK(h->engine->copy(queue, &args));
}

static void test_open(void **state) {
  (void)state;
  assert_null(tsr_engine_find("abacus"));
  assert_non_null(strstr(tsr_message(), "abacus"));
  assert_non_null(strstr(tsr_message(), "host"));
  harness h = harness_open(&(tsr_engine_options){0});
  assert_in_range(h.count, 1, TSR_MAX_DEVICES);
  for (int d = 0; d < h.count; d++) {
    assert_true(h.info[d].name[0] && h.info[d].identity[0]);
    assert_true(h.info[d].memory_free > 0 && h.info[d].memory_free <= h.info[d].memory_total);
    for (int e = 0; e < d; e++) assert_string_not_equal(h.info[d].identity, h.info[e].identity);
  }
  harness_close(&h);
  int last = h.count - 1, count = 0;
  tsr_device_info info[TSR_MAX_DEVICES];
  tsr_engine_state *opened = NULL;
  OK(h.engine->open(&(tsr_engine_options){.devices = &last, .count = 1}, &opened, info, &count));
  assert_int_equal(count, 1);
  assert_string_equal(info[0].identity, h.info[last].identity);
  h.engine->close(opened);
}

static void expect_place(harness *h, const void *p, tsr_memory memory, int device) {
  tsr_place place = {0};
  OK(h->engine->where(h->state, p, &place));
  assert_int_equal(place.memory, memory);
  assert_int_equal(place.device, device);
  if (place.bytes == 0) return;
  assert_true(place.begin <= (const char *)p && (const char *)p < place.begin + place.bytes);
}

static void test_where(void **state) {
  (void)state;
  harness h = harness_open(&(tsr_engine_options){0});
  static char ordinary[1 << 16];
  char *on_device = take(&h, h.count - 1, 4096), *pinned = take(&h, TSR_HOST, 4096);
  assert_int_equal((uintptr_t)on_device % 256, 0);
  expect_place(&h, ordinary, TSR_PAGEABLE, TSR_HOST);
  expect_place(&h, on_device + 100, TSR_DEVICE, h.count - 1);
  expect_place(&h, pinned + 100, TSR_PINNED, TSR_HOST);
  tsr_place place;
  OK(h.engine->where(h.state, on_device, &place));
  assert_true(place.bytes >= 4096);
  if (h.engine->pin) {
    char *page = (char *)(((uintptr_t)ordinary + 4095) / 4096 * 4096);
    OK(h.engine->pin(h.state, page, 8192, true));
    expect_place(&h, page + 5000, TSR_PINNED, TSR_HOST);
    expect_place(&h, page + 8192 + 4096, TSR_PAGEABLE, TSR_HOST);
    assert_int_equal(h.engine->pin(h.state, page, 8192, true), TSR_ERR_ARGUMENT);
    OK(h.engine->pin(h.state, page, 8192, false));
    expect_place(&h, page, TSR_PAGEABLE, TSR_HOST);
    assert_int_equal(h.engine->pin(h.state, page, 8192, false), TSR_ERR_ARGUMENT);
  }
  h.engine->free(h.state, h.count - 1, on_device);
  h.engine->free(h.state, TSR_HOST, pinned);
  harness_close(&h);
}

/* A 5 x 7 piece of a 9 x 8 matrix goes to the last device by way of the first, packed, and back
 * into another matrix. */
static void test_copy_2d(void **state) {
  (void)state;
  harness h = harness_open(&(tsr_engine_options){0});
  enum { ROWS = 5, COLUMNS = 7, LD = 9 };
  const size_t width = ROWS * sizeof(double), pitch = LD * sizeof(double);
  double *from = take(&h, TSR_HOST, LD * 8 * sizeof(double));
  double *to = take(&h, TSR_HOST, LD * 8 * sizeof(double));
  int last = h.count - 1;
  void *first_tile = take(&h, 0, width * COLUMNS), *last_tile = take(&h, last, pitch * COLUMNS);
  tsr_queue *in = queue_of(&h, 0, TSR_QUEUE_IN), *out = queue_of(&h, last, TSR_QUEUE_OUT);
  tsr_queue_event *there = event_of(&h, 0, false);
  fill(from, LD * 8, 1);
  memset(to, 0, LD * 8 * sizeof(double));
  tsr_copy_args down = {first_tile, from, 0, TSR_HOST, width, pitch, width, COLUMNS};
  tsr_copy_args across = {last_tile, first_tile, last, 0, pitch, width, width, COLUMNS};
  tsr_copy_args up = {to, last_tile, TSR_HOST, last, pitch, pitch, width, COLUMNS};
  OK(h.engine->copy(in, &down));
  OK(h.engine->copy(in, &across));
  OK(h.engine->record(in, there));
  OK(h.engine->wait(out, there));
  OK(h.engine->copy(out, &up));
  OK(drain(&h, out, last));
  for (int i = 0; i < LD * 8; i++)
    assert_true(to[i] == (i % LD < ROWS && i / LD < COLUMNS ? from[i] : 0));
  h.engine->event_destroy(there);
  h.engine->queue_destroy(in);
  h.engine->queue_destroy(out);
  h.engine->free(h.state, 0, first_tile);
  h.engine->free(h.state, last, last_tile);
  h.engine->free(h.state, TSR_HOST, to);
  h.engine->free(h.state, TSR_HOST, from);
  harness_close(&h);
}

/* ---- Order ---------------------------------------------------------------- */

/* In to device d, doubled there, sent to the next one, added to what was there, and out: each step
 * on a queue of its own, tied by events that are recorded again in every round. */
typedef struct line {
  harness *h;
  int device, next;
  tsr_queue *in, *compute, *peer, *out;
  tsr_queue_event *here, *doubled, *there, *summed, *gone;
  double *source, *result, *x, *y, *z;
} line;

static line line_create(harness *h, int device) {
  const size_t bytes = N * sizeof(double);
  int next = (device + 1) % h->count;
  line l = {.h = h, .device = device, .next = next};
  l.in = queue_of(h, device, TSR_QUEUE_IN);
  l.compute = queue_of(h, device, TSR_QUEUE_COMPUTE);
  l.peer = queue_of(h, device, TSR_QUEUE_PEER);
  l.out = queue_of(h, device, TSR_QUEUE_OUT);
  l.here = event_of(h, device, false);
  l.doubled = event_of(h, device, false);
  l.there = event_of(h, device, false);
  l.summed = event_of(h, device, false);
  l.gone = event_of(h, device, false);
  l.source = take(h, TSR_HOST, bytes);
  l.result = take(h, TSR_HOST, bytes);
  l.x = take(h, device, bytes);
  l.y = take(h, next, bytes);
  l.z = take(h, device, bytes);
  return l;
}

static void line_destroy(line *l) {
  tsr_queue *queues[] = {l->in, l->compute, l->peer, l->out};
  tsr_queue_event *events[] = {l->here, l->doubled, l->there, l->summed, l->gone};
  for (int i = 0; i < 4; i++) l->h->engine->queue_destroy(queues[i]);
  for (int i = 0; i < 5; i++) l->h->engine->event_destroy(events[i]);
  l->h->engine->free(l->h->state, TSR_HOST, l->source);
  l->h->engine->free(l->h->state, TSR_HOST, l->result);
  l->h->engine->free(l->h->state, l->device, l->x);
  l->h->engine->free(l->h->state, l->next, l->y);
  l->h->engine->free(l->h->state, l->device, l->z);
}

/* result = 2 source + 2 source, by way of the next device. false: the engine refused. */
static bool line_round(line *l) {
  const tsr_engine *e = l->h->engine;
  const size_t bytes = N * sizeof(double);
  int d = l->device, p = l->next;
  tsr_copy_args in = plain_copy(l->x, d, l->source, TSR_HOST, bytes);
  tsr_copy_args push = plain_copy(l->y, p, l->x, d, bytes);
  tsr_copy_args pull = plain_copy(l->z, d, l->y, p, bytes);
  tsr_copy_args out = plain_copy(l->result, TSR_HOST, l->z, d, bytes);
  tsr_kernel_args twice = {.kernel = TSR_KERNEL_SCALE,
                           .type = TSR_D,
                           .m = N,
                           .n = 1,
                           .beta = {2, 0},
                           .c = l->x,
                           .ldc = N};
  tsr_kernel_args sum = add_of(1, l->x, 1, l->z, N);
  return e->copy(l->in, &in) == TSR_OK && e->record(l->in, l->here) == TSR_OK &&
         e->wait(l->compute, l->here) == TSR_OK && e->kernel(l->compute, &twice) == TSR_OK &&
         e->record(l->compute, l->doubled) == TSR_OK && e->wait(l->peer, l->doubled) == TSR_OK &&
         e->copy(l->peer, &push) == TSR_OK && e->copy(l->peer, &pull) == TSR_OK &&
         e->record(l->peer, l->there) == TSR_OK && e->wait(l->compute, l->there) == TSR_OK &&
         e->kernel(l->compute, &sum) == TSR_OK && e->record(l->compute, l->summed) == TSR_OK &&
         e->wait(l->out, l->summed) == TSR_OK && e->copy(l->out, &out) == TSR_OK &&
         e->record(l->out, l->gone) == TSR_OK && e->wait(l->in, l->gone) == TSR_OK;
}

static bool line_right(const line *l) {
  for (int i = 0; i < N; i++)
    if (l->result[i] != 4 * l->source[i]) return false;
  return true;
}

static void test_order(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 4; seed++) {
    harness h = harness_open(&(tsr_engine_options){.delay_seed = seed, .check = seed > 1});
    line l = line_create(&h, 0);
    for (int round = 0; round < 20; round++) {
      fill(l.source, N, round * 1000);
      for (int again = 0; again < 3; again++) assert_true(line_round(&l));
      OK(await(&h, l.gone, NULL));
      assert_true(line_right(&l));
    }
    line_destroy(&l);
    harness_close(&h);
  }
}

static void *run_line(void *argument) {
  line *l = argument;
  for (int round = 0; round < 30; round++) {
    fill(l->source, N, round * 10 + l->device);
    if (!line_round(l) || !line_round(l)) return l;
    if (await(l->h, l->gone, NULL) != TSR_OK || !line_right(l)) return l;
  }
  return NULL;
}

/* A thread for each device, each also writing to its neighbour's memory. */
static void test_threads(void **state) {
  (void)state;
  harness h = harness_open(&(tsr_engine_options){.delay_seed = 7});
  line lines[TSR_MAX_DEVICES];
  pthread_t threads[TSR_MAX_DEVICES];
  for (int d = 0; d < h.count; d++) lines[d] = line_create(&h, d);
  for (int d = 0; d < h.count; d++)
    assert_int_equal(pthread_create(&threads[d], NULL, run_line, &lines[d]), 0);
  for (int d = 0; d < h.count; d++) {
    void *failed;
    pthread_join(threads[d], &failed);
    assert_null(failed);
  }
  for (int d = 0; d < h.count; d++) line_destroy(&lines[d]);
  harness_close(&h);
}

/* ---- Events --------------------------------------------------------------- */

/* Whether times of the engine are those of tsr_now() within a millisecond; they are always in
 * order. */
static bool has_right_times(void) {
  harness h = harness_open(&(tsr_engine_options){0});
  enum { SIZE = 256 };
  const size_t bytes = SIZE * SIZE * sizeof(double);
  double *host = take(&h, TSR_HOST, bytes), before = 0, after = 0;
  for (int i = 0; i < SIZE * SIZE; i++) host[i] = i % 7;
  void *a = take(&h, 0, bytes), *c = take(&h, 0, bytes);
  tsr_queue *queue = queue_of(&h, 0, TSR_QUEUE_COMPUTE);
  tsr_queue_event *first = event_of(&h, 0, true), *second = event_of(&h, 0, true);
  tsr_kernel_args gemm = {.kernel = TSR_KERNEL_GEMM,
                          .type = TSR_D,
                          .transa = TSR_NO_TRANS,
                          .transb = TSR_NO_TRANS,
                          .m = SIZE,
                          .n = SIZE,
                          .k = SIZE,
                          .alpha = {1, 0},
                          .a = a,
                          .b = a,
                          .c = c,
                          .lda = SIZE,
                          .ldb = SIZE,
                          .ldc = SIZE};
  copy(&h, queue, a, 0, host, TSR_HOST, bytes);
  OK(drain(&h, queue, 0));
  double start = tsr_now();
  OK(h.engine->record(queue, first));
  for (int i = 0; i < 5; i++) OK(h.engine->kernel(queue, &gemm));
  OK(h.engine->record(queue, second));
  OK(await(&h, second, &after));
  double end = tsr_now();
  OK(await(&h, first, &before));
  assert_true(before < after);
  h.engine->event_destroy(first);
  h.engine->event_destroy(second);
  h.engine->queue_destroy(queue);
  h.engine->free(h.state, 0, a);
  h.engine->free(h.state, 0, c);
  h.engine->free(h.state, TSR_HOST, host);
  harness_close(&h);
  return before > start - 1e-3 && after < end + 1e-3;
}

/* A device's clock is set by the host's when the engine is opened, with an error of as long as the
 * computer makes that take: one that is opened while nothing else is in the way must be right. */
static void test_times(void **state) {
  (void)state;
  bool right = false;
  for (int i = 0; i < 100 && !right; i++) right = has_right_times();
  assert_true(right);
}

static void test_wrong_device(void **state) {
  (void)state;
  harness h = harness_open(&(tsr_engine_options){.count = 1});
  void *p = NULL;
  tsr_queue *queue = NULL;
  tsr_queue_event *event = NULL;
  assert_int_equal(h.engine->alloc(h.state, 1, 8, &p), TSR_ERR_ARGUMENT);
  assert_int_equal(h.engine->queue_create(h.state, 1, TSR_QUEUE_IN, NULL, &queue),
                   TSR_ERR_ARGUMENT);
  assert_int_equal(h.engine->event_create(h.state, -1, false, &event), TSR_ERR_ARGUMENT);
  assert_true(!p && !queue && !event);
  assert_int_equal(h.engine->alloc(h.state, 0, (size_t)1 << 50, &p), TSR_ERR_MEMORY);
  h.engine->free(h.state, 0, NULL);
  h.engine->queue_destroy(NULL);
  h.engine->event_destroy(NULL);
  harness_close(&h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_open),         cmocka_unit_test(test_where),
      cmocka_unit_test(test_copy_2d),      cmocka_unit_test(test_order),
      cmocka_unit_test(test_threads),      cmocka_unit_test(test_times),
      cmocka_unit_test(test_wrong_device),
  };
  cmocka_set_test_filter(getenv("TSR_TEST_ONLY")); /* a pattern of names; none: all */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
