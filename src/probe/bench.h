/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The bench: queues and buffers on each device, by which the parts of the probe measure. One thread
 * uses it.
 */
#ifndef TSR_PROBE_BENCH_H
#define TSR_PROBE_BENCH_H

#include "probe/probe.h"
#include "probe/tuning.h"

enum { TSR_BENCH_BUFFERS = 3 };

typedef struct tsr_bench {
  const tsr_engine *engine;
  tsr_engine_state *state;
  const tsr_device_info *info;
  int devices;
  const tsr_probe_options *options;
  tsr_machine *machine;     /* the result */
  size_t bytes, host_bytes; /* of each buffer of a device, and of the host */
  char *buffer[TSR_MAX_DEVICES][TSR_BENCH_BUFFERS];
  const tsr_near *near;
  int nodes; /* of host memory, which are told apart */
  int node;  /* the one on which new streams have their memory */
  char *host[TSR_TOPOLOGY_NODES][TSR_MAX_DEVICES];         /* pinned, on each node */
  double crossing[TSR_TOPOLOGY_NODES][TSR_TOPOLOGY_NODES]; /* bytes/s from node to node; 0: not
                                                              measured */
  int64_t blocker[TSR_MAX_DEVICES]; /* order of the product before kernels that are submitted
                                       before they start; 0: not chosen yet */
  tsr_queue *in[TSR_MAX_DEVICES], *out[TSR_MAX_DEVICES], *compute[TSR_MAX_DEVICES];
  tsr_queue *peer[TSR_MAX_DEVICES][TSR_MAX_DEVICES]; /* [sender][receiver], made when needed */
} tsr_bench;

/* The most bytes of host memory that each of `parts` of the probe's buffers may have. */
size_t tsr_bench_host_share(int parts);

tsr_status tsr_bench_open(tsr_bench *bench);
void tsr_bench_close(tsr_bench *bench);

/* Logs and reports to the user that the fraction of the probe is done and that "what" comes next.
 */
void tsr_bench_progress(const tsr_bench *bench, double fraction, const char *what);

/* Fills all device buffers with random numbers of the type with full mantissas, because the rate at
 * the power limit depends on the data. */
tsr_status tsr_bench_fill(tsr_bench *bench, tsr_type type);

/* The node near a device. */
static inline int tsr_bench_near(const tsr_bench *bench, int device) {
  return bench->machine->device[device].host_node - bench->devices;
}

/* Equal copies in a row on one queue. */
typedef struct tsr_stream {
  int device; /* the queue's */
  int node;   /* of the host's memory */
  tsr_queue *queue;
  tsr_copy_args copy;
  int rounds;        /* number of places in the host's buffer through which the copies go */
  int repeats;       /* number of copies */
  double begin, end; /* out [s] */
} tsr_stream;

/* Makes a stream of contiguous copies of at most bytes each; from or to may be TSR_HOST. */
tsr_status tsr_bench_stream(tsr_bench *bench, int from, int to, size_t bytes, tsr_stream *stream);

/* Runs all streams concurrently and sets their begin and end. */
tsr_status tsr_bench_run(tsr_bench *bench, tsr_stream *streams, int count);

double tsr_stream_bytes(const tsr_stream *stream);
/* The rate of all streams together [bytes/s], from the first begin to the last end. */
double tsr_stream_rate(const tsr_stream *streams, int count);

/* A product with m = n = area on the bench's buffers of the device. */
tsr_kernel_args tsr_bench_product(const tsr_bench *bench, int device, tsr_type type, int64_t area,
                                  int64_t k);
/* The largest area (most divided by a power of two) for which an area x area matrix fits into a
 * buffer; not below 16. */
int64_t tsr_bench_area(const tsr_bench *bench, tsr_type type, int64_t most);

/* *order: the largest of 256, 512, ... up to most whose product takes at most limit [s], or the
 * least of them; *seconds: its time. */
tsr_status tsr_bench_order(tsr_bench *bench, int device, tsr_type type, int64_t most, double limit,
                           int64_t *order, double *seconds);

/* *seconds: the time of each of repeats equal kernels that run one after another. With prequeued,
 * all are submitted before the first one starts, so that the time of submission does not count. */
tsr_status tsr_bench_kernels(tsr_bench *bench, int device, const tsr_kernel_args *args, int repeats,
                             bool prequeued, double *seconds);

/* Waits for a timed event; *when: the time [s] at which it completed. */
tsr_status tsr_bench_await(tsr_bench *bench, tsr_queue_event *event, double *when);

/* Waits for all commands in the device's queue; *when (may be NULL): the time [s] of their end. */
tsr_status tsr_bench_finish(tsr_bench *bench, int device, tsr_queue *queue, double *when);

/* ---- The parts ---- */

tsr_status tsr_probe_links(tsr_bench *bench);
/* Measures what crosses from node to node (crossing), once the links are measured alone; and adds
 * that to the machine, once all links and other channels are in it. */
tsr_status tsr_probe_crossings(tsr_bench *bench);
tsr_status tsr_probe_add_crossings(tsr_bench *bench);
tsr_status tsr_probe_kernels(tsr_bench *bench);
/* Measures the kernels on residues in a type whose other rates have been measured, and overwrites
 * what tsr_bench_fill has made. Does nothing if the engine or the type has no such kernels. */
tsr_status tsr_probe_residues(tsr_bench *bench, tsr_type type);
tsr_status tsr_probe_submission(tsr_bench *bench);
tsr_status tsr_probe_staging(tsr_bench *bench);
/* Measures turnaround and staging_start, once all else is measured. */
tsr_status tsr_probe_calls(tsr_bench *bench);

#endif
