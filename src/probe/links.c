/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Measures links: each alone, by the shape of copies while kernels run, and together, which shows
 * the channels that links share. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "probe/bench.h"

enum { MOST_STREAMS = 2 * TSR_MAX_DEVICES };

static int node(const tsr_bench *b) {
  return b->devices + b->node;
}

static int location(const tsr_bench *b, int place) {
  return place == TSR_HOST ? node(b) : place;
}

static tsr_link *link_of(tsr_bench *b, int from, int to) {
  return &b->machine->link[location(b, from)][location(b, to)];
}

/* A device whose node the topology does not tell is near the one from which it copies fastest. */
static void find_near(tsr_bench *b) {
  const tsr_machine *m = b->machine;
  for (int d = 0; d < b->devices && b->nodes > 1; d++) {
    int *near = &b->machine->device[d].host_node;
    for (int host = b->devices; host < b->devices + b->nodes && b->near->node[d] < 0; host++)
      if (m->link[host][d].bandwidth > m->link[*near][d].bandwidth) *near = host;
  }
}

/* ---- Each alone ---- */

/* *latency [s]: the least time of a single copy of 4096 bytes, less 4096 / bandwidth. */
static tsr_status measure_latency(tsr_bench *b, int from, int to, double bandwidth,
                                  double *latency) {
  tsr_stream s;
  *latency = 1;
  TSR_TRY(tsr_bench_stream(b, from, to, 4096, &s));
  s.repeats = 1;
  for (int i = 0; i < 6; i++) {
    TSR_TRY(tsr_bench_run(b, &s, 1));
    *latency = fmin(*latency, s.end - s.begin - 4096 / bandwidth);
  }
  *latency = fmax(*latency, 1e-7);
  return TSR_OK;
}

static tsr_status measure_link(tsr_bench *b, int from, int to) {
  tsr_stream s;
  double latency;
  TSR_TRY(tsr_bench_stream(b, from, to, TSR_TUNE_PROBE_PIECE, &s));
  int repeats = s.repeats;
  s.repeats = 1;
  TSR_TRY(tsr_bench_run(b, &s, 1)); /* the first copy of a queue takes longer */
  s.repeats = repeats;
  TSR_TRY(tsr_bench_run(b, &s, 1));
  double rate = tsr_stream_rate(&s, 1);
  TSR_TRY(measure_latency(b, from, to, rate, &latency));
  tsr_machine_set_link(b->machine, location(b, from), location(b, to), rate, latency);
  return TSR_OK;
}

static tsr_status measure_each(tsr_bench *b) {
  for (b->node = 0; b->node < b->nodes; b->node++)
    for (int d = 0; d < b->devices; d++) {
      TSR_TRY(measure_link(b, TSR_HOST, d));
      TSR_TRY(measure_link(b, d, TSR_HOST));
    }
  b->node = 0;
  for (int i = 0; i < b->devices; i++)
    for (int j = 0; j < b->devices; j++)
      if (i != j && b->info[i].peer[j]) TSR_TRY(measure_link(b, i, j));
  return TSR_OK;
}

/* ---- By the length of segments ---- */

static const size_t segments[] = {1 << 10,  4 << 10,  8 << 10,   16 << 10,
                                  32 << 10, 64 << 10, 256 << 10, 1 << 20};
enum { SEGMENTS = sizeof segments / sizeof *segments };

/* The distance between columns of segment bytes in host memory: 4 * segment, or PROBE_LONG_COLUMN
 * as in large matrices if enough of them fit: short runs close together are much faster than runs
 * in separate pages. */
static size_t long_pitch(size_t segment, size_t host_bytes) {
  static const size_t long_column = TSR_TUNE_PROBE_LONG_COLUMN,
                      enough = TSR_TUNE_PROBE_LONG_COLUMNS;
  size_t pitch = 4 * segment;
  return pitch < long_column && host_bytes / long_column >= enough ? long_column : pitch;
}

/* Makes the stream copy columns of segment bytes, which are pitch bytes apart in the host_bytes of
 * host memory and contiguous on the device. */
static void set_columns(tsr_stream *s, size_t segment, size_t pitch, size_t host_bytes) {
  size_t height = host_bytes / pitch;
  size_t most = ((size_t)8 << 20) / segment;
  if (height > most) height = most;
  bool in = s->copy.from_device == TSR_HOST;
  s->copy.width = segment;
  s->copy.height = height > 0 ? height : 1;
  s->copy.from_pitch = in ? pitch : segment;
  s->copy.to_pitch = in ? segment : pitch;
}

/* Submits kernels that run for PROBE_LOAD_TIME, longer than the copies take. */
static tsr_status load_device(tsr_bench *b, int device) {
  enum { MOST = 40 }; /* more seldom fit into a queue */
  int64_t n = tsr_bench_area(b, TSR_D, 4096);
  double each;
  if (b->options->quick) return TSR_OK;
  if ((size_t)(n * n) * 8 > b->bytes / 2) n /= 2;
  TSR_TRY(tsr_bench_order(b, device, TSR_D, n, TSR_TUNE_PROBE_LOAD_TIME, &n, &each));
  tsr_kernel_args args = tsr_bench_product(b, device, TSR_D, n, n);
  args.a = args.b = b->buffer[device][2]; /* the copies use buffers 0 and 1 */
  args.c = (char *)b->buffer[device][2] + b->bytes / 2;
  for (int i = 0; i < MOST && i * each < TSR_TUNE_PROBE_LOAD_TIME; i++)
    TSR_TRY(b->engine->kernel(b->compute[device], &args));
  return TSR_OK;
}

/* Makes one pass over the lengths, while the device computes, and keeps the better of both rates.
 * close: 0, or the distance between segments. */
static tsr_status measure_shape_once(tsr_bench *b, int from, int to, size_t close,
                                     tsr_curve *curve) {
  tsr_stream s;
  int device = from == TSR_HOST ? to : from;
  size_t bytes = b->host_bytes / 2;
  TSR_TRY(tsr_bench_stream(b, from, to, TSR_TUNE_PROBE_PIECE, &s));
  TSR_TRY(load_device(b, device));
  for (int i = 0; i < SEGMENTS; i++) {
    size_t pitch = close > 0 ? close : long_pitch(segments[i], bytes);
    if (4 * segments[i] > bytes || segments[i] >= pitch) break;
    set_columns(&s, segments[i], pitch, bytes);
    s.repeats = b->options->quick ? 1 : 4;
    TSR_TRY(tsr_bench_run(b, &s, 1));
    curve->size[i] = (double)segments[i];
    curve->rate[i] = fmax(curve->rate[i], tsr_stream_rate(&s, 1));
    if (curve->count <= i) curve->count = i + 1;
  }
  return tsr_bench_finish(b, device, b->compute[device], NULL);
}

/* The best of three passes, as for mixes: a copy of a millisecond is slow if another program copies
 * meanwhile, and so are those beside it. */
static tsr_status measure_shape(tsr_bench *b, int from, int to, size_t close, tsr_curve *curve) {
  *curve = (tsr_curve){0};
  for (int i = 0; i < (b->options->quick ? 1 : 3); i++)
    TSR_TRY(measure_shape_once(b, from, to, close, curve));
  return TSR_OK;
}

/* Raises each rate at least to that of shorter segments: a lower one is noise, which only slows
 * copies. */
static void smooth(tsr_curve *curve) {
  for (int i = 1; i < curve->count; i++) curve->rate[i] = fmax(curve->rate[i], curve->rate[i - 1]);
}

static void scale(tsr_curve *curve, double factor) {
  for (int i = 0; i < curve->count; i++) curve->rate[i] *= factor;
}

/* Copies the curves to a link of another bandwidth, scaled by the ratio of bandwidths. */
static void copy_shapes(const tsr_link *from, tsr_link *to) {
  to->shape = from->shape;
  to->close = from->close;
  scale(&to->shape, to->bandwidth / from->bandwidth);
  scale(&to->close.shape, to->bandwidth / from->bandwidth);
}

/* Segments far apart, and close together. */
static tsr_status measure_both(tsr_bench *b, int from, int to, tsr_link *link) {
  static const size_t close = TSR_TUNE_PROBE_CLOSE_COLUMN;
  TSR_TRY(measure_shape(b, from, to, 0, &link->shape));
  TSR_TRY(measure_shape(b, from, to, close, &link->close.shape));
  link->close.pitch = (double)close;
  smooth(&link->shape);
  smooth(&link->close.shape);
  return TSR_OK;
}

/* Measures the curves of device 0 from and to the node near it; the other links get the same,
 * scaled. */
static tsr_status measure_shapes(tsr_bench *b) {
  b->node = tsr_bench_near(b, 0);
  tsr_link *in = link_of(b, TSR_HOST, 0), *out = link_of(b, 0, TSR_HOST);
  TSR_TRY(measure_both(b, TSR_HOST, 0, in));
  TSR_TRY(measure_both(b, 0, TSR_HOST, out));
  for (b->node = 0; b->node < b->nodes; b->node++)
    for (int d = 0; d < b->devices; d++) {
      if (link_of(b, TSR_HOST, d) == in) continue;
      copy_shapes(in, link_of(b, TSR_HOST, d));
      copy_shapes(out, link_of(b, d, TSR_HOST));
    }
  b->node = 0;
  return TSR_OK;
}

/* ---- Together: channels that devices share on the way to host memory ---- */

/* The rate of a device's copies [bytes/s] beside those of the set: the link's, or the device's part
 * of what crosses from or to the socket of the memory. */
static double rate_beside(tsr_bench *b, const int *set, int devices, int device, bool in) {
  int near = tsr_bench_near(b, device), sharing = 0;
  double rate = (in ? link_of(b, TSR_HOST, device) : link_of(b, device, TSR_HOST))->bandwidth;
  if (near == b->node) return rate;
  for (int i = 0; i < devices; i++) sharing += tsr_bench_near(b, set[i]) == near;
  double crossing = in ? b->crossing[b->node][near] : b->crossing[near][b->node];
  return fmin(rate, crossing / sharing);
}

/* Lets slower devices copy less, so that all end at the same time. */
static void balance(tsr_bench *b, const int *set, int devices, bool in, tsr_stream *streams) {
  double most = 0;
  for (int i = 0; i < devices; i++) most = fmax(most, rate_beside(b, set, devices, set[i], in));
  for (int i = 0; i < devices && b->nodes > 1; i++) {
    double part = rate_beside(b, set, devices, set[i], in) / most;
    streams[i].repeats = (int)fmax(1, streams[i].repeats * part);
  }
}

/* *in and *out [bytes/s]: the rates of all devices in set together when each copies parts_in bytes
 * in for each parts_out bytes out. */
static tsr_status measure_mix_once(tsr_bench *b, const int *set, int devices, int parts_in,
                                   int parts_out, double *in, double *out) {
  tsr_stream streams[MOST_STREAMS];
  int count = 0;
  for (int i = 0; i < devices && parts_in > 0; i++) {
    TSR_TRY(tsr_bench_stream(b, TSR_HOST, set[i], TSR_TUNE_PROBE_PIECE, &streams[count]));
    streams[count++].repeats *= parts_in;
  }
  int ins = count;
  if (ins > 0) balance(b, set, devices, true, streams);
  for (int i = 0; i < devices && parts_out > 0; i++) {
    TSR_TRY(tsr_bench_stream(b, set[i], TSR_HOST, TSR_TUNE_PROBE_PIECE, &streams[count]));
    streams[count++].repeats *= parts_out;
  }
  if (count > ins) balance(b, set, devices, false, streams + ins);
  TSR_TRY(tsr_bench_run(b, streams, count));
  double rate = tsr_stream_rate(streams, count), bytes_in = 0, bytes = 0;
  for (int i = 0; i < count; i++) {
    bytes += tsr_stream_bytes(&streams[i]);
    if (i < ins) bytes_in += tsr_stream_bytes(&streams[i]);
  }
  *in = rate * bytes_in / bytes;
  *out = rate - *in;
  return TSR_OK;
}

/* The best of three runs: other work on the machine only lowers a rate, and a rate that is too low
 * would make the floor higher than times that can be reached. */
static tsr_status measure_mix(tsr_bench *b, const int *set, int devices, int parts_in,
                              int parts_out, double *in, double *out) {
  *in = *out = 0;
  for (int i = 0; i < (b->options->quick ? 1 : 3); i++) {
    double now_in, now_out;
    TSR_TRY(measure_mix_once(b, set, devices, parts_in, parts_out, &now_in, &now_out));
    if (now_in + now_out <= *in + *out) continue;
    *in = now_in;
    *out = now_out;
  }
  return TSR_OK;
}

/* Rates in and out of some devices at once [bytes/s]. */
typedef struct mixes {
  double in, out;             /* only in; only out */
  double both_in, both_out;   /* at in : out = 1 : 1 */
  double most_in, most_out;   /* at in : out = 3 : 1, as in C = alpha A B + beta C */
  double links_in, links_out; /* sums of the rates of each link alone, or of what crosses */
} mixes;

static tsr_status measure_mixes(tsr_bench *b, const int *set, int devices, mixes *m) {
  double none;
  *m = (mixes){0};
  for (int i = 0; i < devices; i++) {
    m->links_in += rate_beside(b, set, devices, set[i], true);
    m->links_out += rate_beside(b, set, devices, set[i], false);
  }
  TSR_TRY(measure_mix(b, set, devices, 1, 0, &m->in, &none));
  TSR_TRY(measure_mix(b, set, devices, 0, 1, &none, &m->out));
  TSR_TRY(measure_mix(b, set, devices, 1, 1, &m->both_in, &m->both_out));
  return measure_mix(b, set, devices, 3, 1, &m->most_in, &m->most_out);
}

/* A limit that copies share, which becomes a channel: that of the memory of one node, for all
 * copies from and to it, or that of a way of devices to the memory of any node. */
typedef struct shared {
  const char *name;
  const int *set;
  int devices;
  int first, behind; /* locations of the nodes */
} shared;

static tsr_status add_channel(tsr_bench *b, const char *name, const shared *s, double capacity,
                              double in_weight, double out_weight) {
  int channel = tsr_machine_add_channel(b->machine, name, capacity);
  if (channel < 0) return TSR_OK; /* a machine has no more channels: this one is left out */
  for (int i = 0; i < s->devices; i++)
    for (int host = s->first; host < s->behind; host++) {
      if (in_weight > 0)
        TSR_TRY(tsr_machine_use_channel(b->machine, channel, host, s->set[i], in_weight));
      if (out_weight > 0)
        TSR_TRY(tsr_machine_use_channel(b->machine, channel, s->set[i], host, out_weight));
    }
  return TSR_OK;
}

/* Adds the channel in + weight * out <= capacity: the line through the rates (only in) and (1 : 1),
 * moved outward to the rates (3 : 1) if those are beyond it; and a channel for the rate out. A
 * channel that the links' own rates imply is not added. */
static tsr_status add_shared(tsr_bench *b, const shared *s) {
  mixes m;
  TSR_TRY(measure_mixes(b, s->set, s->devices, &m));
  double weight = fmax(0, (m.in - m.both_in) / m.both_out);
  double capacity =
      fmax(m.in, fmax(m.both_in + weight * m.both_out, m.most_in + weight * m.most_out));
  if (capacity < TSR_TUNE_PROBE_FULL * (m.links_in + weight * m.links_out))
    TSR_TRY(add_channel(b, s->name, s, capacity, 1, weight));
  char out_name[48];
  snprintf(out_name, sizeof out_name, "%s from GPUs", s->name);
  bool out_binds =
      m.out < TSR_TUNE_PROBE_FULL * m.links_out && weight * m.out < TSR_TUNE_PROBE_FULL * capacity;
  return out_binds ? add_channel(b, out_name, s, m.out, 0, 1) : TSR_OK;
}

/* Measures the bytes/s that copies to a device and copies from it reach together, as many bytes in
 * as out, in the memory near the device. If both together reach less than each alone would add up
 * to, the sum becomes a channel. */
static tsr_status add_each(tsr_bench *b) {
  for (int d = 0; d < b->devices; d++) {
    b->node = tsr_bench_near(b, d);
    double in, out, alone = rate_beside(b, &d, 1, d, true) + rate_beside(b, &d, 1, d, false);
    TSR_TRY(measure_mix(b, &d, 1, 1, 1, &in, &out));
    if (in + out > TSR_TUNE_PROBE_FULL * alone) continue;
    char name[32];
    snprintf(name, sizeof name, "gpu%d both ways", d);
    shared s = {name, &d, 1, b->devices, b->devices + b->nodes};
    TSR_TRY(add_channel(b, name, &s, in + out, 1, 1));
  }
  b->node = 0;
  return TSR_OK;
}

/* Two devices of one socket may share their way to the host: measured with the memory near them. */
static tsr_status add_pairs(tsr_bench *b) {
  for (int i = 0; i < b->devices; i++)
    for (int j = i + 1; j < b->devices; j++) {
      if (tsr_bench_near(b, i) != tsr_bench_near(b, j)) continue;
      int set[2] = {i, j};
      char name[32];
      snprintf(name, sizeof name, "gpu%d+gpu%d", i, j);
      b->node = tsr_bench_near(b, i);
      shared s = {name, set, 2, b->devices, b->devices + b->nodes};
      TSR_TRY(add_shared(b, &s));
    }
  return TSR_OK;
}

/* The memory of each node. Where nodes are not told apart, a pair of devices is measured as such.
 */
static tsr_status add_host(tsr_bench *b) {
  int set[TSR_MAX_DEVICES];
  char name[32];
  if (b->devices <= (b->nodes > 1 ? 1 : 2)) return TSR_OK;
  for (int d = 0; d < b->devices; d++) set[d] = d;
  for (b->node = 0; b->node < b->nodes; b->node++) {
    snprintf(name, sizeof name, "host%d memory", b->node);
    shared s = {b->nodes > 1 ? name : "host", set, b->devices, node(b), node(b) + 1};
    TSR_TRY(add_shared(b, &s));
  }
  b->node = 0;
  return TSR_OK;
}

/* ---- Together: one device and its peers ---- */

static tsr_status add_peer_channel(tsr_bench *b, int d, bool in) {
  tsr_stream streams[MOST_STREAMS];
  int count = 0;
  double sum = 0;
  for (int j = 0; j < b->devices; j++) {
    int from = in ? j : d, to = in ? d : j;
    if (j == d || link_of(b, from, to)->bandwidth <= 0) continue;
    TSR_TRY(tsr_bench_stream(b, from, to, TSR_TUNE_PROBE_PIECE, &streams[count++]));
    sum += link_of(b, from, to)->bandwidth;
  }
  if (count < 2) return TSR_OK;
  TSR_TRY(tsr_bench_run(b, streams, count));
  double rate = tsr_stream_rate(streams, count);
  if (rate > TSR_TUNE_PROBE_FULL * sum) return TSR_OK;
  char name[32];
  snprintf(name, sizeof name, "gpu%d %s", d, in ? "from others" : "to others");
  int channel = tsr_machine_add_channel(b->machine, name, rate);
  for (int j = 0; j < b->devices && channel >= 0; j++) {
    int from = in ? j : d, to = in ? d : j;
    if (j != d && link_of(b, from, to)->bandwidth > 0)
      TSR_TRY(tsr_machine_use_channel(b->machine, channel, from, to, 1));
  }
  return TSR_OK;
}

tsr_status tsr_probe_links(tsr_bench *b) {
  tsr_bench_progress(b, 0.05, "links");
  TSR_TRY(measure_each(b));
  find_near(b);
  tsr_bench_progress(b, 0.15, "links under kernels");
  TSR_TRY(measure_shapes(b));
  tsr_bench_progress(b, 0.2, "links together");
  TSR_TRY(tsr_probe_crossings(b));
  TSR_TRY(add_host(b));
  TSR_TRY(add_pairs(b));
  TSR_TRY(add_each(b));
  tsr_bench_progress(b, 0.3, "links between devices");
  for (int d = 0; d < b->devices; d++) {
    TSR_TRY(add_peer_channel(b, d, false));
    TSR_TRY(add_peer_channel(b, d, true));
  }
  return tsr_probe_add_crossings(b);
}
