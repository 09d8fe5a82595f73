/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "probe/bench.h"

#include <sched.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/system/process_limits.h"

static const size_t quick_bytes = 2 << 20; /* the buffers of emulated devices */

/* ---- Data ---- */

static uint64_t next_random(uint64_t *state) {
  *state += UINT64_C(0x9E3779B97F4A7C15);
  uint64_t x = *state;
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
}

/* Uniform in [-0.5, 0.5). */
static void fill_host(void *memory, size_t bytes, tsr_type type) {
  uint64_t state = 1;
  size_t count = bytes / tsr_type_get(type)->size * (tsr_type_get(type)->complex_valued ? 2 : 1);
  for (size_t i = 0; i < count; i++) {
    double x = (double)(next_random(&state) >> 11) * 0x1p-53 - 0.5;
    if (type == TSR_D || type == TSR_Z)
      ((double *)memory)[i] = x;
    else if (type == TSR_H)
      ((uint16_t *)memory)[i] = tsr_float_to_half((float)x);
    else if (type == TSR_B)
      ((uint16_t *)memory)[i] = tsr_float_to_bfloat((float)x);
    else
      ((float *)memory)[i] = (float)x;
  }
}

/* ---- Opening and closing ---- */

static tsr_status open_device(tsr_bench *b, int d) {
  const tsr_engine *e = b->engine;
  for (int n = 0; n < b->nodes; n++)
    TSR_TRY(tsr_near_alloc(b->near, e, b->state, n, b->host_bytes, (void **)&b->host[n][d]));
  for (int i = 0; i < TSR_BENCH_BUFFERS; i++)
    TSR_TRY(e->alloc(b->state, d, b->bytes, (void **)&b->buffer[d][i]));
  TSR_TRY(e->queue_create(b->state, d, TSR_QUEUE_IN, NULL, &b->in[d]));
  TSR_TRY(e->queue_create(b->state, d, TSR_QUEUE_OUT, NULL, &b->out[d]));
  return e->queue_create(b->state, d, TSR_QUEUE_COMPUTE, NULL, &b->compute[d]);
}

size_t tsr_bench_host_share(int parts) {
  tsr_process_limits limits;
  tsr_process_limits_read("", &limits);
  double share = TSR_TUNE_PROBE_HOST_SHARE * limits.unused.most / parts;
  return share < (double)(SIZE_MAX / 2) ? (size_t)share / 4096 * 4096 : SIZE_MAX / 2;
}

static tsr_status limit_host_bytes(tsr_bench *b) {
  size_t most = tsr_bench_host_share(b->devices * b->nodes);
  if (b->host_bytes > most) b->host_bytes = most;
  if (b->host_bytes >= quick_bytes) return TSR_OK;
  return tsr_fail(
      TSR_ERR_MEMORY,
      "the process may use too little host memory for the probe, which needs %zu MB; "
      "tessera doctor says which limit that is",
      (size_t)(2 * (double)quick_bytes * b->devices * b->nodes / TSR_TUNE_PROBE_HOST_SHARE) >> 20);
}

tsr_status tsr_bench_open(tsr_bench *b) {
  b->bytes = b->options->quick ? quick_bytes : TSR_TUNE_PROBE_BYTES;
  b->host_bytes = b->options->quick ? quick_bytes : TSR_TUNE_PROBE_BYTES / (size_t)b->nodes;
  for (int d = 0; d < b->devices; d++) {
    size_t most = (size_t)(TSR_TUNE_PROBE_SHARE * (double)b->info[d].memory_free) / 4096 * 4096;
    if (b->bytes > most) b->bytes = most;
  }
  if (b->bytes < quick_bytes)
    return tsr_fail(TSR_ERR_MEMORY,
                    "a device has too little free memory for the probe; free at least %zu MB",
                    5 * quick_bytes >> 20);
  if (b->host_bytes > b->bytes) b->host_bytes = b->bytes;
  TSR_TRY(limit_host_bytes(b));
  for (int d = 0; d < b->devices; d++) TSR_TRY(open_device(b, d));
  for (int n = 0; n < b->nodes; n++)
    for (int d = 0; d < b->devices; d++) fill_host(b->host[n][d], b->host_bytes, TSR_D);
  return TSR_OK;
}

static void close_device(tsr_bench *b, int d) {
  const tsr_engine *e = b->engine;
  tsr_queue *queues[] = {b->in[d], b->out[d], b->compute[d]};
  for (int i = 0; i < 3; i++)
    if (queues[i] != NULL) e->queue_destroy(queues[i]);
  for (int j = 0; j < b->devices; j++)
    if (b->peer[d][j] != NULL) e->queue_destroy(b->peer[d][j]);
}

/* Destroys all queues before the first buffer, because a copy into another device's buffer may be
 * in flight. */
void tsr_bench_close(tsr_bench *b) {
  for (int d = 0; d < b->devices; d++) close_device(b, d);
  for (int d = 0; d < b->devices; d++) {
    for (int i = 0; i < TSR_BENCH_BUFFERS; i++)
      if (b->buffer[d][i] != NULL) b->engine->free(b->state, d, b->buffer[d][i]);
    for (int n = 0; n < b->nodes; n++)
      if (b->host[n][d] != NULL) b->engine->free(b->state, TSR_HOST, b->host[n][d]);
  }
}

void tsr_bench_progress(const tsr_bench *b, double fraction, const char *what) {
  tsr_log(TSR_LOG_INFO, "probe: %3.0f %%, %s", 100 * fraction, what);
  if (b->options->progress != NULL) b->options->progress(b->options->user, fraction, what);
}

/* ---- Filling devices ---- */

static tsr_status fill_buffer(tsr_bench *b, int d, char *buffer, size_t pattern) {
  for (size_t at = 0; at < b->bytes; at += pattern) {
    size_t part = b->bytes - at < pattern ? b->bytes - at : pattern;
    tsr_copy_args args = {buffer + at, b->host[0][0], d, TSR_HOST, part, part, part, 1};
    TSR_TRY(b->engine->copy(b->in[d], &args));
  }
  return TSR_OK;
}

/* The buffers repeat one pattern of at most 16 MiB, which draws as much power as random data. */
tsr_status tsr_bench_fill(tsr_bench *b, tsr_type type) {
  size_t pattern = (size_t)16 << 20;
  if (pattern > b->host_bytes) pattern = b->host_bytes;
  fill_host(b->host[0][0], pattern, type);
  for (int d = 0; d < b->devices; d++)
    for (int i = 0; i < TSR_BENCH_BUFFERS; i++)
      TSR_TRY(fill_buffer(b, d, b->buffer[d][i], pattern));
  for (int d = 0; d < b->devices; d++) TSR_TRY(tsr_bench_finish(b, d, b->in[d], NULL));
  return TSR_OK;
}

/* ---- Waiting ---- */

tsr_status tsr_bench_await(tsr_bench *b, tsr_queue_event *event, double *when) {
  for (bool complete = false; !complete;) {
    TSR_TRY(b->engine->query(event, &complete, when));
    if (complete) break;
    if (b->options->quick)
      tsr_sleep(20e-6);
    else
      sched_yield(); /* others may need the core, such as processes that measure, too */
  }
  return TSR_OK;
}

tsr_status tsr_bench_finish(tsr_bench *b, int device, tsr_queue *queue, double *when) {
  tsr_queue_event *event;
  TSR_TRY(b->engine->event_create(b->state, device, true, &event));
  tsr_status status = b->engine->record(queue, event);
  if (status == TSR_OK) status = tsr_bench_await(b, event, when);
  b->engine->event_destroy(event);
  return status;
}

/* ---- Streams ---- */

static tsr_status peer_queue(tsr_bench *b, int from, int to, tsr_queue **queue) {
  if (b->peer[from][to] == NULL)
    TSR_TRY(b->engine->queue_create(b->state, from, TSR_QUEUE_PEER, NULL, &b->peer[from][to]));
  *queue = b->peer[from][to];
  return TSR_OK;
}

/* The offset in a device's first buffer of the part for copies from the sender (TSR_HOST or a
 * device). */
static size_t offset_of(const tsr_bench *b, int from) {
  size_t part = b->bytes / (size_t)(b->devices + 1) / 512 * 512;
  return (size_t)(from + 1) * part;
}

/* The number of copies of bytes each in a stream. */
static int repeats_of(const tsr_bench *b, double bytes) {
  double wanted = b->options->quick ? 4e6 : 512e6;
  int repeats = (int)(wanted / bytes) + 1;
  int most = b->options->quick ? 4 : 512;
  return repeats < most ? repeats : most;
}

/* Copies to a device go to its first buffer, copies from it come from its second. */
tsr_status tsr_bench_stream(tsr_bench *b, int from, int to, size_t bytes, tsr_stream *s) {
  size_t most = b->bytes / (size_t)(b->devices + 1) / 512 * 512;
  if ((from == TSR_HOST || to == TSR_HOST) && most > b->host_bytes / 2) most = b->host_bytes / 2;
  if (bytes > most) bytes = most;
  char *const *host = b->host[b->node];
  *s = (tsr_stream){.device = from == TSR_HOST ? to : from,
                    .node = b->node,
                    .copy = {.to = to == TSR_HOST ? host[from] + b->host_bytes / 2
                                                  : b->buffer[to][0] + offset_of(b, from),
                             .from = from == TSR_HOST ? host[to] : b->buffer[from][1],
                             .to_device = to,
                             .from_device = from,
                             .to_pitch = bytes,
                             .from_pitch = bytes,
                             .width = bytes,
                             .height = 1},
                    .rounds = (int)(b->host_bytes / 2 / bytes),
                    .repeats = repeats_of(b, (double)bytes)};
  if (from != TSR_HOST && to != TSR_HOST) return peer_queue(b, from, to, &s->queue);
  s->queue = from == TSR_HOST ? b->in[to] : b->out[from];
  return TSR_OK;
}

/* The place in host memory of copy i of a stream. Each copy has another place, so that caches do
 * not help. At each time all devices copy from or to the same host buffer, each in its own share,
 * as they would use one matrix: where nodes are not told apart, that buffer may lie in one node. */
static char *host_place(const tsr_bench *b, const tsr_stream *s, int i) {
  int share = s->rounds / b->devices;
  if (share == 0) return b->host[s->node][s->device];
  int round = s->device * share + i / b->devices % share;
  return b->host[s->node][i % b->devices] + (size_t)round * s->copy.width;
}

static tsr_status submit_copy(tsr_bench *b, const tsr_stream *s, int i) {
  tsr_copy_args copy = s->copy;
  if (copy.height == 1) {
    if (copy.from_device == TSR_HOST) copy.from = host_place(b, s, i);
    if (copy.to_device == TSR_HOST) copy.to = host_place(b, s, i) + b->host_bytes / 2;
  }
  return b->engine->copy(s->queue, &copy);
}

static tsr_status submit_streams(tsr_bench *b, tsr_stream *streams, int count,
                                 tsr_queue_event **events) {
  int most = 0;
  for (int i = 0; i < count; i++) {
    TSR_TRY(b->engine->record(streams[i].queue, events[2 * i]));
    if (streams[i].repeats > most) most = streams[i].repeats;
  }
  /* Interleaves the streams in proportion to their repeats, so that they all run from begin to end.
   */
  for (int step = 0; step < most; step++)
    for (int i = 0; i < count; i++) {
      int64_t now = (int64_t)(step + 1) * streams[i].repeats / most;
      if (now > (int64_t)step * streams[i].repeats / most)
        TSR_TRY(submit_copy(b, &streams[i], (int)now));
    }
  for (int i = 0; i < count; i++) TSR_TRY(b->engine->record(streams[i].queue, events[2 * i + 1]));
  return TSR_OK;
}

static tsr_status time_streams(tsr_bench *b, tsr_stream *streams, int count,
                               tsr_queue_event **events) {
  for (int i = 0; i < 2 * count; i++)
    TSR_TRY(b->engine->event_create(b->state, streams[i / 2].device, true, &events[i]));
  TSR_TRY(submit_streams(b, streams, count, events));
  for (int i = 0; i < count; i++) {
    TSR_TRY(tsr_bench_await(b, events[2 * i], &streams[i].begin));
    TSR_TRY(tsr_bench_await(b, events[2 * i + 1], &streams[i].end));
  }
  return TSR_OK;
}

tsr_status tsr_bench_run(tsr_bench *b, tsr_stream *streams, int count) {
  tsr_queue_event **events = tsr_alloc_zero(2 * (size_t)count, sizeof *events);
  if (events == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a measurement");
  tsr_status status = time_streams(b, streams, count, events);
  for (int i = 0; i < 2 * count; i++)
    if (events[i] != NULL) b->engine->event_destroy(events[i]);
  tsr_dealloc(events);
  return status;
}

double tsr_stream_bytes(const tsr_stream *s) {
  return (double)s->repeats * (double)s->copy.width * (double)s->copy.height;
}

double tsr_stream_rate(const tsr_stream *streams, int count) {
  double begin = streams[0].begin, end = streams[0].end, bytes = 0;
  for (int i = 0; i < count; i++) {
    if (streams[i].begin < begin) begin = streams[i].begin;
    if (streams[i].end > end) end = streams[i].end;
    bytes += tsr_stream_bytes(&streams[i]);
  }
  return bytes / (end - begin > 1e-9 ? end - begin : 1e-9);
}

/* ---- Kernels ---- */

int64_t tsr_bench_area(const tsr_bench *b, tsr_type type, int64_t most) {
  int64_t size = (int64_t)tsr_type_get(type)->size;
  while (most > 16 && most * most * size > (int64_t)b->bytes) most /= 2;
  return most;
}

tsr_kernel_args tsr_bench_product(const tsr_bench *b, int device, tsr_type type, int64_t area,
                                  int64_t k) {
  return (tsr_kernel_args){.kernel = TSR_KERNEL_GEMM,
                           .type = type,
                           .transa = TSR_NO_TRANS,
                           .transb = TSR_NO_TRANS,
                           .m = area,
                           .n = area,
                           .k = k,
                           .alpha = {1, 0},
                           .a = b->buffer[device][0],
                           .b = b->buffer[device][1],
                           .c = b->buffer[device][2],
                           .lda = area,
                           .ldb = k,
                           .ldc = area};
}

/* Keeps a real device busy for about a millisecond, during which further kernels are submitted. */
static tsr_status submit_blocker(const tsr_bench *b, int device) {
  int64_t area = b->blocker[device];
  tsr_kernel_args args = tsr_bench_product(b, device, TSR_S, area, area);
  return b->engine->kernel(b->compute[device], &args);
}

static tsr_status time_kernels(tsr_bench *b, int device, const tsr_kernel_args *args, int repeats,
                               bool blocked, tsr_queue_event *events[2], double *seconds) {
  tsr_queue *queue = b->compute[device];
  double begin, end;
  if (blocked) TSR_TRY(submit_blocker(b, device));
  TSR_TRY(b->engine->record(queue, events[0]));
  for (int i = 0; i < repeats; i++) TSR_TRY(b->engine->kernel(queue, args));
  TSR_TRY(b->engine->record(queue, events[1]));
  TSR_TRY(tsr_bench_await(b, events[0], &begin));
  TSR_TRY(tsr_bench_await(b, events[1], &end));
  double each = (end - begin) / repeats;
  *seconds = each > 1e-9 ? each : 1e-9;
  return TSR_OK;
}

static tsr_status run_kernels(tsr_bench *b, int device, const tsr_kernel_args *args, int repeats,
                              bool blocked, double *seconds) {
  tsr_queue_event *events[2] = {NULL, NULL};
  tsr_status status = b->engine->event_create(b->state, device, true, &events[0]);
  if (status == TSR_OK) status = b->engine->event_create(b->state, device, true, &events[1]);
  if (status == TSR_OK) status = time_kernels(b, device, args, repeats, blocked, events, seconds);
  for (int i = 0; i < 2; i++)
    if (events[i] != NULL) b->engine->event_destroy(events[i]);
  return status;
}

tsr_status tsr_bench_order(tsr_bench *b, int device, tsr_type type, int64_t most, double limit,
                           int64_t *order, double *seconds) {
  int64_t least = 256;
  while (least > most) least /= 2;
  for (int64_t n = least;; n *= 2) {
    double first, each;
    tsr_kernel_args args = tsr_bench_product(b, device, type, n, n);
    TSR_TRY(run_kernels(b, device, &args, 1, false, &first)); /* loads its code */
    TSR_TRY(run_kernels(b, device, &args, 1, false, &each));
    if (n > least && each > limit) return TSR_OK;
    *order = n;
    *seconds = each;
    if (2 * n > most || 4 * each > limit) return TSR_OK; /* the next takes up to 8 times as long */
  }
}

tsr_status tsr_bench_kernels(tsr_bench *b, int device, const tsr_kernel_args *args, int repeats,
                             bool prequeued, double *seconds) {
  const double limit = 5e-3; /* s: at least an eighth of it, in which 60 kernels are submitted */
  double each;
  bool blocked = prequeued && !b->options->quick;
  if (blocked && b->blocker[device] == 0)
    TSR_TRY(tsr_bench_order(b, device, TSR_S, tsr_bench_area(b, TSR_S, 4096), limit,
                            &b->blocker[device], &each));
  return run_kernels(b, device, args, repeats, blocked, seconds);
}
