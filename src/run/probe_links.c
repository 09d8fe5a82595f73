/* The probe's links: each alone, by shape under kernels, and together, which shows what they
 * share. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run/probe_bench.h"

enum { MOST_STREAMS = 2 * TSR_MAX_DEVICES };

/* What binds shows by more than chance. */
static const double full = 0.93;

static const size_t piece = 16 << 20;

static int node(const tsr_bench *b) {
  return b->devices; /* one host node: where a pinned allocation lies is the system's choice */
}

static int location(const tsr_bench *b, int place) {
  return place == TSR_HOST ? node(b) : place;
}

static tsr_link *link_of(tsr_bench *b, int from, int to) {
  return &b->machine->link[location(b, from)][location(b, to)];
}

/* ---- Each alone ---- */

/* Time of a small copy by itself, less its bytes' time. */
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
  TSR_TRY(tsr_bench_stream(b, from, to, piece, &s));
  int repeats = s.repeats;
  s.repeats = 1;
  TSR_TRY(tsr_bench_run(b, &s, 1)); /* the first copy of a queue costs more */
  s.repeats = repeats;
  TSR_TRY(tsr_bench_run(b, &s, 1));
  double rate = tsr_stream_rate(&s, 1);
  TSR_TRY(measure_latency(b, from, to, rate, &latency));
  tsr_machine_set_link(b->machine, location(b, from), location(b, to), rate, latency);
  return TSR_OK;
}

static tsr_status measure_each(tsr_bench *b) {
  for (int d = 0; d < b->devices; d++) {
    TSR_TRY(measure_link(b, TSR_HOST, d));
    TSR_TRY(measure_link(b, d, TSR_HOST));
  }
  for (int i = 0; i < b->devices; i++)
    for (int j = 0; j < b->devices; j++)
      if (i != j && b->info[i].peer[j]) TSR_TRY(measure_link(b, i, j));
  return TSR_OK;
}

/* ---- By the length of segments ---- */

static const size_t segments[] = {1 << 10,  4 << 10,  8 << 10,   16 << 10,
                                  32 << 10, 64 << 10, 256 << 10, 1 << 20};
enum { SEGMENTS = sizeof segments / sizeof *segments };

/* Copies of columns that are segment bytes long out of a matrix whose columns are four times as
 * long; the device's side is dense. */
static void set_columns(tsr_stream *s, size_t segment, size_t host_room) {
  size_t pitch = 4 * segment, height = host_room / pitch;
  size_t most = ((size_t)8 << 20) / segment;
  if (height > most) height = most;
  bool in = s->copy.from_device == TSR_HOST;
  s->copy.width = segment;
  s->copy.height = height > 0 ? height : 1;
  s->copy.from_pitch = in ? pitch : segment;
  s->copy.to_pitch = in ? segment : pitch;
}

/* Kernels for longer than the copies take. */
static tsr_status load_device(tsr_bench *b, int device) {
  int64_t n = tsr_bench_area(b, TSR_D, 4096);
  tsr_kernel_args args = tsr_bench_product(b, device, TSR_D, n, n);
  args.a = args.b = b->buffer[device][2]; /* not where the copies are going */
  args.c = (char *)b->buffer[device][2] + b->bytes / 2;
  if ((size_t)(n * n) * 8 > b->bytes / 2) args.m = args.n = args.k = n / 2;
  for (int i = 0; i < 40 && !b->options->quick; i++)
    TSR_TRY(b->engine->kernel(b->compute[device], &args));
  return TSR_OK;
}

static tsr_status measure_shape(tsr_bench *b, int from, int to, tsr_curve *curve) {
  tsr_stream s;
  int device = from == TSR_HOST ? to : from;
  curve->count = 0;
  TSR_TRY(tsr_bench_stream(b, from, to, piece, &s));
  TSR_TRY(load_device(b, device));
  for (int i = 0; i < SEGMENTS; i++) {
    size_t room = b->host_bytes / 2;
    if (4 * segments[i] > room) break;
    set_columns(&s, segments[i], room);
    s.repeats = b->options->quick ? 1 : 4;
    TSR_TRY(tsr_bench_run(b, &s, 1));
    curve->size[curve->count] = (double)segments[i];
    curve->rate[curve->count++] = tsr_stream_rate(&s, 1);
  }
  return tsr_bench_finish(b, device, b->compute[device], NULL);
}

/* Longer segments are not slower: what says so is noise. */
static void smooth(tsr_curve *curve) {
  for (int i = curve->count - 2; i >= 0; i--)
    curve->rate[i] = fmin(curve->rate[i], curve->rate[i + 1]);
}

/* The same shape, for a link of another bandwidth. */
static void copy_shape(const tsr_link *from, tsr_link *to) {
  to->shape = from->shape;
  for (int i = 0; i < to->shape.count; i++) to->shape.rate[i] *= to->bandwidth / from->bandwidth;
}

/* Of one device; the others' are taken to be alike. */
static tsr_status measure_shapes(tsr_bench *b) {
  tsr_link *in = link_of(b, TSR_HOST, 0), *out = link_of(b, 0, TSR_HOST);
  TSR_TRY(measure_shape(b, TSR_HOST, 0, &in->shape));
  TSR_TRY(measure_shape(b, 0, TSR_HOST, &out->shape));
  smooth(&in->shape);
  smooth(&out->shape);
  for (int d = 1; d < b->devices; d++) {
    copy_shape(in, link_of(b, TSR_HOST, d));
    copy_shape(out, link_of(b, d, TSR_HOST));
  }
  return TSR_OK;
}

/* ---- Together: the host's memory ---- */

/* What all devices do at once: parts_in bytes in for each parts_out bytes out. */
static tsr_status measure_mix_once(tsr_bench *b, int parts_in, int parts_out, double *in,
                                   double *out) {
  tsr_stream streams[MOST_STREAMS];
  int count = 0;
  for (int d = 0; d < b->devices && parts_in > 0; d++) {
    TSR_TRY(tsr_bench_stream(b, TSR_HOST, d, piece, &streams[count]));
    streams[count].repeats *= parts_in;
    count++;
  }
  int ins = count;
  for (int d = 0; d < b->devices && parts_out > 0; d++) {
    TSR_TRY(tsr_bench_stream(b, d, TSR_HOST, piece, &streams[count]));
    streams[count].repeats *= parts_out;
    count++;
  }
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

/* The best of some: a floor must not be above what can be reached, and other work on the machine
 * only ever takes away. */
static tsr_status measure_mix(tsr_bench *b, int parts_in, int parts_out, double *in, double *out) {
  *in = *out = 0;
  for (int i = 0; i < (b->options->quick ? 1 : 4); i++) {
    double now_in, now_out;
    TSR_TRY(measure_mix_once(b, parts_in, parts_out, &now_in, &now_out));
    if (now_in + now_out <= *in + *out) continue;
    *in = now_in;
    *out = now_out;
  }
  return TSR_OK;
}

typedef struct mixes {
  double in, out;             /* alone */
  double both_in, both_out;   /* 1:1 */
  double most_in, most_out;   /* 3:1, as C = aAB + bC has it */
  double links_in, links_out; /* sums of the links alone */
} mixes;

/* in + weight x out <= capacity, through the mixes that are not bound by the links themselves. */
static void fit_host(const mixes *m, double *capacity, double *weight) {
  bool in_binds = m->in < full * m->links_in, out_binds = m->out < full * m->links_out;
  *weight = 1;
  if (in_binds && out_binds) {
    *weight = m->in / m->out;
  } else if (in_binds) {
    *weight = fmax(0.1, (m->in - m->both_in) / m->both_out);
  } else if (out_binds && m->out > 1.05 * m->both_out) {
    *weight = m->both_in / (m->out - m->both_out);
  }
  double both = m->both_in + *weight * m->both_out, most = m->most_in + *weight * m->most_out;
  *capacity = fmax(fmax(both, most), fmax(m->in, *weight * m->out));
}

static tsr_status add_host_channel(tsr_bench *b) {
  mixes m = {0};
  double none;
  for (int d = 0; d < b->devices; d++) {
    m.links_in += link_of(b, TSR_HOST, d)->bandwidth;
    m.links_out += link_of(b, d, TSR_HOST)->bandwidth;
  }
  TSR_TRY(measure_mix(b, 1, 0, &m.in, &none));
  TSR_TRY(measure_mix(b, 0, 1, &none, &m.out));
  TSR_TRY(measure_mix(b, 1, 1, &m.both_in, &m.both_out));
  TSR_TRY(measure_mix(b, 3, 1, &m.most_in, &m.most_out));
  double capacity, weight;
  fit_host(&m, &capacity, &weight);
  int channel = tsr_machine_add_channel(b->machine, "host", capacity);
  for (int d = 0; d < b->devices; d++) {
    TSR_TRY(tsr_machine_use_channel(b->machine, channel, node(b), d, 1));
    TSR_TRY(tsr_machine_use_channel(b->machine, channel, d, node(b), weight));
  }
  return TSR_OK;
}

/* ---- Together: two devices on one slot ---- */

static tsr_status measure_pair(tsr_bench *b, int i, int j, bool in, double *rate) {
  tsr_stream s[2];
  TSR_TRY(tsr_bench_stream(b, in ? TSR_HOST : i, in ? i : TSR_HOST, piece, &s[0]));
  TSR_TRY(tsr_bench_stream(b, in ? TSR_HOST : j, in ? j : TSR_HOST, piece, &s[1]));
  s[0].repeats = s[1].repeats = s[0].repeats / 2 + 1;
  TSR_TRY(tsr_bench_run(b, s, 2));
  *rate = tsr_stream_rate(s, 2);
  return TSR_OK;
}

static tsr_status add_pair_channel(tsr_bench *b, int i, int j, bool in, double rate) {
  char name[48];
  snprintf(name, sizeof name, "slot %d %d %s", i, j, in ? "in" : "out");
  int channel = tsr_machine_add_channel(b->machine, name, rate);
  if (channel < 0) return TSR_OK; /* more than a machine can say: the host's memory stands for it */
  int h = node(b);
  TSR_TRY(tsr_machine_use_channel(b->machine, channel, in ? h : i, in ? i : h, 1));
  return tsr_machine_use_channel(b->machine, channel, in ? h : j, in ? j : h, 1);
}

static tsr_status probe_pair(tsr_bench *b, int i, int j, bool in) {
  const tsr_link *first = in ? link_of(b, TSR_HOST, i) : link_of(b, i, TSR_HOST);
  const tsr_link *second = in ? link_of(b, TSR_HOST, j) : link_of(b, j, TSR_HOST);
  double rate, sum = first->bandwidth + second->bandwidth;
  TSR_TRY(measure_pair(b, i, j, in, &rate));
  return rate < 0.75 * sum ? add_pair_channel(b, i, j, in, rate) : TSR_OK;
}

static tsr_status add_slots(tsr_bench *b) {
  for (int i = 0; i < b->devices; i++)
    for (int j = i + 1; j < b->devices; j++) {
      TSR_TRY(probe_pair(b, i, j, true));
      TSR_TRY(probe_pair(b, i, j, false));
    }
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
    TSR_TRY(tsr_bench_stream(b, from, to, piece, &streams[count++]));
    sum += link_of(b, from, to)->bandwidth;
  }
  if (count < 2) return TSR_OK;
  TSR_TRY(tsr_bench_run(b, streams, count));
  double rate = tsr_stream_rate(streams, count);
  if (rate > full * sum) return TSR_OK;
  char name[32];
  snprintf(name, sizeof name, "gpu%d %s", d, in ? "in" : "out");
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
  tsr_bench_progress(b, 0.15, "links under kernels");
  TSR_TRY(measure_shapes(b));
  tsr_bench_progress(b, 0.2, "links together");
  TSR_TRY(add_host_channel(b));
  TSR_TRY(add_slots(b));
  tsr_bench_progress(b, 0.3, "links between devices");
  for (int d = 0; d < b->devices; d++) {
    TSR_TRY(add_peer_channel(b, d, false));
    TSR_TRY(add_peer_channel(b, d, true));
  }
  return TSR_OK;
}
