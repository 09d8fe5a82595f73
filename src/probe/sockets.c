/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Measures what crosses from the memory node of one socket to another's, by the copies of devices
 * between the memory of one and devices near the other. */
#include <math.h>

#include "probe/bench.h"

enum { READS = 1, WRITES = 2, BOTH = READS | WRITES };

/* Devices near node `to` read memory of node `from`; devices near `from` write to memory of `to`.
 */
static tsr_status make_streams(tsr_bench *b, int from, int to, int ways, tsr_stream *streams,
                               int *count) {
  *count = 0;
  for (int d = 0; d < b->devices; d++) {
    if (ways & READS && tsr_bench_near(b, d) == to) {
      b->node = from;
      TSR_TRY(tsr_bench_stream(b, TSR_HOST, d, TSR_TUNE_PROBE_PIECE, &streams[(*count)++]));
    }
    if (ways & WRITES && tsr_bench_near(b, d) == from) {
      b->node = to;
      TSR_TRY(tsr_bench_stream(b, d, TSR_HOST, TSR_TUNE_PROBE_PIECE, &streams[(*count)++]));
    }
  }
  return TSR_OK;
}

/* The best rate of the three ways, several times each: other work on the machine only lowers a
 * rate. 0: no device is near either node. */
static tsr_status measure(tsr_bench *b, int from, int to) {
  tsr_stream streams[2 * TSR_MAX_DEVICES];
  double *best = &b->crossing[from][to];
  for (int ways = READS; ways <= BOTH; ways++)
    for (int i = 0; i < (b->options->quick ? 1 : 3); i++) {
      int count;
      TSR_TRY(make_streams(b, from, to, ways, streams, &count));
      if (count == 0) continue;
      TSR_TRY(tsr_bench_run(b, streams, count));
      *best = fmax(*best, tsr_stream_rate(streams, count));
    }
  return TSR_OK;
}

tsr_status tsr_probe_crossings(tsr_bench *b) {
  for (int from = 0; from < b->nodes; from++)
    for (int to = 0; to < b->nodes; to++)
      if (from != to) TSR_TRY(measure(b, from, to));
  return TSR_OK;
}

/* ---- In the machine ---- */

/* The least latency of a copy from the node's memory to a device near the other. */
static double latency_of(const tsr_bench *b, int from, int to) {
  double least = INFINITY;
  for (int d = 0; d < b->devices; d++)
    if (tsr_bench_near(b, d) == to)
      least = fmin(least, b->machine->link[b->devices + from][d].latency);
  return isfinite(least) ? least : 0;
}

/* Whether copies between devices of the two sockets may take the link between the sockets: none of
 * them is faster than that link. */
static bool peers_cross(const tsr_bench *b, int from, int to) {
  for (int i = 0; i < b->devices; i++)
    for (int j = 0; j < b->devices; j++)
      if (tsr_bench_near(b, i) == from && tsr_bench_near(b, j) == to &&
          b->machine->link[i][j].bandwidth > b->crossing[from][to])
        return false;
  return true;
}

tsr_status tsr_probe_add_crossings(tsr_bench *b) {
  for (int from = 0; from < b->nodes; from++)
    for (int to = 0; to < b->nodes; to++)
      if (b->crossing[from][to] > 0)
        TSR_TRY(tsr_machine_cross_one(b->machine, b->devices + from, b->devices + to,
                                      b->crossing[from][to], latency_of(b, from, to),
                                      peers_cross(b, from, to)));
  return tsr_machine_complete(b->machine);
}
